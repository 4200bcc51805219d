//! The requested values of one sample.

use std::cell::Cell;
use std::sync::Arc;

use address::{ModuleId, Tid};
use hashbrown::HashMap;
use module_map::Space;
use profile::NoLabel;
use unwinder::{Frame as WalkedFrame, FrameAddress, FrameState, UserState, Walker};
use values::{Absence, CallSites, Caller, Frame, Match, Value, Variables};

use super::thread::ThreadLocals;
use crate::values::OwnedValue;
use crate::variables::{CachedFile, RequestedVariables};

/// Reader of requested values for the samples of a slice.
pub(crate) struct VariableReader<'r> {
    requested: &'r RequestedVariables,
    /// By module.
    files: HashMap<ModuleId, Option<Arc<CachedFile>>>,
    /// Limit on the steps of expressions in call frame information.
    steps: Cell<u32>,
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

impl<'r> VariableReader<'r> {
    pub(crate) fn new(requested: &'r RequestedVariables) -> Self {
        Self { requested, files: HashMap::new(), steps: Cell::new(0) }
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
        (state, tid): (&UserState<'_>, Tid),
        sampled: impl Iterator<Item = (u32, u64)> + Clone,
        frames: &[WalkedFrame],
    ) -> Vec<(usize, OwnedValue)> {
        let mut last = None;
        for frame in frames.iter().filter(|frame| frame.module.is_some()) {
            // Neighbours are usually in one module.
            if last != frame.module {
                last = frame.module;
                self.learn(walker, state.space, frame);
            }
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
        let of_thread = ThreadLocals::of(files, frames);
        let outermost = matches.iter().map(|(at, _)| *at).max();
        let Some(outermost) = outermost.or((!of_thread.is_empty()).then_some(0)) else {
            return Vec::new();
        };
        let read = |states: &[FrameState<'_>], at: usize, found: &Match<'_>| match states.get(at) {
            None => Err("frame"),
            Some(_) => with_callers((states, frames), at, found.call_sites(), |frame| {
                found.value(frame, &requested.meter()).map_err(|why| why.code())
            }),
        };
        let states = walker.frame_states(state, sampled.clone(), frames, (outermost + 1, steps));
        let mut values: Vec<Result<Value, &str>> =
            matches.iter().map(|(at, found)| read(&states, *at, found)).collect();
        let of_thread = of_thread.values((state, tid), states.first(), || requested.meter());
        if values.contains(&Err(NO_CALLER)) {
            // Values at entry need the callers, too.
            drop(states);
            let count = outermost + 1 + CALLERS;
            let states = walker.frame_states(state, sampled, frames, (count, steps));
            for (value, (at, found)) in values.iter_mut().zip(&matches) {
                if *value == Err(NO_CALLER) {
                    *value = read(&states, *at, found);
                }
            }
        }
        let absent = |code| OwnedValue::NoLabel(NoLabel::Absent(code));
        let of_frames = matches.iter().map(|(_, found)| found.request()).zip(values);
        let all = of_frames.chain(of_thread);
        all.map(|(request, value)| (request, value.map_or_else(absent, owned))).collect()
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

/// Maximum number of callers whose states a value at entry needs: each can pass on what it was called with.
const CALLERS: usize = 8;
/// The reason of a value at entry without a caller.
const NO_CALLER: &str = Absence::NoCaller.code();

/// Calls `read` with the frame at an index of the states.
fn with_callers<R>(
    (states, frames): (&[FrameState<'_>], &[WalkedFrame]),
    at: usize,
    sites: &CallSites,
    read: impl FnOnce(&dyn Frame) -> R,
) -> R {
    let outermost = states.len().saturating_sub(1).max(at);
    add_caller((states, frames), (outermost, at), sites, None, read)
}

/// Calls `read` with the frame at the second index, after the frames from the first one inwards.
fn add_caller<R>(
    (states, frames): (&[FrameState<'_>], &[WalkedFrame]),
    (at, last): (usize, usize),
    sites: &CallSites,
    next: Option<&StatedFrame<'_>>,
    read: impl FnOnce(&dyn Frame) -> R,
) -> R {
    let frame = StatedFrame { states, frames, at, sites, next };
    match at.checked_sub(1).filter(|inner| *inner >= last) {
        Some(inner) => add_caller((states, frames), (inner, last), sites, Some(&frame), read),
        None => read(&frame),
    }
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
