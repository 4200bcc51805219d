//! Assembler of one unit of DWARF 5 in little-endian order, with 64-bit addresses.

use std::collections::BTreeMap;

use gimli::{DwAt, DwTag, EndianSlice, RunTimeEndian, constants as c};

/// Value of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum Attribute {
    Text(&'static str),
    Unsigned(u64),
    Signed(i64),
    Address(u64),
    /// Reference to the entry with that label.
    Entry(&'static str),
    Expression(Vec<u8>),
    Block(Vec<u8>),
    /// Location list: ranges with their expressions.
    List(Vec<(u64, u64, Vec<u8>)>),
    Flag,
}

/// An entry.
#[derive(Clone, Debug)]
pub(crate) struct Die {
    tag: DwTag,
    label: &'static str,
    attributes: Vec<(DwAt, Attribute)>,
    children: Vec<Self>,
}

/// Creates an entry.
pub(crate) fn die(tag: DwTag) -> Die {
    Die { tag, label: "", attributes: Vec::new(), children: Vec::new() }
}

impl Die {
    pub(crate) fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    pub(crate) fn with(mut self, name: DwAt, value: Attribute) -> Self {
        self.attributes.push((name, value));
        self
    }

    pub(crate) fn name(self, name: &'static str) -> Self {
        self.with(c::DW_AT_name, Attribute::Text(name))
    }

    pub(crate) fn of(self, label: &'static str) -> Self {
        self.with(c::DW_AT_type, Attribute::Entry(label))
    }

    pub(crate) fn size(self, size: u64) -> Self {
        self.with(c::DW_AT_byte_size, Attribute::Unsigned(size))
    }

    pub(crate) fn at(self, bytes: &[u8]) -> Self {
        self.with(c::DW_AT_location, Attribute::Expression(bytes.to_vec()))
    }

    pub(crate) fn code(self, start: u64, length: u64) -> Self {
        self.with(c::DW_AT_low_pc, Attribute::Address(start))
            .with(c::DW_AT_high_pc, Attribute::Unsigned(length))
    }

    pub(crate) fn has(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }
}

/// Sections of a unit.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    info: Vec<u8>,
    abbrev: Vec<u8>,
    loclists: Vec<u8>,
    labels: BTreeMap<&'static str, u32>,
    fixups: Vec<(usize, &'static str)>,
    codes: u64,
}

fn unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { byte } else { byte | 0x80 });
        if value == 0 {
            return;
        }
    }
}

fn signed(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        let is_last = value == 0 && byte & 0x40 == 0 || value == -1 && byte & 0x40 != 0;
        out.push(if is_last { byte } else { byte | 0x80 });
        if is_last {
            return;
        }
    }
}

impl Sections {
    /// Assembles a unit with these entries.
    pub(crate) fn new(entries: impl IntoIterator<Item = Die>) -> Self {
        let mut this = Self::default();
        this.info.extend([0, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0]);
        // Header of the location lists: version 5, addresses of 8 bytes, no offsets.
        this.loclists.extend([0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0]);
        let unit =
            die(c::DW_TAG_compile_unit).with(c::DW_AT_low_pc, Attribute::Address(0)).has(entries);
        this.emit(&unit);
        this.abbrev.push(0);
        for (at, label) in std::mem::take(&mut this.fixups) {
            let offset = *this.labels.get(label).unwrap_or_else(|| panic!("no label {label}"));
            this.info[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        }
        for section in [&mut this.info, &mut this.loclists] {
            let length = (section.len() - 4) as u32;
            section[..4].copy_from_slice(&length.to_le_bytes());
        }
        this
    }

    fn emit(&mut self, die: &Die) {
        self.codes += 1;
        if !die.label.is_empty() {
            self.labels.insert(die.label, self.info.len() as u32);
        }
        unsigned(&mut self.info, self.codes);
        unsigned(&mut self.abbrev, self.codes);
        unsigned(&mut self.abbrev, die.tag.0.into());
        self.abbrev.push(u8::from(!die.children.is_empty()));
        for (name, value) in &die.attributes {
            unsigned(&mut self.abbrev, name.0.into());
            let form = self.value(value);
            unsigned(&mut self.abbrev, form.0.into());
        }
        self.abbrev.extend([0, 0]);
        if !die.children.is_empty() {
            for child in &die.children {
                self.emit(child);
            }
            self.info.push(0);
        }
    }

    fn value(&mut self, value: &Attribute) -> gimli::DwForm {
        let info = &mut self.info;
        match value {
            Attribute::Text(text) => {
                info.extend(text.bytes());
                info.push(0);
                c::DW_FORM_string
            }
            Attribute::Unsigned(value) => {
                unsigned(info, *value);
                c::DW_FORM_udata
            }
            Attribute::Signed(value) => {
                signed(info, *value);
                c::DW_FORM_sdata
            }
            Attribute::Address(value) => {
                info.extend(value.to_le_bytes());
                c::DW_FORM_addr
            }
            Attribute::Entry(label) => {
                self.fixups.push((info.len(), label));
                info.extend([0; 4]);
                c::DW_FORM_ref4
            }
            Attribute::Expression(bytes) | Attribute::Block(bytes) => {
                unsigned(info, bytes.len() as u64);
                info.extend(bytes);
                let is_block = matches!(value, Attribute::Block(_));
                if is_block { c::DW_FORM_block } else { c::DW_FORM_exprloc }
            }
            Attribute::List(entries) => {
                info.extend((self.loclists.len() as u32).to_le_bytes());
                for (start, end, bytes) in entries {
                    self.loclists.push(7); // DW_LLE_start_end
                    self.loclists.extend(start.to_le_bytes());
                    self.loclists.extend(end.to_le_bytes());
                    unsigned(&mut self.loclists, bytes.len() as u64);
                    self.loclists.extend(bytes);
                }
                self.loclists.push(0);
                c::DW_FORM_sec_offset
            }
            Attribute::Flag => c::DW_FORM_flag_present,
        }
    }

    /// Offset of a labelled entry.
    pub(crate) fn offset(&self, label: &str) -> u32 {
        *self.labels.get(label).unwrap_or_else(|| panic!("no label {label}"))
    }

    /// Replaces four bytes after a mark in the entries, for references inside of expressions.
    pub(crate) fn patch(mut self, mark: [u8; 4], label: &str) -> Self {
        let offset = self.offset(label);
        let at =
            self.info.windows(4).position(|it| it == mark).unwrap_or_else(|| panic!("no mark"));
        self.info[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        self
    }

    /// The sections as gimli reads them.
    pub(crate) fn dwarf(&self) -> gimli::Dwarf<EndianSlice<'_, RunTimeEndian>> {
        let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let bytes: &[u8] = match id {
                gimli::SectionId::DebugInfo => &self.info,
                gimli::SectionId::DebugAbbrev => &self.abbrev,
                gimli::SectionId::DebugLocLists => &self.loclists,
                _ => &[],
            };
            Ok(EndianSlice::new(bytes, RunTimeEndian::Little))
        };
        gimli::Dwarf::load(load).unwrap_or_else(|error| panic!("{error}"))
    }
}
