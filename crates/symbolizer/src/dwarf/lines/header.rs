//! The header of a line program: the parameters of its instructions, and the offsets of its directories and files.
//!
//! Source: DWARF 5, 6.2.4 "The Line Number Program Header"; DWARF 4, the same section, for versions 2 to 4.

use budget::{Allowance, Exhausted};
use gimli::DwForm;
use gimli::constants as dw;

use crate::bytes::{ByteCursor, NameText};
use crate::dwarf::form::{self, Encoding, FormValue, Spec};

/// A header.
#[derive(Debug)]
pub(crate) struct LineHeader<'s> {
    pub(crate) min_length: u8,
    pub(crate) line_base: i8,
    pub(crate) line_range: u8,
    pub(crate) opcode_base: u8,
    /// Number of operands of each opcode, from 1.
    pub(crate) operands: &'s [u8],
    pub(crate) program: &'s [u8],
    /// Its files.
    pub(crate) tables: FileTables,
    /// The section up to the program.
    section: ByteCursor<'s>,
}

/// The files of a header, with the bytes that name them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileNames<'t, 's> {
    tables: &'t FileTables,
    section: ByteCursor<'s>,
}

/// The offsets of directories and files in a header.
#[derive(Debug)]
pub(crate) struct FileTables {
    encoding: Encoding,
    directories: EntryTable,
    files: EntryTable,
    /// End of the header in the section.
    end: usize,
}

/// The directories or the files of a header.
#[derive(Debug)]
struct EntryTable {
    /// Content type and form of each part of an entry. Not stated before DWARF 5.
    formats: Vec<(u64, DwForm)>,
    /// Offsets of the entries in the section.
    places: Vec<u32>,
}

/// `DW_LNCT_path` and `DW_LNCT_directory_index`.
const PATH: u64 = 1;
const DIRECTORY: u64 = 2;

impl<'s> LineHeader<'s> {
    /// Reads the header at `offset` of a section; `None` if it is damaged, or if the program exceeds the section.
    pub(crate) fn read(
        section: &'s [u8],
        offset: usize,
        address_size: u8,
        big_endian: bool,
    ) -> Option<Self> {
        let mut cursor = ByteCursor::new(section, offset, big_endian);
        let (length, offset_size) = match cursor.u32()? {
            0xffff_ffff => (cursor.u64()?, 8),
            short => (u64::from(short), 4),
        };
        let end = usize::try_from(length).ok()?.checked_add(cursor.at())?;
        let unit = section.get(..end)?;
        let mut cursor = ByteCursor::new(unit, cursor.at(), big_endian);
        let version = cursor.u16().filter(|version| (2..=5).contains(version))?;
        if version >= 5 {
            // Sizes of addresses and of segment selectors.
            cursor.skip(2)?;
        }
        let header_length = usize::try_from(cursor.uint(offset_size)?).ok()?;
        let program = unit.get(cursor.at().checked_add(header_length)?..)?;
        let mut cursor =
            ByteCursor::new(unit.get(..unit.len() - program.len())?, cursor.at(), big_endian);
        let min_length = cursor.u8()?;
        if version >= 4 {
            // Operations in one instruction.
            cursor.u8()?;
        }
        // The default for `is_stmt`.
        cursor.u8()?;
        let line_base = cursor.u8()?.cast_signed();
        let (line_range, opcode_base) = (cursor.u8()?, cursor.u8()?);
        let first = cursor.at();
        cursor.skip(u64::from(opcode_base.checked_sub(1)?))?;
        let operands = unit.get(first..cursor.at())?;
        let encoding = Encoding { version, address_size, offset_size };
        let (directories, files) = if version >= 5 {
            let directories = EntryTable::stated(&mut cursor, encoding)?;
            (directories, EntryTable::stated(&mut cursor, encoding)?)
        } else {
            let directories = EntryTable::terminated(&mut cursor, false)?;
            (directories, EntryTable::terminated(&mut cursor, true)?)
        };
        (line_range > 0 && min_length > 0).then_some(Self {
            min_length,
            line_base,
            line_range,
            opcode_base,
            operands,
            program,
            tables: FileTables { encoding, directories, files, end: unit.len() - program.len() },
            section: cursor,
        })
    }

    /// Its files.
    pub(crate) const fn file_names(&self) -> FileNames<'_, 's> {
        FileNames { tables: &self.tables, section: self.section }
    }
}

impl FileTables {
    /// Their size in memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let of = |table: &EntryTable| table.places.capacity() * size_of::<u32>();
        (of(&self.directories) + of(&self.files)) as u64
    }

    /// Combines the offsets with the section that they were read from.
    pub(crate) fn in_section<'s>(&self, section: &'s [u8], big_endian: bool) -> FileNames<'_, 's> {
        let header = section.get(..self.end).unwrap_or_default();
        FileNames { tables: self, section: ByteCursor::new(header, 0, big_endian) }
    }
}

impl<'s> FileNames<'_, 's> {
    /// Returns the number of files.
    pub(crate) const fn count(&self) -> u64 {
        self.tables.files.places.len() as u64
    }

    /// Returns path and directory of an entry. Before DWARF 5 the first one has the number 1.
    fn entry(&self, table: &EntryTable, number: u64) -> Option<(FormValue<'s>, u64)> {
        let encoding = self.tables.encoding;
        let first = u64::from(encoding.version < 5);
        table.entry(usize::try_from(number.checked_sub(first)?).ok()?, self.section, encoding)
    }
}

