//! Arguments of probes in the notation of the kernel, and the reasons why there are none.

use std::fmt;

use crate::absence::Absence;
use crate::error::Error;

/// A value that a probe fetches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeArgument {
    /// Name of the field: that of the request, or the path with `_` between its parts.
    pub name: String,
    /// Location, such as `%di` or `+0(+16(%di))`.
    pub fetch: String,
    /// Type, such as `u32`, `s64` or `string`.
    pub kind: String,
}

/// The reason why a probe cannot fetch a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProbeError {
    /// The path does not fit the function.
    Path(Error),
    /// The value is not there, or no probe can fetch it.
    Absent(Absence),
    /// The function stores the value after this instruction.
    NotStored,
    /// A local variable, which has no value yet.
    Local,
    /// The value is in a register of floating point, by its DWARF number.
    FloatingPoint(u16),
    /// No code of its own at the address.
    NoFunction,
    /// No names of registers for the processor.
    Arch,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => write!(f, "{error}"),
            Self::Absent(absence) => write!(f, "{absence}"),
            Self::NotStored => f.write_str("the function stores it after this instruction"),
            Self::Local => f.write_str("it is a local variable; probes read arguments"),
            Self::FloatingPoint(_) => {
                f.write_str("it is in a register of floating point, which probes cannot read")
            }
            Self::NoFunction => f.write_str("the address is not of the function's own code"),
            Self::Arch => f.write_str("probes of this processor are not supported"),
        }
    }
}

impl std::error::Error for ProbeError {}

impl From<Absence> for ProbeError {
    fn from(absence: Absence) -> Self {
        Self::Absent(absence)
    }
}

impl fmt::Display for ProbeArgument {
    /// Formats the argument: `size=%di:u32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}:{}", self.name, self.fetch, self.kind)
    }
}
