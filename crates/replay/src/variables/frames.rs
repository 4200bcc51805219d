//! The requested values of one sample.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use address::{ModuleId, Tid};
use hashbrown::HashMap;
use module_map::Space;
use profile::NoLabel;
use unwinder::{Frame as WalkedFrame, FrameAddress, FrameStates, StateBuffer, UserState, Walker};
use values::{Absence, Caller, Frame, Value, Variables};

use super::thread::ThreadLocals;
use crate::values::OwnedValue;
use crate::variables::{CachedFile, RequestedVariables};

/// Reader of requested values for the samples of a slice.
pub(crate) struct VariableReader<'r> {
    requested: &'r RequestedVariables,
    files: FilesByModule,
    /// Those of the last sample.
    matches: Vec<FoundMatch>,
    buffer: StateBuffer,
}

/// A frame that answers a request.
struct FoundMatch {
    frame: usize,
    request: usize,
    /// Index of the entry in the variables of the frame's file.
    entry: u32,
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
        let (files, matches) = (HashMap::new(), Vec::new());
        Self { requested, files, matches, buffer: StateBuffer::default() }
    }

    /// Number of requests.
    pub(crate) fn len(&self) -> usize {
        self.requested.texts().len()
    }

    /// Reads the values of a sample with these user frames. Passes to `push` for each request that a frame answers its
    /// index, and the value or reason of the innermost such frame.
    pub(crate) fn read(
        &mut self,
        walker: &mut Walker<'_>,
        (state, tid): (&UserState<'_>, Tid),
        sampled: impl Iterator<Item = (u32, u64)>,
        frames: &[WalkedFrame],
        mut push: impl FnMut(usize, OwnedValue),
    ) {
        self.find_matches(walker, state.space, frames);
        let Self { requested, files, matches, buffer } = self;
        let of_thread = match requested.has_thread_locals() {
            true => ThreadLocals::of(files, frames),
            false => ThreadLocals::default(),
        };
        if matches.is_empty() && of_thread.is_empty() {
            return;
        }
        let first = matches.first().map_or(0, |found| found.frame);
        let states = walker.frame_states(state, sampled, (frames, first), buffer);
        let states = states.map(RefCell::new);
        let sample = states.map(|states| SampleFrames { frames, files, states });
        let frame = |at: usize| sample.as_ref().and_then(|sample| sample.frame(at));
        let mut push = |request, value: Result<Value, &'static str>| {
            let absent = |code| OwnedValue::NoLabel(NoLabel::Absent(code));
            push(request, value.map_or_else(absent, owned));
        };
        for &FoundMatch { frame: at, request, entry } in matches.iter() {
            let found = frames.get(at).and_then(|it| Some((it, variables(files, it)?)));
            let found = found.and_then(|(it, variables)| variables.entry(entry, svma(it)?));
            let Some(found) = found else { continue };
            let read = |frame| found.value(&frame, &requested.meter()).map_err(|why| why.code());
            push(request, frame(at).map_or(Err("frame"), read));
        }
        if !of_thread.is_empty() {
            let leaf = frame(0);
            let leaf = leaf.as_ref().map(|leaf| leaf as &dyn Frame);
            for (request, value) in of_thread.values((state, tid), leaf, || requested.meter()) {
                push(request, value);
            }
        }
    }

    /// Finds for each request the innermost frame that answers it.
    fn find_matches(&mut self, walker: &Walker<'_>, space: &Space, frames: &[WalkedFrame]) {
        // Neighbours are usually in one module.
        let mut last = None;
        for frame in frames {
            if last != frame.module {
                last = frame.module;
                self.learn(walker, space, frame);
            }
        }
        let Self { files, matches, .. } = self;
        matches.clear();
        let (mut last, mut of_file) = (None, None);
        for (at, frame) in frames.iter().enumerate() {
            if last != frame.module {
                (last, of_file) = (frame.module, variables(files, frame));
            }
            let Some((variables, svma)) = of_file.zip(svma(frame)) else { continue };
            for (entry, request) in variables.entries_at(svma) {
                if !matches.iter().any(|known| known.request == request) {
                    matches.push(FoundMatch { frame: at, request, entry });
                }
            }
        }
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

/// Returns the looked-up address of a frame in its file (SVMA).
const fn svma(frame: &WalkedFrame) -> Option<u64> {
    match frame.address() {
        FrameAddress::Svma(svma) => Some(svma.0),
        _ => None,
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
        let lookup = svma(caller)?;
        let sites = variables(self.sample.files, frame)?.call_sites();
        let next = self.caller.get_or_init(|| self.sample.frame(self.at + 1).map(Box::new));
        let frame = next.as_deref()?;
        Some(Caller { frame, return_address: lookup.wrapping_add(1), sites, same_image: true })
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
