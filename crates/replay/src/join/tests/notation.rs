//! The notation of samples in tests, one per line, and their repair in the same steps as by a window.
//!
//! ```text
//!   D@10:1 C@20 B@30 A@40 $            frames, innermost first; a frame: address, stack pointer, saved registers
//!   D@10:1 C@20 |30        => B A $    truncated; CFA of the last function is 30; expected completion
//!   4 x D@10 C@20 |                    four samples; CFA of the last function is unknown
//!   2: D@10 ?                          of thread 2; the chain ended for another reason than the end of the dump
//! ```
//!
//! Stack pointers are hexadecimal. `$` is the root, `~` a gap.
//! `b` is another address in the function of `B`, which only a file can show.
//! A truncated line without `=>` is not completed.

use address::ModuleId;
use image_store::{FileOptions, ImageStore};
use module_map::Module;
use std::sync::Arc;
use unwinder::{CodeLocation, Engine, Saved};

use crate::join::compare::Comparison;
use crate::join::tests::functions::{indirect, world};
use crate::join::{
    CallHistory, ChainRepair, CodeContext, FunctionCache, Lists, ObservedFrame, ObservedStack,
    SampleContext, StackEnd, StackOwner, TruncatedChain,
};

/// Distance between functions.
pub(super) const FUNCTION: u64 = 0x100;
/// Offset of the second address of a function from the first.
pub(super) const SECOND: u64 = 0x40;

/// Lookup address of a letter in the module.
pub(super) fn address(letter: char) -> u64 {
    let of = |first: char| u64::from(u32::from(letter) - u32::from(first));
    let start = 0x1000 + 0x10;
    match letter {
        'A'..='Z' => start + FUNCTION * of('A'),
        _ => start + FUNCTION * of('a') + SECOND,
    }
}

fn location(letter: char) -> CodeLocation {
    CodeLocation { module: Some(ModuleId(0)), relative: address(letter), bias: 0 }
}

fn letter(location: &CodeLocation) -> char {
    let mut letters = ('A'..='Z').chain('a'..='z');
    letters.find(|&letter| address(letter) == location.relative).unwrap_or('!')
}

/// A sample in the notation.
pub(super) struct Sample {
    owner: StackOwner,
    frames: Vec<ObservedFrame>,
    end: StackEnd,
    /// Expected completion.
    expected: String,
    line: String,
}

impl Sample {
    /// Creates a sample of a thread from (address, stack pointer, saved registers).
    pub(super) fn new(owner: u32, frames: &[(char, u64, Saved)], end: StackEnd) -> Self {
        let observed = |&(letter, sp, saved): &(char, u64, Saved)| ObservedFrame {
            location: location(letter),
            sp,
            saved,
        };
        Self {
            owner: StackOwner(owner),
            frames: frames.iter().map(observed).collect(),
            end,
            expected: String::new(),
            line: String::new(),
        }
    }

    fn read(line: &str) -> Vec<Self> {
        let (text, expected) = line.split_once("=>").unwrap_or((line, ""));
        let (times, text) = text.split_once(" x ").unwrap_or(("1", text));
        let (owner, text) = text.split_once(": ").unwrap_or(("0", text));
        let times: usize = times.trim().parse().expect("how often");
        let owner = owner.trim().parse().expect("a thread");
        let hex = |text: &str| u64::from_str_radix(text, 16).expect("a stack pointer");
        let (mut frames, mut end) = (Vec::new(), None);
        for word in text.split_whitespace() {
            match word.split_once('@') {
                Some((letter, rest)) => {
                    let (sp, saved) = rest.split_once(':').unwrap_or((rest, "0"));
                    let letter = letter.chars().next().expect("a letter");
                    frames.push((letter, hex(sp), saved_of(saved.parse().expect("a number"))));
                }
                None => {
                    end = Some(match word {
                        "$" => StackEnd::Root,
                        "?" => StackEnd::Other,
                        "|" => StackEnd::Truncated(None),
                        _ => StackEnd::Truncated(Some(hex(word.trim_start_matches('|')))),
                    });
                }
            }
        }
        let sample = || Self {
            expected: expected.trim().to_owned(),
            line: line.trim().to_owned(),
            ..Self::new(owner, &frames, end.expect("an end"))
        };
        std::iter::repeat_with(sample).take(times).collect()
    }

    fn observed(&self) -> ObservedStack<'_> {
        ObservedStack { owner: self.owner, frames: &self.frames, end: self.end }
    }
}

/// Saved registers for a number: none for 0.
fn saved_of(value: u64) -> Saved {
    let mut saved = Saved::NONE;
    if value != 0 {
        saved.add(1, 0x5555_0000_0000 + (value << 20), 0);
    }
    saved
}

