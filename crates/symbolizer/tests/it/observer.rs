//! Tests that an observer receives the stages of a run, and can cancel it.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use address::Svma;
use image_store::Image;
use symbolizer::{
    SymbolObserver, SymbolRequest, SymbolSource, SymbolStage, SymbolTimings, SymbolizeOptions,
};

use crate::interned::{Interned, symbolize};

/// Records the stages, and cancels the run after `patience` calls.
#[derive(Debug)]
struct Watcher {
    stages: Mutex<Vec<SymbolStage>>,
    patience: usize,
    asked: AtomicUsize,
}

impl Watcher {
    fn new(patience: usize) -> Self {
        Self { stages: Mutex::default(), patience, asked: AtomicUsize::new(0) }
    }
}

impl SymbolObserver for Watcher {
    fn ended(&self, stage: SymbolStage, _: Duration) {
        self.stages.lock().expect("no panic").push(stage);
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

fn run(observer: Option<&dyn SymbolObserver>) -> Interned {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let bytes = std::fs::read(folder.join("gcc-dwarf5")).expect("a test file");
    let image = Image::from_vec(Path::new("gcc-dwarf5"), bytes).expect("an ELF file");
    let addresses = [Svma(0x40_1038)];
    let request = SymbolRequest { source: SymbolSource::of(&image), addresses: &addresses };
    symbolize(&[request], &SymbolizeOptions { observer, ..SymbolizeOptions::default() })
}

#[test]
fn stages_in_their_order() {
    let watcher = Watcher::new(usize::MAX);
    assert_eq!(run(Some(&watcher)), run(None));
    let stages = watcher.stages.into_inner().expect("no panic");
    assert_eq!(stages, [SymbolStage::Loading, SymbolStage::LookingUp, SymbolStage::Naming]);
    // One call for the file, one for its unit.
    assert_eq!(watcher.asked.into_inner(), 2);
}

#[test]
fn a_cancelled_run_reads_no_more() {
    let frames = |patience| run(Some(&Watcher::new(patience))).frames.len();
    // Nothing; the symbol without a unit; `sink`, `leaf`, `middle` and `outer`.
    assert_eq!([0, 1, 2].map(frames), [0, 1, 4]);
}

#[test]
fn times_are_added_up() {
    let timings = Mutex::new(SymbolTimings::default());
    for seconds in [1, 2] {
        timings.ended(SymbolStage::Loading, Duration::from_secs(seconds));
        timings.ended(SymbolStage::Naming, Duration::from_secs(seconds * 10));
    }
    let expected = SymbolTimings {
        loading: Duration::from_secs(3),
        looking_up: Duration::ZERO,
        naming: Duration::from_secs(30),
    };
    assert_eq!(timings.into_inner().expect("no panic"), expected);
}
