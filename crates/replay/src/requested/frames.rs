//! The requested values of one sample.

use std::cell::Cell;
use std::sync::Arc;

use address::ModuleId;
use hashbrown::HashMap;
use module_map::Space;
use profile::NoLabel;
use unwinder::{Frame as WalkedFrame, FrameAddress, FrameState, UserState, Walker};
use values::{Absence, CallSites, Caller, Frame, Match, Value, Variables};

use crate::requested::{CachedFile, RequestedValues};
use crate::values::OwnedValue;

/// Reader of requested values for the samples of a slice.
pub(crate) struct RequestedFrames<'r> {
    requested: &'r RequestedValues,
    /// By module.
    files: HashMap<ModuleId, Option<Arc<CachedFile>>>,
    /// Limit on the steps of expressions in call frame information.
    steps: [Cell<u32>; 1],
}

/// The state of a frame, and its caller.
struct StatedFrame<'f> {
    states: &'f [FrameState<'f>],
    frames: &'f [WalkedFrame],
    at: usize,
    /// Calls in the caller's image.
    sites: &'f CallSites,
    next: Option<&'f Self>,
}

impl<'r> RequestedFrames<'r> {
    pub(crate) fn new(requested: &'r RequestedValues) -> Self {
        Self { requested, files: HashMap::new(), steps: [Cell::new(0)] }
    }

    /// Number of requests.
    pub(crate) fn len(&self) -> usize {
        self.requested.texts().len()
    }

    /// Returns the values of a sample with these user frames: for each request that a frame answers its index, and the
    /// value or reason of the innermost such frame.
    pub(crate) fn read(
        &mut self,
        walker: &mut Walker<'_>,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)>,
        frames: &[WalkedFrame],
    ) -> Vec<(usize, OwnedValue)> {
        for frame in frames {
            self.learn(walker, state.space, frame);
        }
        let Self { requested, files, steps } = self;
        let variables = |frame: &WalkedFrame| -> Option<&Variables> {
            let file = files.get(&frame.module?)?.as_ref()?;
            file.found.get()?.variables.as_ref()
        };
        let mut matches: Vec<(usize, Match<'_>)> = Vec::new();
        for (at, frame) in frames.iter().enumerate() {
            let (Some(of_file), FrameAddress::Svma(svma)) = (variables(frame), frame.address())
            else {
                continue;
            };
            for found in of_file.at(svma.0) {
                if !matches.iter().any(|(_, known)| known.request() == found.request()) {
                    matches.push((at, found));
                }
            }
        }
        let Some(outermost) = matches.iter().map(|(at, _)| *at).max() else { return Vec::new() };
        // Values at entry need the callers, too.
        let count = outermost + 1 + CALLERS;
        let states = walker.frame_states(state, sampled, frames, (count, steps));
        let none = CallSites::default();
        let read = |(at, found): &(usize, Match<'_>)| {
            let value = match states.get(*at) {
                None => Err("frame"),
                Some(_) => with_frame(&states, frames, *at, found.call_sites(), &none, |frame| {
                    found.value(frame, &requested.meter()).map_err(|why| why.code())
                }),
            };
            let value = match value {
                Ok(value) => owned(value),
                Err(code) => OwnedValue::NoLabel(NoLabel::Absent(code)),
            };
            (found.request(), value)
        };
        matches.iter().map(read).collect()
    }

    /// Opens the file of a frame's module.
    fn learn(&mut self, walker: &Walker<'_>, space: &Space, frame: &WalkedFrame) {
        let Some(module) = frame.module else { return };
        if self.files.contains_key(&module) {
            return;
        }
        let image = walker.image_at(frame.in_process(), space);
        let file = image.map(|image| self.requested.of_file(&image, walker.images()));
        self.files.insert(module, file);
    }
}

/// Number of callers of a frame whose states its values may need.
const CALLERS: usize = 2;

/// Calls `read` with the frame at an index of the states.
fn with_frame<R>(
    states: &[FrameState<'_>],
    frames: &[WalkedFrame],
    at: usize,
    sites: &CallSites,
    none: &CallSites,
    read: impl FnOnce(&dyn Frame) -> R,
) -> R {
    let outer = StatedFrame { states, frames, at: at + 2, sites: none, next: None };
    let caller = StatedFrame { states, frames, at: at + 1, sites, next: Some(&outer) };
    read(&StatedFrame { states, frames, at, sites, next: Some(&caller) })
}

impl StatedFrame<'_> {
    fn state(&self) -> Option<&FrameState<'_>> {
        self.states.get(self.at)
    }

    fn frame(&self) -> Option<&WalkedFrame> {
        self.frames.get(self.at)
    }
}

impl Frame for StatedFrame<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.state()?.register(number)
    }

    fn cfa(&self) -> Option<u64> {
        self.state()?.cfa()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.state().map_or(0, |state| state.read(address, bytes))
    }

    fn bias(&self) -> u64 {
        self.frame().map_or(0, |frame| frame.location().bias)
    }

    fn caller(&self) -> Option<Caller<'_>> {
        let next = self.next?;
        let (frame, caller) = (self.frame()?, next.frame()?);
        // Statements about calls are those of the file with the requested function.
        if next.state().is_none() || caller.module.is_none() || caller.module != frame.module {
            return None;
        }
        let FrameAddress::Svma(lookup) = caller.address() else { return None };
        let return_address = lookup.0.wrapping_add(1);
        Some(Caller { frame: next, return_address, sites: self.sites, same_image: true })
    }
}

/// Returns a value as it is stored: numbers of up to 64 bits, other values as text.
fn owned(value: Value) -> OwnedValue {
    let text = |value: &Value| OwnedValue::Text(value.to_string().into_bytes().into());
    match &value {
        Value::Unread { .. } => OwnedValue::NoLabel(NoLabel::Absent(Absence::Memory(0).code())),
        Value::Signed { number, .. } => {
            i64::try_from(*number).map_or_else(|_| text(&value), OwnedValue::Signed)
        }
        Value::Unsigned { number, .. } => {
            u64::try_from(*number).map_or_else(|_| text(&value), OwnedValue::Unsigned)
        }
        Value::Text { bytes, cut: false } => OwnedValue::Text(bytes.as_slice().into()),
        _ => text(&value),
    }
}
