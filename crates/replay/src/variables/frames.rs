//! The requested values of one sample.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use address::{ModuleId, Tid};
use hashbrown::HashMap;
use module_map::Space;
use profile::NoLabel;
use unwinder::{Frame as WalkedFrame, FrameAddress, FrameStates, StateBuffer, UserState, Walker};
use values::{Absence, Caller, Frame, Match, Value, Variables};

use super::thread::ThreadLocals;
use crate::values::OwnedValue;
use crate::variables::{CachedFile, RequestedVariables};

/// Reader of requested values for the samples of a slice.
pub(crate) struct VariableReader<'r> {
    requested: &'r RequestedVariables,
    files: FilesByModule,
    buffer: StateBuffer,
}

/// The searched file of each module; `None` if a module has none.
type FilesByModule = HashMap<ModuleId, Option<Arc<CachedFile>>>;

/// The frames of a sample with their states.
struct SampleFrames<'s, 'i> {
    frames: &'s [WalkedFrame],
    files: &'s FilesByModule,
    states: RefCell<FrameStates<'s, 'i>>,
}

/// A frame with its state.
struct StatedFrame<'a, 's, 'i> {
    sample: &'a SampleFrames<'s, 'i>,
    at: usize,
    caller: OnceCell<Option<Box<Self>>>,
}

impl<'r> VariableReader<'r> {
    pub(crate) fn new(requested: &'r RequestedVariables) -> Self {
        Self { requested, files: HashMap::new(), buffer: StateBuffer::default() }
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
        sampled: impl Iterator<Item = (u32, u64)>,
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
        let Self { requested, files, buffer } = self;
        let mut matches: Vec<(usize, Match<'_>)> = Vec::new();
        let mut last = None;
        for (at, frame) in frames.iter().enumerate() {
            let FrameAddress::Svma(svma) = frame.address() else { continue };
            let of_file = match last {
                Some((module, of_file)) if module == frame.module => of_file,
                _ => variables(files, frame),
            };
            last = Some((frame.module, of_file));
            for found in of_file.into_iter().flat_map(|it| it.at(svma.0)) {
                if !matches.iter().any(|(_, known)| known.request() == found.request()) {
                    matches.push((at, found));
                }
            }
        }
        let of_thread = match requested.has_thread_locals() {
            true => ThreadLocals::of(files, frames),
            false => ThreadLocals::default(),
        };
        if matches.is_empty() && of_thread.is_empty() {
            return Vec::new();
        }
        let first = matches.first().map_or(0, |(at, _)| *at);
        let states = walker.frame_states(state, sampled, (frames, first), buffer);
        let states = states.map(RefCell::new);
        let sample = states.map(|states| SampleFrames { frames, files, states });
        let frame = |at: usize| sample.as_ref().and_then(|sample| sample.frame(at));
        let of_frames = matches.into_iter().map(|(at, found)| {
            let value = frame(at).map_or(Err("frame"), |frame| {
                found.value(&frame, &requested.meter()).map_err(|why| why.code())
            });
            (found.request(), value)
        });
        let leaf = frame(0).filter(|_| !of_thread.is_empty());
        let leaf = leaf.as_ref().map(|leaf| leaf as &dyn Frame);
        let of_thread = of_thread.values((state, tid), leaf, || requested.meter());
        let absent = |code| OwnedValue::NoLabel(NoLabel::Absent(code));
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

/// Returns the requested variables of a frame's file.
fn variables<'f>(files: &'f FilesByModule, frame: &WalkedFrame) -> Option<&'f Variables> {
    let file = files.get(&frame.module?)?.as_ref()?;
    file.found.get()?.variables.as_ref()
}

impl<'s, 'i> SampleFrames<'s, 'i> {
    /// Returns a frame by its index, if call frame information leads to it.
    fn frame(&self, at: usize) -> Option<StatedFrame<'_, 's, 'i>> {
        let is_reached = self.states.borrow().leads_to(at);
        is_reached.then(|| StatedFrame { sample: self, at, caller: OnceCell::new() })
    }
}

impl StatedFrame<'_, '_, '_> {
    fn frame(&self) -> Option<&WalkedFrame> {
        self.sample.frames.get(self.at)
    }
}

impl Frame for StatedFrame<'_, '_, '_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.sample.states.borrow_mut().register(self.at, number)
    }

    fn cfa(&self) -> Option<u64> {
        self.sample.states.borrow_mut().cfa(self.at)
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.sample.states.borrow().read(address, bytes)
    }

    fn bias(&self) -> u64 {
        self.frame().map_or(0, |frame| frame.location().bias)
    }

    fn caller(&self) -> Option<Caller<'_>> {
        let (frame, caller) = (self.frame()?, self.sample.frames.get(self.at + 1)?);
        // Statements about calls are those of the file with the requested function.
        if caller.module.is_none() || caller.module != frame.module {
            return None;
        }
        let FrameAddress::Svma(lookup) = caller.address() else { return None };
        let sites = variables(self.sample.files, frame)?.call_sites();
        let next = self.caller.get_or_init(|| self.sample.frame(self.at + 1).map(Box::new));
        let frame = next.as_deref()?;
        Some(Caller { frame, return_address: lookup.0.wrapping_add(1), sites, same_image: true })
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