impl EntryTable {
    /// Reads a table with stated formats. Source: DWARF 5, 6.2.4.1.
    fn stated(cursor: &mut ByteCursor<'_>, encoding: Encoding) -> Option<Self> {
        let count = cursor.u8()?;
        let mut formats = Vec::with_capacity(count.into());
        for _ in 0..count {
            let content = cursor.uleb()?;
            let form = DwForm(u16::try_from(cursor.uleb()?).ok()?);
            // Each part has at least one byte, which bounds the number of entries by the header's size.
            if matches!(form, dw::DW_FORM_flag_present | dw::DW_FORM_implicit_const) {
                return None;
            }
            formats.push((content, form));
        }
        let entries = cursor.uleb()?;
        if entries > 0 && formats.is_empty() {
            return None;
        }
        let mut table = Self { formats, places: Vec::new() };
        for _ in 0..entries {
            table.places.push(u32::try_from(cursor.at()).ok()?);
            for &(_, form) in &table.formats {
                form::skip(cursor, form, encoding)?;
            }
        }
        Some(table)
    }

    /// Reads a table of strings up to an empty one; each string of a file is followed by three numbers. Source: DWARF
    /// 4, 6.2.4.
    fn terminated(cursor: &mut ByteCursor<'_>, files: bool) -> Option<Self> {
        let mut table = Self { formats: Vec::new(), places: Vec::new() };
        loop {
            let place = u32::try_from(cursor.at()).ok()?;
            if cursor.c_string()?.is_empty() {
                return Some(table);
            }
            if files {
                cursor.skip_leb()?;
                cursor.skip_leb()?;
                cursor.skip_leb()?;
            }
            table.places.push(place);
        }
    }

    fn entry<'s>(
        &self,
        index: usize,
        mut cursor: ByteCursor<'s>,
        encoding: Encoding,
    ) -> Option<(FormValue<'s>, u64)> {
        cursor.seek(*self.places.get(index)? as usize);
        if self.formats.is_empty() {
            let path = FormValue::String(cursor.c_string()?);
            // The path of a directory has no number after it.
            return Some((path, cursor.uleb().unwrap_or(0)));
        }
        let (mut path, mut directory) = (None, 0);
        for &(content, form) in &self.formats {
            let spec = Spec { name: gimli::DwAt(0), form, implicit: 0 };
            let value = form::read(&mut cursor, spec, encoding)?;
            match content {
                PATH => path = Some(value),
                DIRECTORY => directory = value.number().unwrap_or(0),
                _ => {}
            }
        }
        Some((path?, directory))
    }
}

/// The path of a file in parts: compilation directory, include directory and name. They are joined from the last
/// absolute part.
#[derive(Clone, Copy)]
pub(crate) struct FilePath<'f> {
    parts: [Option<NameText<'f>>; 3],
}

impl<'f> FilePath<'f> {
    /// A complete path.
    pub(crate) const fn whole(path: NameText<'f>) -> Self {
        Self { parts: [None, None, Some(path)] }
    }

    /// Returns the path of a file of the program. Before DWARF 5, number 0 is the unit's own name.
    pub(crate) fn of(
        names: FileNames<'_, 'f>,
        file: u64,
        comp_dir: Option<NameText<'f>>,
        unit_name: Option<NameText<'f>>,
        string: &mut dyn FnMut(FormValue<'f>) -> Option<NameText<'f>>,
    ) -> Option<Self> {
        let version = names.tables.encoding.version;
        if version < 5 && file == 0 {
            return Some(Self { parts: [comp_dir, None, unit_name] });
        }
        let (name, directory) = names.entry(&names.tables.files, file)?;
        let name = string(name)?;
        let directory = if version < 5 && directory == 0 {
            None
        } else {
            names.entry(&names.tables.directories, directory).and_then(|(path, _)| string(path))
        };
        Some(Self { parts: [comp_dir, directory, Some(name)] })
    }

    /// Returns true if the name of the file is stated and empty.
    pub(crate) fn is_nameless(&self) -> bool {
        matches!(self.parts, [_, _, Some(name)] if name.is_empty())
    }

    /// Returns true if the last component of the path is `name`.
    pub(crate) fn has_file_name(&self, name: &[u8]) -> bool {
        let [.., Some(last)] = self.parts else { return false };
        let text = NameText::short(last).unwrap_or_default();
        let rest = text.strip_suffix(name);
        !name.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
    }

    /// Joins the parts; `None` if the result is empty. Takes the bytes from the allowance.
    ///
    /// # Errors
    /// If the allowance has fewer bytes left.
    pub(crate) fn join(&self, bytes: &mut Allowance) -> Result<Option<Vec<u8>>, Exhausted> {
        let mut texts: [&[u8]; 3] = [&[]; 3];
        let mut first = 0;
        for (at, (text, part)) in texts.iter_mut().zip(self.parts).enumerate().rev() {
            *text = match part {
                Some(part) => part.take(bytes)?.unwrap_or_default(),
                None => &[],
            };
            first = at;
            if text.starts_with(b"/") {
                break;
            }
        }
        let mut path = Vec::new();
        for text in texts.iter().skip(first).filter(|text| !text.is_empty()) {
            if !path.is_empty() && !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(text);
        }
        Ok(Some(path).filter(|path| !path.is_empty()))
    }
}
