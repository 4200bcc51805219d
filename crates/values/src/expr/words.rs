//! Locations in words, for people.

use gimli::Operation;

use super::location::Location;
use super::program::Program;

impl Location {
    /// Describes the location: `register 5`, `frame base - 20`; those of a list are joined.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Absent => "optimized out".to_owned(),
            Self::Damaged => "damaged".to_owned(),
            Self::Number(number) => format!("constant {number}"),
            Self::Bytes(bytes) => format!("constant of {} bytes", bytes.len()),
            Self::Everywhere(program) => program.words(),
            Self::List(entries) => {
                let mut words = Vec::<String>::new();
                for (_, program) in entries {
                    let one = program.words();
                    if !words.contains(&one) && words.len() < 8 {
                        words.push(one);
                    }
                }
                if words.is_empty() { "optimized out".to_owned() } else { words.join(", ") }
            }
        }
    }
}

impl Program {
    /// Describes the expression.
    fn words(&self) -> String {
        let Some(operations) = self.operations() else { return "damaged".to_owned() };
        match operations.as_slice() {
            [] => "optimized out".to_owned(),
            [Operation::Register { register }] => format!("register {}", register.0),
            [Operation::RegisterOffset { register, offset, .. }] => {
                format!("memory at register {}{}", register.0, with_sign(*offset))
            }
            [Operation::FrameOffset { offset }] => {
                format!("memory at frame base{}", with_sign(*offset))
            }
            [Operation::CallFrameCFA] => "frame address (CFA)".to_owned(),
            [Operation::Address { address }] => format!("memory at {address:#x}"),
            [Operation::ImplicitValue { .. }] => "constant".to_owned(),
            [Operation::ImplicitPointer { .. }] => {
                "pointer to an object without address".to_owned()
            }
            [Operation::UnsignedConstant { value }, Operation::StackValue] => {
                format!("constant {value}")
            }
            [Operation::SignedConstant { value }, Operation::StackValue] => {
                format!("constant {value}")
            }
            all if all.iter().any(|it| matches!(it, Operation::Piece { .. })) => {
                let pieces = all.iter().filter(|it| matches!(it, Operation::Piece { .. })).count();
                format!("{pieces} pieces")
            }
            all if all.iter().any(|it| matches!(it, Operation::TLS)) => {
                "thread-local memory".to_owned()
            }
            all if self.needs_entry() => match all {
                [Operation::EntryValue { .. }, Operation::StackValue] => {
                    "value at entry".to_owned()
                }
                _ => "computed from a value at entry".to_owned(),
            },
            all if matches!(all.last(), Some(Operation::StackValue)) => "computed".to_owned(),
            _ => "memory at a computed address".to_owned(),
        }
    }
}

/// Formats an offset with its sign: ` + 8`.
fn with_sign(offset: i64) -> String {
    match offset {
        0 => String::new(),
        1.. => format!(" + {offset}"),
        _ => format!(" - {}", offset.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn locations_are_described() {
        let words = |bytes: &[u8]| Location::Everywhere(Arc::new(Program::of(bytes))).words();
        assert_eq!(words(&[0x55]), "register 5");
        assert_eq!(words(&[0x77, 8]), "memory at register 7 + 8");
        assert_eq!(words(&[0x91, 0x6c]), "memory at frame base - 20");
        assert_eq!(words(&[0x35, 0x9f]), "constant 5");
        assert_eq!(words(&[0xa3, 1, 0x55, 0x9f]), "computed");
        assert_eq!(words(&[0x55, 0x93, 4, 0x93, 4]), "2 pieces");
        assert_eq!(words(&[0x03, 1, 0, 0, 0, 0, 0, 0, 0]), "memory at 0x1");
        assert_eq!(words(&[0xff]), "damaged");
        assert_eq!(Location::Number(-3).words(), "constant -3");
        assert_eq!(Location::Absent.words(), "optimized out");
    }
}
