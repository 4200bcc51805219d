//! Attribute values: reading the few wanted ones, and skipping all others.
//!
//! Source: DWARF 5, 7.5.6 "Form Encodings"; the GNU forms of split and supplementary DWARF 4.

use gimli::constants as dw;
use gimli::{DwAt, DwForm};

use crate::bytes::ByteCursor;

/// Sizes and version that determine the encoding of a unit's attributes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Encoding {
    pub(crate) version: u16,
    pub(crate) address_size: u8,
    /// 4, or 8 in 64-bit DWARF.
    pub(crate) offset_size: u8,
}

impl Encoding {
    /// Size of `DW_FORM_ref_addr`, which was an address in DWARF 2.
    const fn ref_addr_size(self) -> u8 {
        if self.version <= 2 { self.address_size } else { self.offset_size }
    }
}

/// The value of an attribute, for the forms that are used. Offsets are relative to the start of their target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FormValue<'a> {
    Address(u64),
    /// Index into `.debug_addr`.
    AddressIndex(u64),
    Uint(u64),
    Sint(i64),
    String(&'a [u8]),
    /// Offset in `.debug_str`.
    Str(u64),
    /// Offset in `.debug_line_str`.
    LineStr(u64),
    /// Index into `.debug_str_offsets`.
    StrIndex(u64),
    /// Offset in `.debug_str` of the supplementary file.
    AltStr(u64),
    /// Offset in another section, which the attribute determines.
    SectionOffset(u64),
    /// Index of a list of the unit.
    ListIndex(u64),
    /// Offset of an entry in the same unit.
    UnitRef(u64),
    /// Offset of an entry in `.debug_info`.
    InfoRef(u64),
    /// Offset of an entry in `.debug_info` of the supplementary file.
    AltRef(u64),
    Other,
}

/// One attribute of an abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) name: DwAt,
    pub(crate) form: DwForm,
    pub(crate) implicit: i64,
}

/// Returns the size of a form, if it is the same for every value.
pub(crate) const fn fixed_size(form: DwForm, encoding: Encoding) -> Option<u8> {
    Some(match form {
        dw::DW_FORM_flag_present | dw::DW_FORM_implicit_const => 0,
        dw::DW_FORM_data1
        | dw::DW_FORM_flag
        | dw::DW_FORM_ref1
        | dw::DW_FORM_strx1
        | dw::DW_FORM_addrx1 => 1,
        dw::DW_FORM_data2 | dw::DW_FORM_ref2 | dw::DW_FORM_strx2 | dw::DW_FORM_addrx2 => 2,
        dw::DW_FORM_strx3 | dw::DW_FORM_addrx3 => 3,
        dw::DW_FORM_data4
        | dw::DW_FORM_ref4
        | dw::DW_FORM_ref_sup4
        | dw::DW_FORM_strx4
        | dw::DW_FORM_addrx4 => 4,
        dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 | dw::DW_FORM_ref_sup8 => 8,
        dw::DW_FORM_data16 => 16,
        dw::DW_FORM_addr => encoding.address_size,
        dw::DW_FORM_strp
        | dw::DW_FORM_sec_offset
        | dw::DW_FORM_strp_sup
        | dw::DW_FORM_line_strp
        | dw::DW_FORM_GNU_ref_alt
        | dw::DW_FORM_GNU_strp_alt => encoding.offset_size,
        dw::DW_FORM_ref_addr => encoding.ref_addr_size(),
        _ => return None,
    })
}

/// Returns true if the form is one LEB128 number.
pub(crate) const fn is_leb(form: DwForm) -> bool {
    matches!(
        form,
        dw::DW_FORM_sdata
            | dw::DW_FORM_udata
            | dw::DW_FORM_ref_udata
            | dw::DW_FORM_strx
            | dw::DW_FORM_addrx
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_rnglistx
            | dw::DW_FORM_GNU_addr_index
            | dw::DW_FORM_GNU_str_index
    )
}

/// Skips a value.
pub(crate) fn skip(cursor: &mut ByteCursor<'_>, form: DwForm, encoding: Encoding) -> Option<()> {
    if let Some(size) = fixed_size(form, encoding) {
        return cursor.skip(size.into());
    }
    if is_leb(form) {
        return cursor.skip_leb();
    }
    let len = match form {
        dw::DW_FORM_string => return cursor.c_string().map(|_| ()),
        dw::DW_FORM_block | dw::DW_FORM_exprloc => cursor.uleb()?,
        dw::DW_FORM_block1 => cursor.u8()?.into(),
        dw::DW_FORM_block2 => cursor.u16()?.into(),
        dw::DW_FORM_block4 => cursor.u32()?.into(),
        dw::DW_FORM_indirect => {
            let form = indirect(cursor)?;
            return skip(cursor, form, encoding);
        }
        _ => return None,
    };
    cursor.skip(len)
}

