//! The kernel's address space: its own code, its modules, and code that it makes at run time.

use std::sync::Arc;

use address::Avma;

use super::event::end_of;
use crate::space::{Mapping, Space};

/// What is mapped in the kernel, and how far it was moved when it booted.
#[derive(Debug)]
pub(super) struct KernelMap {
    pub(super) space: Arc<Space>,
    /// A symbol and its address.
    reference: Option<(Box<[u8]>, Avma)>,
}

impl KernelMap {
    pub(super) const fn new(empty: Arc<Space>) -> Self {
        Self { space: empty, reference: None }
    }

    pub(super) fn map(&mut self, mapping: Mapping) {
        Arc::make_mut(&mut self.space).map(mapping);
    }

    pub(super) fn unmap(&mut self, start: Avma, len: u64) {
        if let Some(end) = end_of(start, len) {
            Arc::make_mut(&mut self.space).unmap(start, end);
        }
    }

    /// A record states the address of a symbol. The first one counts.
    pub(super) fn refer(&mut self, symbol: &[u8], address: Avma) {
        self.reference.get_or_insert_with(|| (symbol.into(), address));
    }

    pub(super) fn reference(&self) -> Option<(&[u8], Avma)> {
        self.reference.as_ref().map(|(symbol, address)| (&**symbol, *address))
    }
}
