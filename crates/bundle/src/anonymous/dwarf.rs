//! Debug information for single addresses: the functions inlined there, with their lines, and nothing else of a
//! program.
//!
//! Source: DWARF 4, 3.3.8 "Inlinable and Inlined Subroutines".

use address::Svma;
use elf_writer::dwarf::{
    DW_AT_abstract_origin, DW_AT_call_column, DW_AT_call_file, DW_AT_call_line, DW_AT_high_pc,
    DW_AT_inline, DW_AT_linkage_name, DW_AT_low_pc, DW_AT_name, DW_FORM_addr, DW_FORM_data1,
    DW_FORM_data8, DW_FORM_ref4, DW_FORM_string, DW_FORM_udata, DW_INL_inlined,
    DW_TAG_inlined_subroutine, DW_TAG_subprogram, DwAt, DwForm,
};
use elf_writer::{
    Abbreviation, DebugInfo, ElfFile, LineProgram, LineRow, UNIT, abbreviations, push_text,
    push_unsigned,
};
use hashbrown::HashMap;

use super::files::{NamedAddress, NamedFunction};

/// Codes of the abbreviations below, after that of the unit.
const NAMED: u64 = 2;
const LINKED: u64 = 3;
const CONCRETE: u64 = 4;
const INLINED: u64 = 5;

const ABBREVIATIONS: &[Abbreviation] = &[
    UNIT,
    Abbreviation(DW_TAG_subprogram, false, &[(DW_AT_name, DW_FORM_string), IS_INLINED]),
    Abbreviation(DW_TAG_subprogram, false, &[(DW_AT_linkage_name, DW_FORM_string), IS_INLINED]),
    Abbreviation(DW_TAG_subprogram, true, &[ORIGIN, START, SIZE]),
    Abbreviation(
        DW_TAG_inlined_subroutine,
        true,
        &[
            ORIGIN,
            START,
            SIZE,
            (DW_AT_call_file, DW_FORM_udata),
            (DW_AT_call_line, DW_FORM_udata),
            (DW_AT_call_column, DW_FORM_udata),
        ],
    ),
];
const IS_INLINED: (DwAt, DwForm) = (DW_AT_inline, DW_FORM_data1);
const ORIGIN: (DwAt, DwForm) = (DW_AT_abstract_origin, DW_FORM_ref4);
const START: (DwAt, DwForm) = (DW_AT_low_pc, DW_FORM_addr);
const SIZE: (DwAt, DwForm) = (DW_AT_high_pc, DW_FORM_data8);

/// Adds the debug information of sorted addresses. Adds nothing if every address has only a name.
pub(super) fn add(addresses: &[NamedAddress], file: &mut ElfFile) {
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else { return };
    let mut lines = LineProgram::default();
    let mut functions = FunctionEntries {
        info: DebugInfo::new(&(Svma(first.svma)..Svma(last.svma + 1))),
        named: HashMap::new(),
    };
    for address in addresses {
        let Some(innermost) = address.functions.first() else { continue };
        if address.functions.len() > 1 || innermost.has_location() {
            functions.add(address, &mut lines);
        }
        if innermost.has_location() {
            let NamedFunction { line, column, .. } = *innermost;
            let file = file_number(&mut lines, innermost);
            let address = Svma(address.svma);
            lines.sequence(&[LineRow { address, file, line, column }], address.add(1));
        }
    }
    if functions.named.is_empty() && lines.is_empty() {
        return;
    }
    file.data(".debug_info", &functions.info.finish());
    file.data(".debug_abbrev", &abbreviations(ABBREVIATIONS));
    file.data(".debug_line", &lines.finish());
}

/// Returns the number of a function's source file; 0 is none.
fn file_number(lines: &mut LineProgram, function: &NamedFunction) -> u64 {
    function.file.as_ref().map_or(0, |path| lines.file(path))
}

/// Entries of `.debug_info`.
struct FunctionEntries {
    info: DebugInfo,
    /// Offsets of the functions, by name.
    named: HashMap<Vec<u8>, u32>,
}

impl FunctionEntries {
    /// Adds the function of an address, with the functions that are inlined there.
    fn add(&mut self, address: &NamedAddress, lines: &mut LineProgram) {
        let origins: Vec<u32> = address.functions.iter().map(|it| self.named(&it.name)).collect();
        let functions = address.functions.iter().zip(&origins).rev();
        let mut caller: Option<&NamedFunction> = None;
        for (function, origin) in functions {
            let out = self.info.entry(if caller.is_some() { INLINED } else { CONCRETE });
            out.extend(origin.to_le_bytes());
            out.extend(address.svma.to_le_bytes());
            out.extend(1_u64.to_le_bytes());
            if let Some(caller) = caller {
                let file = file_number(lines, caller);
                for number in [file, caller.line.into(), caller.column.into()] {
                    push_unsigned(out, number);
                }
            }
            caller = Some(function);
        }
        origins.iter().for_each(|_| self.info.end_children());
    }

    /// Returns the offset of a function in the unit; writes the function at its first use.
    fn named(&mut self, name: &[u8]) -> u32 {
        let info = &mut self.info;
        *self.named.entry_ref(name).or_insert_with(|| {
            let at = info.offset();
            let linked = name.starts_with(b"_Z") || name.starts_with(b"_R");
            let out = info.entry(if linked { LINKED } else { NAMED });
            push_text(out, name);
            out.push(DW_INL_inlined.0);
            at
        })
    }
}
