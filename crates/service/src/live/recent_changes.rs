//! Bounded list of recent changes; a client that falls further back must reload the tables.

use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of retained changes, and maximum bytes: two minutes of a typical recording.
const MOST: usize = 256;
const MOST_BYTES: usize = 16 << 20;

/// Recent changes of the tables, each with its tick. Ticks are consecutive.
#[derive(Debug, Default)]
pub(crate) struct RecentChanges {
    rows: VecDeque<(u64, Arc<str>)>,
    bytes: usize,
    /// Tick of the current tables.
    tick: u64,
}

/// Change that follows a tick.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextChange {
    /// Next tick and its rows.
    Rows(u64, Arc<str>),
    /// There is no newer change yet.
    NotYet,
    /// The change is no longer retained: the client must reload the tables.
    FromScratch,
}

impl RecentChanges {
    /// Appends a change. If `rows` is `None`, the tables were replaced, so the earlier changes are dropped.
    pub(crate) fn add(&mut self, tick: u64, rows: Option<String>) {
        self.tick = tick;
        let Some(rows) = rows else {
            self.rows.clear();
            self.bytes = 0;
            return;
        };
        self.bytes += rows.len();
        self.rows.push_back((tick, rows.into()));
        while self.rows.len() > MOST || self.bytes > MOST_BYTES {
            let gone = self.rows.pop_front();
            self.bytes -= gone.map_or(0, |(_, rows)| rows.len());
        }
    }

    /// Returns the change after a tick.
    pub(crate) fn after(&self, tick: u64) -> NextChange {
        if tick == self.tick {
            return NextChange::NotYet;
        }
        let first = self.rows.front().map_or(u64::MAX, |(first, _)| *first);
        let at = tick.checked_add(1).and_then(|next| next.checked_sub(first));
        let found = at.and_then(|at| self.rows.get(usize::try_from(at).ok()?));
        found.map_or(NextChange::FromScratch, |(tick, rows)| {
            NextChange::Rows(*tick, Arc::clone(rows))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_too_far_behind_begins_anew() {
        let mut recent = RecentChanges::default();
        assert_eq!(recent.after(0), NextChange::NotYet);
        assert_eq!(recent.after(7), NextChange::FromScratch);
        for tick in 1..=300 {
            recent.add(tick, Some(tick.to_string()));
        }
        assert_eq!(recent.after(300), NextChange::NotYet);
        assert_eq!(recent.after(44), NextChange::Rows(45, "45".into()));
        assert_eq!(recent.after(299), NextChange::Rows(300, "300".into()));
        for tick in [0, 43, 301, u64::MAX] {
            assert_eq!(recent.after(tick), NextChange::FromScratch, "{tick}");
        }
        recent.add(301, None);
        assert_eq!(recent.after(300), NextChange::FromScratch);
        assert_eq!(recent.after(301), NextChange::NotYet);
        recent.add(302, Some("x".repeat(MOST_BYTES)));
        assert_eq!(recent.after(301), NextChange::Rows(302, "x".repeat(MOST_BYTES).into()));
        recent.add(303, Some("y".to_owned()));
        assert_eq!(recent.after(301), NextChange::FromScratch);
        assert_eq!(recent.after(302), NextChange::Rows(303, "y".into()));
    }
}
