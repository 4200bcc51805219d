//! What came last, bounded: who is farther behind begins anew.

use std::collections::VecDeque;
use std::sync::Arc;

/// Changes, and bytes of them, that are kept: two minutes of a usual recording.
const MOST: usize = 256;
const MOST_BYTES: usize = 16 << 20;

/// The last changes of the tables, each with its tick; ticks follow each other.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    rows: VecDeque<(u64, Arc<str>)>,
    bytes: usize,
    /// The tick of the tables as they are.
    tick: u64,
}

/// What comes after a tick.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next tick with its change.
    Rows(u64, Arc<str>),
    /// Nothing yet.
    NotYet,
    /// Nobody knows any more: the tables have to be asked for.
    Anew,
}

impl Recent {
    /// Takes in a change; without rows, nothing that was before leads to it.
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

    /// What comes after a tick that somebody has.
    pub(crate) fn after(&self, tick: u64) -> Next {
        if tick == self.tick {
            return Next::NotYet;
        }
        let first = self.rows.front().map_or(u64::MAX, |(first, _)| *first);
        let at = tick.checked_add(1).and_then(|next| next.checked_sub(first));
        let found = at.and_then(|at| self.rows.get(usize::try_from(at).ok()?));
        found.map_or(Next::Anew, |(tick, rows)| Next::Rows(*tick, Arc::clone(rows)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_too_far_behind_begins_anew() {
        let mut recent = Recent::default();
        assert_eq!(recent.after(0), Next::NotYet);
        assert_eq!(recent.after(7), Next::Anew);
        for tick in 1..=300 {
            recent.add(tick, Some(tick.to_string()));
        }
        assert_eq!(recent.after(300), Next::NotYet);
        assert_eq!(recent.after(44), Next::Rows(45, "45".into()));
        assert_eq!(recent.after(299), Next::Rows(300, "300".into()));
        for tick in [0, 43, 301, u64::MAX] {
            assert_eq!(recent.after(tick), Next::Anew, "{tick}");
        }
        recent.add(301, None);
        assert_eq!(recent.after(300), Next::Anew);
        assert_eq!(recent.after(301), Next::NotYet);
        recent.add(302, Some("x".repeat(MOST_BYTES)));
        assert_eq!(recent.after(301), Next::Rows(302, "x".repeat(MOST_BYTES).into()));
        recent.add(303, Some("y".to_owned()));
        assert_eq!(recent.after(301), Next::Anew);
        assert_eq!(recent.after(302), Next::Rows(303, "y".into()));
    }
}
