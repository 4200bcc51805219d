//! Debug information of single addresses: the functions inlined there, with the lines, and nothing else of a program.
//!
//! Source: DWARF 4, 3.1 "Unit Entries", 3.3.8 "Inlinable and Inlined Subroutines", 6.2 "Line Number Information", 7.5
//! "Format of Debugging Information".

use hashbrown::HashMap;

use super::files::{NamedAddress, NamedFunction};

/// The sections.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) info: Vec<u8>,
    pub(super) abbrev: Vec<u8>,
    pub(super) line: Vec<u8>,
}

/// Codes of the abbreviations below.
const UNIT: u64 = 1;
const NAMED: u64 = 2;
const LINKED: u64 = 3;
const CONCRETE: u64 = 4;
const INLINED: u64 = 5;

/// Tag, whether there are children, and attributes with their forms.
type Abbreviation = (u64, u64, bool, &'static [(u64, u64)]);

/// Tags: compile unit 0x11, inlined subroutine 0x1d, subprogram 0x2e. Attributes: name 0x03, `stmt_list` 0x10, `low_pc`
/// 0x11, `high_pc` 0x12, `inline` 0x20, `abstract_origin` 0x31, `call_column` 0x57, `call_file` 0x58, `call_line` 0x59,
/// `linkage_name` 0x6e. Forms: `addr` 0x01, `data8` 0x07, `string` 0x08, `data1` 0x0b, `udata` 0x0f, `ref4` 0x13,
/// `sec_offset` 0x17.
const ABBREVIATIONS: &[Abbreviation] = &[
    (UNIT, 0x11, true, &[(0x11, 0x01), (0x12, 0x07), (0x10, 0x17)]),
    (NAMED, 0x2e, false, &[(0x03, 0x08), (0x20, 0x0b)]),
    (LINKED, 0x2e, false, &[(0x6e, 0x08), (0x20, 0x0b)]),
    (CONCRETE, 0x2e, true, &[(0x31, 0x13), (0x11, 0x01), (0x12, 0x07)]),
    (
        INLINED,
        0x1d,
        true,
        &[(0x31, 0x13), (0x11, 0x01), (0x12, 0x07), (0x58, 0x0f), (0x59, 0x0f), (0x57, 0x0f)],
    ),
];

/// The debug information of these addresses, which are sorted. Nothing where no address has more than a name.
pub(super) fn sections(addresses: &[NamedAddress]) -> Sections {
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else {
        return Sections::default();
    };
    let mut files = Files::default();
    let mut entries = Entries::new(first.svma, last.svma + 1);
    let mut program = Vec::new();
    for address in addresses {
        let Some(innermost) = address.functions.first() else { continue };
        if address.functions.len() > 1 || innermost.has_place() {
            entries.address(address, &mut files);
        }
        if innermost.has_place() {
            sequence(&mut program, address.svma, innermost, &mut files);
        }
    }
    if entries.is_empty() && program.is_empty() {
        return Sections::default();
    }
    Sections {
        info: entries.finish(),
        abbrev: abbreviations(),
        line: line_section(&files, &program),
    }
}

fn abbreviations() -> Vec<u8> {
    let mut out = Vec::new();
    for &(code, tag, children, attributes) in ABBREVIATIONS {
        unsigned(code, &mut out);
        unsigned(tag, &mut out);
        out.push(children.into());
        for &(attribute, form) in attributes {
            unsigned(attribute, &mut out);
            unsigned(form, &mut out);
        }
        out.extend([0, 0]);
    }
    out.push(0);
    out
}

/// Paths of source files, numbered from 1.
#[derive(Default)]
struct Files {
    numbers: HashMap<Vec<u8>, u64>,
    table: Vec<u8>,
}

impl Files {
    /// The number of a file; 0 is none.
    fn number(&mut self, path: Option<&[u8]>) -> u64 {
        let Some(path) = path else { return 0 };
        let next = self.numbers.len() as u64 + 1;
        let table = &mut self.table;
        *self.numbers.entry_ref(path).or_insert_with(|| {
            text(path, table);
            // Folder, time, length.
            table.extend([0; 3]);
            next
        })
    }
}

/// The entries of `.debug_info`.
struct Entries {
    /// The unit from its length on.
    out: Vec<u8>,
    /// Where the functions are, by their names.
    named: HashMap<Vec<u8>, u32>,
    head: usize,
}

impl Entries {
    fn new(low: u64, high: u64) -> Self {
        // Length, version, offset of the abbreviations, bytes of an address.
        let mut out = vec![0; 4];
        out.extend([4, 0, 0, 0, 0, 0, 8]);
        unsigned(UNIT, &mut out);
        out.extend(low.to_le_bytes());
        out.extend((high - low).to_le_bytes());
        out.extend([0; 4]);
        let head = out.len();
        Self { out, named: HashMap::new(), head }
    }

    fn is_empty(&self) -> bool {
        self.out.len() == self.head
    }

    /// The function of an address, with what is inlined in it there.
    fn address(&mut self, address: &NamedAddress, files: &mut Files) {
        let origins: Vec<u32> = address.functions.iter().map(|it| self.named(&it.name)).collect();
        let functions = address.functions.iter().zip(&origins).rev();
        let mut caller: Option<&NamedFunction> = None;
        for (function, origin) in functions {
            unsigned(if caller.is_some() { INLINED } else { CONCRETE }, &mut self.out);
            self.out.extend(origin.to_le_bytes());
            self.out.extend(address.svma.to_le_bytes());
            self.out.extend(1_u64.to_le_bytes());
            if let Some(caller) = caller {
                let file = files.number(caller.file.as_deref());
                for number in [file, caller.line.into(), caller.column.into()] {
                    unsigned(number, &mut self.out);
                }
            }
            caller = Some(function);
        }
        self.out.extend(origins.iter().map(|_| 0));
    }

    /// Where the function of that name is, from the begin of the unit; it is written at its first use.
    fn named(&mut self, name: &[u8]) -> u32 {
        let out = &mut self.out;
        *self.named.entry_ref(name).or_insert_with(|| {
            let at = out.len() as u32;
            let linked = name.starts_with(b"_Z") || name.starts_with(b"_R");
            unsigned(if linked { LINKED } else { NAMED }, out);
            text(name, out);
            // DW_INL_inlined
            out.push(1);
            at
        })
    }

    fn finish(mut self) -> Vec<u8> {
        self.out.push(0);
        with_length(self.out)
    }
}

/// A row for one address.
fn sequence(program: &mut Vec<u8>, svma: u64, place: &NamedFunction, files: &mut Files) {
    // DW_LNE_set_address
    program.extend([0, 9, 2]);
    program.extend(svma.to_le_bytes());
    // DW_LNS_set_file, DW_LNS_set_column, DW_LNS_advance_line from 1, DW_LNS_copy
    program.push(4);
    unsigned(files.number(place.file.as_deref()), program);
    program.push(5);
    unsigned(place.column.into(), program);
    program.push(3);
    signed(i64::from(place.line) - 1, program);
    program.push(1);
    // DW_LNS_advance_pc, DW_LNE_end_sequence
    program.extend([2, 1, 0, 1, 1]);
}

fn line_section(files: &Files, program: &[u8]) -> Vec<u8> {
    // Smallest instruction, operations of one, is_stmt, line base -5, line range, first special opcode, and the operands
    // of the standard ones; no folders.
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0];
    header.extend(&files.table);
    header.push(0);
    let mut out = vec![0; 4];
    out.extend([4, 0]);
    out.extend((header.len() as u32).to_le_bytes());
    out.extend(header);
    out.extend(program);
    with_length(out)
}

/// Puts the length of what follows it into the first four bytes.
fn with_length(mut unit: Vec<u8>) -> Vec<u8> {
    let length = (unit.len() - 4) as u32;
    if let Some(field) = unit.get_mut(..4) {
        field.copy_from_slice(&length.to_le_bytes());
    }
    unit
}

fn text(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().filter(|&&byte| byte != 0));
    out.push(0);
}

fn unsigned(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed(mut value: i64, out: &mut Vec<u8>) {
    while !(-0x40..0x40).contains(&value) {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}
