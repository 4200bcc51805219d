//! The time of restoring a long profile:
//! `cargo test --release -p unwind-perf-profile stored::tests::speed -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use address::{Bias, ModuleId, Pid, Tid, Timestamp};

use super::stored;
use crate::id::{
    EventId, FrameId, InlineId, LayoutId, LocationId, RowId as _, StackId, StringId, ThreadId,
};
use crate::profile::Profile;
use crate::reason::{EndReason, FoundBy};
use crate::tables::{
    EventRow, FrameRow, InlineRow, LocationRow, ModuleKind, ModuleRow, SampleRow, StackRow,
    ThreadRow,
};

const SAMPLES: u64 = 1_000_000;
const NAMES: usize = 50_000;
const STACKS: usize = 300_000;

/// A profile of a million samples in a large program.
fn long() -> Profile {
    let mut profile = Profile::default();
    for number in 0..NAMES {
        let name = format!("library::module_{}::Type<Argument>::function_{number}", number % 97);
        profile.strings.intern(name.as_bytes());
    }
    let name = StringId::new(0);
    let event = EventRow { name, kind: 0, config: 0, frequency: true, rate: 997 };
    profile.events.push(event);
    for _ in 0..20 {
        let module = ModuleRow { path: name, opened: None, build_id: None, kind: ModuleKind::Elf };
        profile.modules.push(module);
    }
    for index in 0..NAMES {
        for _ in 0..2 {
            profile.inlines.push(InlineRow::with_name(StringId::from_index(index)));
        }
        let module = ModuleId(index as u32 % 20);
        profile.locations.push(LocationRow {
            first_inline: InlineId::from_index(2 * index),
            n_inlines: 2,
            ..LocationRow::unnamed(Some(module), index as u64)
        });
        let location = LocationId::from_index(index);
        let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance: 0 };
        profile.frames.push(frame);
    }
    for index in 0..STACKS {
        let parent = index.checked_sub(40).map(StackId::from_index);
        profile.stacks.push(StackRow { parent, frame: FrameId::from_index(index % NAMES) });
    }
    let images = (0..20).map(|module| (ModuleId(module), Bias(0x1000)));
    profile.layouts.push(images.collect());
    let thread = ThreadRow { pid: Pid(1), tid: Tid(1), comm: name, process: name, cgroup: None };
    profile.threads.push(thread);
    for number in 0..SAMPLES {
        let stack = StackId::from_index(number as usize % STACKS);
        let (thread, event) = (ThreadId::new(0), EventId::new(0));
        let layout = LayoutId::new(0);
        let row = SampleRow::new(thread, event, EndReason::Root, Some(stack), layout);
        let row = row.with_time(Some(Timestamp(number))).with_period(Some(1_000_000));
        profile.samples.push(row.with_cpu(Some(3)));
    }
    profile
}

#[test]
#[ignore = "measures"]
fn a_million_samples() {
    let profile = long();
    for _ in 0..5 {
        let start = Instant::now();
        let bytes = stored(&profile);
        let store = start.elapsed();
        let start = Instant::now();
        let restored = black_box(Profile::restore(&bytes).expect("a stored profile"));
        let restore = start.elapsed();
        assert_eq!(restored.samples.len(), profile.samples.len());
        println!("{} bytes; stored in {store:?}, restored in {restore:?}", bytes.len());
    }
}