/// Reads the form in front of a `DW_FORM_indirect` value. It is neither indirect again nor an implicit constant, which
/// has its value in the abbreviation.
fn indirect(cursor: &mut ByteCursor<'_>) -> Option<DwForm> {
    u16::try_from(cursor.uleb()?)
        .ok()
        .map(DwForm)
        .filter(|form| !matches!(*form, dw::DW_FORM_indirect | dw::DW_FORM_implicit_const))
}

/// Reads a value.
pub(crate) fn read<'a>(
    cursor: &mut ByteCursor<'a>,
    spec: Spec,
    encoding: Encoding,
) -> Option<FormValue<'a>> {
    let offset = encoding.offset_size;
    Some(match spec.form {
        dw::DW_FORM_addr => FormValue::Address(cursor.uint(encoding.address_size)?),
        dw::DW_FORM_data2 => FormValue::Uint(cursor.u16()?.into()),
        dw::DW_FORM_data4 => FormValue::Uint(cursor.u32()?.into()),
        dw::DW_FORM_data8 => FormValue::Uint(cursor.u64()?),
        dw::DW_FORM_string => FormValue::String(cursor.c_string()?),
        dw::DW_FORM_data1 | dw::DW_FORM_flag => FormValue::Uint(cursor.u8()?.into()),
        dw::DW_FORM_sdata => FormValue::Sint(cursor.sleb()?),
        dw::DW_FORM_strp => FormValue::Str(cursor.uint(offset)?),
        dw::DW_FORM_udata => FormValue::Uint(cursor.uleb()?),
        dw::DW_FORM_ref_addr => FormValue::InfoRef(cursor.uint(encoding.ref_addr_size())?),
        dw::DW_FORM_ref1 => FormValue::UnitRef(cursor.u8()?.into()),
        dw::DW_FORM_ref2 => FormValue::UnitRef(cursor.u16()?.into()),
        dw::DW_FORM_ref4 => FormValue::UnitRef(cursor.u32()?.into()),
        dw::DW_FORM_ref8 => FormValue::UnitRef(cursor.u64()?),
        dw::DW_FORM_ref_udata => FormValue::UnitRef(cursor.uleb()?),
        dw::DW_FORM_indirect => {
            let form = indirect(cursor)?;
            read(cursor, Spec { form, ..spec }, encoding)?
        }
        dw::DW_FORM_sec_offset => FormValue::SectionOffset(cursor.uint(offset)?),
        dw::DW_FORM_flag_present => FormValue::Uint(1),
        dw::DW_FORM_strx | dw::DW_FORM_GNU_str_index => FormValue::StrIndex(cursor.uleb()?),
        dw::DW_FORM_addrx | dw::DW_FORM_GNU_addr_index => FormValue::AddressIndex(cursor.uleb()?),
        dw::DW_FORM_ref_sup4 => FormValue::AltRef(cursor.u32()?.into()),
        dw::DW_FORM_ref_sup8 => FormValue::AltRef(cursor.u64()?),
        dw::DW_FORM_GNU_ref_alt => FormValue::AltRef(cursor.uint(offset)?),
        dw::DW_FORM_strp_sup | dw::DW_FORM_GNU_strp_alt => FormValue::AltStr(cursor.uint(offset)?),
        dw::DW_FORM_line_strp => FormValue::LineStr(cursor.uint(offset)?),
        dw::DW_FORM_implicit_const => FormValue::Sint(spec.implicit),
        dw::DW_FORM_loclistx | dw::DW_FORM_rnglistx => FormValue::ListIndex(cursor.uleb()?),
        dw::DW_FORM_strx1 | dw::DW_FORM_strx2 | dw::DW_FORM_strx3 | dw::DW_FORM_strx4 => {
            FormValue::StrIndex(cursor.uint(fixed_size(spec.form, encoding)?)?)
        }
        dw::DW_FORM_addrx1 | dw::DW_FORM_addrx2 | dw::DW_FORM_addrx3 | dw::DW_FORM_addrx4 => {
            FormValue::AddressIndex(cursor.uint(fixed_size(spec.form, encoding)?)?)
        }
        form => {
            skip(cursor, form, encoding)?;
            FormValue::Other
        }
    })
}

impl FormValue<'_> {
    /// Returns true if it refers to a string in a section of its file, or of the supplementary one if `has_alt`.
    pub(crate) const fn is_stored_string(self, has_alt: bool) -> bool {
        match self {
            Self::Str(_) | Self::LineStr(_) | Self::StrIndex(_) => true,
            Self::AltStr(_) => has_alt,
            _ => false,
        }
    }

    /// Returns the value if it is a non-negative number.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Self::Uint(value) => Some(value),
            Self::Sint(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Returns the value if it is an offset into another section; before DWARF 4 these are plain numbers.
    pub(crate) const fn section_offset(self) -> Option<u64> {
        match self {
            Self::SectionOffset(value) | Self::Uint(value) => Some(value),
            _ => None,
        }
    }
}
