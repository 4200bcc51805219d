//! Functions at their frames: each frame has one place for each of its functions.

use std::ops::Range;

use address::ById as _;

use crate::id::FrameId;
use crate::profile::Profile;
use crate::query::functions::{FunctionId, Functions};

/// All places, numbered by frame, and within a frame from the innermost function on.
#[derive(Debug)]
pub(super) struct Places {
    /// By frame: its first place.
    starts: Vec<u32>,
    /// By place: its frame and its function.
    rows: Vec<(FrameId, FunctionId)>,
}

impl Places {
    /// Numbers the places of a profile.
    pub(super) fn new(profile: &Profile, functions: &Functions) -> Self {
        let mut places =
            Self { starts: Vec::with_capacity(profile.frames.len()), rows: Vec::new() };
        for (id, frame) in profile.frames.entries() {
            places.starts.push(places.rows.len() as u32);
            let functions = functions.at(frame.location).iter();
            places.rows.extend(functions.map(|line| (id, line.function)));
        }
        places
    }

    /// Returns the places of a frame, the innermost first.
    pub(super) fn of_frame(&self, frame: FrameId) -> Range<u32> {
        let end = self.starts.get(frame.index() + 1).copied();
        let start = self.starts.by_id(frame).copied().unwrap_or(0);
        start..end.unwrap_or(self.rows.len() as u32)
    }

    /// Returns the frame of a place.
    pub(super) fn frame(&self, place: u32) -> Option<FrameId> {
        self.rows.get(place as usize).map(|row| row.0)
    }

    /// Returns the function of a place.
    pub(super) fn function(&self, place: u32) -> Option<FunctionId> {
        self.rows.get(place as usize).map(|row| row.1)
    }
}
