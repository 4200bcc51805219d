//! Functions of an image by name: their instances, parameters and locals.

mod calls;
mod collect;
mod find;
mod pattern;
mod prologue;
mod similar;
mod variables;

use std::ops::Range;
use std::sync::Arc;

pub use find::Functions;
pub(crate) use similar::closest;

use crate::dwarf::{DieKey, Ranges};
use crate::expr::{Identity, Location};

/// A function's code: out of line, or inlined into another function.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Qualified name.
    pub(crate) name: Arc<str>,
    /// Function that it is inlined into.
    pub(crate) inlined_into: Option<Arc<str>>,
    /// Sorted by start.
    pub(crate) ranges: Ranges,
    /// First instruction of a call, if it is known.
    pub(crate) entry: Option<u64>,
    /// Type of the result; `None` without one.
    pub(crate) result: Option<DieKey>,
    /// True for functions of Go.
    pub(crate) is_go: bool,
    /// Prologue, if some of its variables are stored there; else empty.
    pub(crate) prologue: Range<u64>,
    /// Frame base of the physical function.
    pub(crate) frame_base: Arc<Location>,
    /// The physical function.
    pub(crate) function: Arc<Identity>,
    /// Parameters and locals, in the order of their declaration.
    pub(crate) variables: Vec<Variable>,
}

/// A parameter or local of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Name.
    pub(crate) name: String,
    /// True for parameters.
    pub(crate) is_parameter: bool,
    /// True for parameters that a call returns, as those of Go.
    pub(crate) is_result: bool,
    /// Its type.
    pub(crate) type_key: Option<DieKey>,
    /// Ranges of its block; empty if the whole instance is meant.
    pub(crate) scope: Ranges,
    /// Nesting of its block: 0 for the function's own.
    pub(crate) depth: u32,
    /// Location.
    pub(crate) location: Arc<Location>,
    /// True if it has no value in the prologue.
    pub(crate) is_stored_late: bool,
}

impl Instance {
    /// Qualified name of the function.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Function that it is inlined into; `None` for code of its own.
    #[must_use]
    pub fn inlined_into(&self) -> Option<&str> {
        self.inlined_into.as_deref()
    }

    /// Ranges of its code, in addresses of the image (SVMA), sorted by start.
    #[must_use]
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Names of its parameters and locals, without repetition, in order.
    #[must_use]
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for variable in &self.variables {
            if !names.contains(&variable.name.as_str()) {
                names.push(variable.name.as_str());
            }
        }
        names
    }
}
