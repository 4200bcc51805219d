//! Reasons for values that cannot be stated.

use std::fmt;
use std::sync::Arc;

use budget::Exhausted;

/// The reason why a value is not there. A wrong value is worse than none, so nothing is guessed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Absence {
    /// The compiler states no location for this address.
    OptimizedOut,
    /// The variable's block does not contain the address.
    OutOfScope,
    /// The function's prologue has not stored the variable yet.
    Prologue,
    /// The value needs a register that the frame has not, by its DWARF number.
    Register(u16),
    /// The value is wider than the register that holds it, by its DWARF number.
    RegisterWidth(u16),
    /// The value needs memory that is not recorded, at this address of the process.
    Memory(u64),
    /// The frame's address (CFA) is unknown.
    NoCfa,
    /// The function has no frame base.
    NoFrameBase,
    /// The caller's frame is unknown.
    NoCaller,
    /// The caller does not state the value that the function was entered with.
    NoCallSite,
    /// The return address is of a call to another function, which tail calls led away from.
    OtherCallee,
    /// The thread-local memory of the module is unknown.
    ThreadLocal,
    /// The thread has no active context, or changes it.
    NoContext,
    /// A pointer to an object without an address.
    NoAddress,
    /// Another variant of the enum is active.
    OtherVariant,
    /// A length or an index that the object cannot have.
    Length(u64),
    /// A type without a decoder, by name.
    Type(Arc<str>),
    /// An operation without a decoder.
    Operation(&'static str),
    /// Damaged debug information: the part.
    Malformed(&'static str),
    /// The limit of work for this input is spent.
    Budget,
}

impl Absence {
    /// Stable code, for outputs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OptimizedOut => "optimized-out",
            Self::OutOfScope => "out-of-scope",
            Self::Prologue => "prologue",
            Self::Register(_) => "register",
            Self::RegisterWidth(_) => "register-width",
            Self::Memory(_) => "memory",
            Self::NoCfa => "no-cfa",
            Self::NoFrameBase => "no-frame-base",
            Self::NoCaller => "no-caller",
            Self::NoCallSite => "no-call-site",
            Self::OtherCallee => "tail-call",
            Self::ThreadLocal => "thread-local",
            Self::NoContext => "no-context",
            Self::NoAddress => "no-address",
            Self::OtherVariant => "other-variant",
            Self::Length(_) => "length",
            Self::Type(_) => "type",
            Self::Operation(_) => "operation",
            Self::Malformed(_) => "malformed",
            Self::Budget => "budget",
        }
    }
}

impl fmt::Display for Absence {
    /// Formats the reason as a phrase: `register 5 is not restored`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OptimizedOut => f.write_str("optimized out"),
            Self::OutOfScope => f.write_str("not in scope at this address"),
            Self::Prologue => f.write_str("not stored yet in the prologue"),
            Self::Register(number) => write!(f, "register {number} is not restored"),
            Self::RegisterWidth(number) => write!(f, "wider than register {number}"),
            Self::Memory(address) => write!(f, "memory at {address:#x} is not recorded"),
            Self::NoCfa => f.write_str("the address of the frame is unknown"),
            Self::NoFrameBase => f.write_str("the function has no frame base"),
            Self::NoCaller => f.write_str("the caller is unknown"),
            Self::NoCallSite => f.write_str("the call does not state the value at entry"),
            Self::OtherCallee => f.write_str("the frame was entered by a tail call"),
            Self::ThreadLocal => f.write_str("thread-local memory is unknown"),
            Self::NoContext => f.write_str("the thread has no such context"),
            Self::NoAddress => f.write_str("the pointer leads to an object without address"),
            Self::OtherVariant => f.write_str("another variant is active"),
            Self::Length(length) => write!(f, "impossible length or index {length}"),
            Self::Type(name) => write!(f, "unsupported type {name}"),
            Self::Operation(name) => write!(f, "unsupported operation {name}"),
            Self::Malformed(part) => write!(f, "damaged {part}"),
            Self::Budget => f.write_str("too much work for this file"),
        }
    }
}

impl std::error::Error for Absence {}

impl From<Exhausted> for Absence {
    fn from(_: Exhausted) -> Self {
        Self::Budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_a_code_and_a_phrase() {
        let memory = Absence::Memory(0x10);
        assert_eq!(
            (memory.code(), &*memory.to_string()),
            ("memory", "memory at 0x10 is not recorded")
        );
        let register = Absence::Register(5);
        assert_eq!(
            (register.code(), &*register.to_string()),
            ("register", "register 5 is not restored")
        );
    }
}
