//! What headers of recordings say, kept in memory: a list is asked for again and again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use crate::problem::Problem;

/// Headers that are kept.
const MOST: usize = 4096;

/// What is known of a header, or why nothing is.
type Header = Result<Box<RawValue>, Problem>;

/// Headers by the keys of their recordings.
#[derive(Debug, Default)]
pub(crate) struct Described(Mutex<VecDeque<(String, Header)>>);

impl Described {
    /// What is known.
    pub(crate) fn get(&self, key: &str) -> Option<Header> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(known, _)| known == key).map(|(_, header)| header.clone())
    }

    /// Takes a header in; the oldest one goes.
    pub(crate) fn put(&self, key: String, header: Header) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back((key, header));
        while all.len() > MOST {
            all.pop_front();
        }
    }
}
