//! Values with their kind.

use std::fmt;
use std::sync::Arc;

use crate::absence::Absence;

/// A decoded value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A signed integer.
    Signed {
        /// The number.
        number: i128,
        /// Width in bits.
        bits: u16,
    },
    /// An unsigned integer.
    Unsigned {
        /// The number.
        number: u128,
        /// Width in bits.
        bits: u16,
    },
    /// A truth value.
    Bool(bool),
    /// A number of floating point.
    Float {
        /// The number; exact for 32 bits.
        number: f64,
        /// Width in bits.
        bits: u16,
    },
    /// A character of Unicode.
    Char(char),
    /// A value of an enumeration with a name.
    Enumerator {
        /// Name, without that of the type.
        name: Arc<str>,
        /// Its number.
        number: i128,
    },
    /// A pointer: an address of the process.
    Address(u64),
    /// A pointer to a text or an object of which the memory is not there.
    Unread {
        /// Address of the process.
        address: u64,
        /// The reason.
        reason: Absence,
    },
    /// A text.
    Text {
        /// Its bytes, without a terminating zero; often UTF-8.
        bytes: Vec<u8>,
        /// True if the text is longer.
        cut: bool,
    },
    /// Elements of an array or slice.
    List {
        /// The first elements.
        items: Vec<Self>,
        /// Number of all.
        length: u64,
    },
    /// A variant of an enum with fields.
    Variant {
        /// Name of the variant.
        name: Arc<str>,
        /// Its field, if it has one that can be decoded.
        field: Option<Box<Self>>,
    },
}

/// Kind of a value, for typed columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Signed integers of that many bits.
    Signed(u16),
    /// Unsigned integers of that many bits.
    Unsigned(u16),
    /// Floating point of that many bits.
    Float(u16),
    /// Truth values.
    Bool,
    /// Text, also names of enumerators and variants, characters and lists.
    Text,
    /// Addresses of the process.
    Address,
}

impl Value {
    /// Kind of the value.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Signed { bits, .. } => Kind::Signed(*bits),
            Self::Unsigned { bits, .. } => Kind::Unsigned(*bits),
            Self::Float { bits, .. } => Kind::Float(*bits),
            Self::Bool(_) => Kind::Bool,
            Self::Address(_) | Self::Unread { .. } => Kind::Address,
            Self::Char(_)
            | Self::Enumerator { .. }
            | Self::Text { .. }
            | Self::List { .. }
            | Self::Variant { .. } => Kind::Text,
        }
    }

    /// Number of an integer, an enumerator or a truth value.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        match self {
            Self::Signed { number, .. } | Self::Enumerator { number, .. } => Some(*number),
            Self::Unsigned { number, .. } => i128::try_from(*number).ok(),
            Self::Bool(value) => Some((*value).into()),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    /// Formats the value: `5`, `true`, `/search`, `0x7f00`, `[1, 2]`, `Some(5)`. A longer text or list ends in `…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed { number, .. } => write!(f, "{number}"),
            Self::Unsigned { number, .. } => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Float { number, bits: 32 } => write!(f, "{}", *number as f32),
            Self::Float { number, .. } => write!(f, "{number}"),
            Self::Char(character) => write!(f, "{character}"),
            Self::Enumerator { name, .. } => f.write_str(name),
            Self::Address(address) | Self::Unread { address, .. } => write!(f, "{address:#x}"),
            Self::Text { bytes, cut } => {
                f.write_str(&String::from_utf8_lossy(bytes))?;
                f.write_str(if *cut { "…" } else { "" })
            }
            Self::List { items, length } => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str(if (items.len() as u64) < *length { ", …]" } else { "]" })
            }
            Self::Variant { name, field: Some(field) } => write!(f, "{name}({field})"),
            Self::Variant { name, field: None } => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_kind_and_a_text() {
        let five = Value::Unsigned { number: 5, bits: 32 };
        let some = Value::Variant { name: "Some".into(), field: Some(Box::new(five.clone())) };
        let list = Value::List { items: vec![five.clone(), five.clone()], length: 3 };
        let text = Value::Text { bytes: b"ab".to_vec(), cut: true };
        let float = Value::Float { number: f64::from(0.1_f32), bits: 32 };
        let shown: Vec<_> = [&five, &some, &list, &text, &float, &Value::Address(16)]
            .map(|it| (it.to_string(), it.kind()))
            .into();
        let expected = [
            ("5", Kind::Unsigned(32)),
            ("Some(5)", Kind::Text),
            ("[5, 5, …]", Kind::Text),
            ("ab…", Kind::Text),
            ("0.1", Kind::Float(32)),
            ("0x10", Kind::Address),
        ];
        assert_eq!(shown, expected.map(|(text, kind)| (text.to_owned(), kind)));
        assert_eq!((five.integer(), text.integer()), (Some(5), None));
    }
}
