//! Statements of callers about the values that they pass, for the value of a register at entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::location::Location;
use super::program::Program;
use crate::dwarf::DieKey;

/// Identity of a function, to compare the callee of a call with the function of a frame.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Identity {
    /// Entry that all instances of the function complete.
    pub(crate) die: Option<DieKey>,
    /// Name by which other units and images refer to it.
    pub(crate) symbol: Option<Arc<str>>,
    /// First address, in addresses of the image (SVMA).
    pub(crate) entry: Option<u64>,
}

/// The function that an instruction calls.
#[derive(Clone, Debug)]
pub(crate) enum CallTarget {
    /// A function by name or entry.
    Function(Identity),
    /// An address that the caller computes.
    Computed(Arc<Program>),
    /// Not stated.
    Unknown,
}

/// A parameter of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ParameterKey {
    /// The register that passes it, by its DWARF number.
    Register(u16),
    /// Its entry in the callee's debug information.
    Entry(usize),
    /// Another location.
    Other,
}

/// A call, at its return address.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    /// The function that it calls.
    pub(crate) target: CallTarget,
    /// Values that it passes, as expressions for the caller's frame.
    pub(crate) parameters: Vec<(ParameterKey, Arc<Program>)>,
    /// Frame base of the caller.
    pub(crate) frame_base: Arc<Location>,
    /// The function that contains the call.
    pub(crate) caller: Arc<Identity>,
}

/// Calls of an image that state values at entry, by return address.
#[derive(Clone, Debug, Default)]
pub struct CallSites {
    /// By return address, in addresses of the image (SVMA).
    pub(crate) sites: BTreeMap<u64, CallSite>,
    /// Functions that tail calls may lead back to. Their values at entry may be those of another call.
    pub(crate) tail_recursive: BTreeSet<DieKey>,
}

impl CallSites {
    /// Number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Returns the call that returns to an address of the image (SVMA).
    pub(crate) fn get(&self, return_address: u64) -> Option<&CallSite> {
        self.sites.get(&return_address)
    }
}

impl Identity {
    /// Returns true if both are the same function.
    pub(crate) fn is(&self, other: &Self, same_image: bool) -> bool {
        let same_die = same_image && self.die.is_some() && self.die == other.die;
        same_die || self.symbol.is_some() && self.symbol == other.symbol
    }
}
