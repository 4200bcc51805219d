//! Attribute values: reading the few that are wanted, and stepping over all others without looking at them.
//!
//! Source: DWARF 5, 7.5.6 "Form Encodings"; the GNU forms of split and supplementary DWARF 4.

use crate::bytes::Cursor;

/// How numbers are written in a unit.
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

/// An attribute's value as far as it is wanted. Offsets are relative to the start of what they name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value<'a> {
    Address(u64),
    /// Index into `.debug_addr`.
    AddressIndex(u64),
    Uint(u64),
    Sint(i64),
    String(&'a [u8]),
    /// `.debug_str`.
    Str(u64),
    /// `.debug_line_str`.
    LineStr(u64),
    /// Index into `.debug_str_offsets`.
    StrIndex(u64),
    /// `.debug_str` of the supplementary file.
    AltStr(u64),
    /// Another section, which the attribute names.
    SectionOffset(u64),
    /// Index of a list of the unit.
    ListIndex(u64),
    /// An entry of the same unit.
    UnitRef(u64),
    /// An entry of `.debug_info`.
    InfoRef(u64),
    /// An entry of `.debug_info` of the supplementary file.
    AltRef(u64),
    Other,
}

/// One attribute of an abbreviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) name: u16,
    pub(crate) form: u16,
    pub(crate) implicit: i64,
}

/// The size of a form, where it is the same for every value.
pub(crate) const fn fixed_size(form: u16, encoding: Encoding) -> Option<u8> {
    Some(match form {
        0x19 | 0x21 => 0,
        0x0b | 0x0c | 0x11 | 0x25 | 0x29 => 1,
        0x05 | 0x12 | 0x26 | 0x2a => 2,
        0x27 | 0x2b => 3,
        0x06 | 0x13 | 0x1c | 0x28 | 0x2c => 4,
        0x07 | 0x14 | 0x20 | 0x24 => 8,
        0x1e => 16,
        0x01 => encoding.address_size,
        0x0e | 0x17 | 0x1d | 0x1f | 0x1f20 | 0x1f21 => encoding.offset_size,
        0x10 => encoding.ref_addr_size(),
        _ => return None,
    })
}

/// Whether the form is one LEB128 number.
pub(crate) const fn is_leb(form: u16) -> bool {
    matches!(form, 0x0d | 0x0f | 0x15 | 0x1a | 0x1b | 0x22 | 0x23 | 0x1f01 | 0x1f02)
}

/// Steps over a value.
pub(crate) fn skip(cursor: &mut Cursor<'_>, form: u16, encoding: Encoding) -> Option<()> {
    if let Some(size) = fixed_size(form, encoding) {
        return cursor.skip(size.into());
    }
    if is_leb(form) {
        return cursor.skip_leb();
    }
    let len = match form {
        0x08 => return cursor.c_string().map(|_| ()),
        0x09 | 0x18 => cursor.uleb()?,
        0x0a => cursor.u8()?.into(),
        0x03 => cursor.u16()?.into(),
        0x04 => cursor.u32()?.into(),
        0x16 => {
            let form = indirect(cursor)?;
            return skip(cursor, form, encoding);
        }
        _ => return None,
    };
    cursor.skip(len)
}

/// The form that stands in front of a `DW_FORM_indirect` value; not again an indirect one, nor an implicit constant,
/// which has its value in the abbreviation.
fn indirect(cursor: &mut Cursor<'_>) -> Option<u16> {
    u16::try_from(cursor.uleb()?).ok().filter(|form| !matches!(form, 0x16 | 0x21))
}

/// Reads a value.
pub(crate) fn read<'a>(
    cursor: &mut Cursor<'a>,
    spec: Spec,
    encoding: Encoding,
) -> Option<Value<'a>> {
    let offset = encoding.offset_size;
    Some(match spec.form {
        0x01 => Value::Address(cursor.uint(encoding.address_size)?),
        0x05 => Value::Uint(cursor.u16()?.into()),
        0x06 => Value::Uint(cursor.u32()?.into()),
        0x07 => Value::Uint(cursor.u64()?),
        0x08 => Value::String(cursor.c_string()?),
        0x0b | 0x0c => Value::Uint(cursor.u8()?.into()),
        0x0d => Value::Sint(cursor.sleb()?),
        0x0e => Value::Str(cursor.uint(offset)?),
        0x0f => Value::Uint(cursor.uleb()?),
        0x10 => Value::InfoRef(cursor.uint(encoding.ref_addr_size())?),
        0x11 => Value::UnitRef(cursor.u8()?.into()),
        0x12 => Value::UnitRef(cursor.u16()?.into()),
        0x13 => Value::UnitRef(cursor.u32()?.into()),
        0x14 => Value::UnitRef(cursor.u64()?),
        0x15 => Value::UnitRef(cursor.uleb()?),
        0x16 => {
            let form = indirect(cursor)?;
            read(cursor, Spec { form, ..spec }, encoding)?
        }
        0x17 => Value::SectionOffset(cursor.uint(offset)?),
        0x19 => Value::Uint(1),
        0x1a | 0x1f02 => Value::StrIndex(cursor.uleb()?),
        0x1b | 0x1f01 => Value::AddressIndex(cursor.uleb()?),
        0x1c => Value::AltRef(cursor.u32()?.into()),
        0x24 => Value::AltRef(cursor.u64()?),
        0x1f20 => Value::AltRef(cursor.uint(offset)?),
        0x1d | 0x1f21 => Value::AltStr(cursor.uint(offset)?),
        0x1f => Value::LineStr(cursor.uint(offset)?),
        0x21 => Value::Sint(spec.implicit),
        0x22 | 0x23 => Value::ListIndex(cursor.uleb()?),
        0x25..=0x28 => Value::StrIndex(cursor.uint((spec.form - 0x24) as u8)?),
        0x29..=0x2c => Value::AddressIndex(cursor.uint((spec.form - 0x28) as u8)?),
        form => {
            skip(cursor, form, encoding)?;
            Value::Other
        }
    })
}

impl Value<'_> {
    /// A number that is not negative.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            Self::Uint(value) => Some(value),
            Self::Sint(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// An offset into another section; before DWARF 4 plain numbers.
    pub(crate) const fn section_offset(self) -> Option<u64> {
        match self {
            Self::SectionOffset(value) | Self::Uint(value) => Some(value),
            _ => None,
        }
    }
}
