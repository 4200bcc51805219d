//! Callers and callees of a function on the screen.

use profile::query::FunctionId;

use crate::app::list::{List, Move};
use crate::data::{Neighbour, Query, Results, Snapshot, neighbours};

/// Callers, the function and its callees as rows of one list.
#[derive(Debug, Default)]
pub(crate) struct CallersPane {
    pub(crate) function: Option<FunctionId>,
    key: u64,
    pub(crate) callers: Vec<Neighbour>,
    pub(crate) callees: Vec<Neighbour>,
    /// Weight of the samples with the function.
    pub(crate) weight: u64,
    /// Number of nodes of the call tree that were too many to be counted.
    pub(crate) omitted: usize,
    pub(crate) list: List,
    pub(crate) is_current: bool,
}

impl CallersPane {
    /// Chooses the function.
    pub(crate) fn select(&mut self, function: FunctionId, key: u64) {
        *self = Self { function: Some(function), key, ..Self::default() };
    }

    /// Finds the function in another profile.
    pub(crate) fn restore(&mut self, data: Option<&Snapshot>) {
        self.function = self.function.and_then(|_| data?.find(self.key));
    }

    /// Asks for the costs if they are not current. The cursor of a new function is on the function itself.
    pub(crate) fn prepare(
        &mut self,
        data: &Snapshot,
        results: &Results,
        query: &Query,
    ) -> Result<(), String> {
        let Some(function) = self.function.filter(|_| !self.is_current) else { return Ok(()) };
        let is_first = self.callers.is_empty() && self.callees.is_empty();
        // Other stacks have no part in the costs, but in the number of nodes.
        let query = query.of_function(data, function);
        let (rows, omitted) = query.tree(data, false, false)?;
        self.omitted = omitted;
        (self.callers, self.callees) = neighbours(&rows, function);
        self.weight = results.inclusive(function);
        self.is_current = true;
        if is_first {
            self.list.at = self.callers.len();
        }
        Ok(())
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.callers.len() + 1 + self.callees.len()
    }

    /// Returns a row: a caller, the function or a callee. Callers are listed upwards, the most costly one last.
    pub(crate) fn row(&self, at: usize) -> Option<Neighbour> {
        let callers = self.callers.len();
        match at.checked_sub(callers) {
            None => self.callers.get(callers - 1 - at).copied(),
            Some(0) => None,
            Some(below) => self.callees.get(below - 1).copied(),
        }
    }

    /// Returns the function of the selected row.
    pub(crate) fn selected(&self) -> Option<FunctionId> {
        if self.list.at == self.callers.len() {
            return self.function;
        }
        self.row(self.list.at)?.function
    }

    pub(crate) fn go(&mut self, to: Move, page: usize) {
        self.list.go(to, self.rows(), page);
    }
}