/// Larger than the number of calls that a test stores.
const ROOM: usize = 1 << 10;

/// Code of the tests: none, unless a test has files.
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) images: ImageStore,
    pub(super) modules: Vec<Arc<Module>>,
    pub(super) functions: FunctionCache,
    /// Maximum number of frames of a chain.
    pub(super) max_frames: usize,
}

impl World {
    /// No files: functions are equal only if the addresses are.
    pub(super) fn new() -> Self {
        Self::with_modules(ImageStore::new(FileOptions::default()), Vec::new())
    }

    /// The files of these modules.
    pub(super) fn with_modules(images: ImageStore, modules: Vec<Arc<Module>>) -> Self {
        let functions = FunctionCache::default();
        Self { engine: Engine::new(), images, modules, functions, max_frames: usize::MAX }
    }

    /// Shows a sample to a memory; calls `f` with the comparison before the memory is updated.
    pub(super) fn observe<R>(
        &mut self,
        memory: &mut CallHistory,
        sample: &Sample,
        f: impl FnOnce(&mut CallHistory, &Comparison, &mut SampleContext<'_>) -> R,
    ) -> R {
        let Self { engine, images, modules, functions, .. } = self;
        let code = CodeContext { engine, images, modules };
        let mut sample =
            SampleContext { observed: sample.observed(), functions, code, truncated_from: 0 };
        let comparison = memory.compare(&mut sample).expect("a sample with frames");
        let result = f(memory, &comparison, &mut sample);
        memory.update(&comparison, &sample);
        result
    }

    /// Returns the completion of each truncated sample.
    fn repair(&mut self, samples: &[Sample], gaps: bool) -> Vec<String> {
        let mut future = CallHistory::learning(ROOM);
        let later = samples.iter().rev().map(|sample| {
            self.observe(&mut future, sample, |future, after, _| {
                (after.evidence, future.snapshot(after))
            })
        });
        let mut later: Vec<_> = later.collect();
        later.reverse();
        let mut past = CallHistory::with_capacity(ROOM);
        let before = samples.iter().map(|sample| {
            self.observe(&mut past, sample, |past, before, _| {
                let evidence = before.evidence;
                let several = past.has_several(&evidence);
                (evidence, past.start_snapshot(&evidence), past.snapshot(before), several)
            })
        });
        let before: Vec<_> = before.collect();
        let learned = future.learned().expect("what was learned");
        let mut all = Vec::new();
        for (sample, (before, later)) in samples.iter().zip(before.into_iter().zip(later)) {
            if !matches!(sample.end, StackEnd::Truncated(_)) {
                all.push(String::new());
                continue;
            }
            let (before, start, outside, several) = before;
            let (after, key) = later;
            let several = several || future.has_several(&after);
            let [outside, key] = [outside, key].map(|key| key.expect("room for calls"));
            let views = [
                past.view_at_snapshot(&before, start, outside, &learned.trials),
                future.view(&after, key, &learned.trials),
            ];
            let chain = TruncatedChain::new(&sample.observed(), gaps && !several, self.max_frames);
            let mut locations = Vec::new();
            let repaired = chain.repair(views, &mut Lists::default(), &mut locations, || None);
            all.push(repaired.map_or(String::new(), |repaired| shown(&repaired, &locations)));
        }
        all
    }

    /// Repairs all samples of a text and compares the completions with the expected ones.
    #[track_caller]
    pub(super) fn check_with(&mut self, text: &str, gaps: bool) {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let samples: Vec<Sample> = lines.flat_map(Sample::read).collect();
        let repaired = self.repair(&samples, gaps);
        for (at, (sample, found)) in samples.iter().zip(repaired).enumerate() {
            assert_eq!(found, sample.expected, "sample {at}: {}", sample.line);
        }
    }
}

fn shown(repaired: &ChainRepair, locations: &[CodeLocation]) -> String {
    let mut words: Vec<String> =
        locations.iter().map(|location| letter(location).to_string()).collect();
    assert_eq!(repaired.len, words.len());
    if let Some(gap) = repaired.gap {
        words.insert(gap, "~".to_owned());
    }
    if repaired.root.is_some() {
        words.push("$".to_owned());
    }
    words.join(" ")
}

/// Repairs samples of a file with `A` as the start function of threads: it makes an indirect call.
#[track_caller]
pub(super) fn check(text: &str) {
    world(&[indirect('A')]).check_with(text, true);
}

/// The same, without completion after a gap.
#[track_caller]
pub(super) fn check_exact(text: &str) {
    World::new().check_with(text, false);
}
