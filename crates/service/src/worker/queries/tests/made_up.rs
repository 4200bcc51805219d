//! Random small profiles with many equal parts.

use address::{ModuleId, Pid, Tid, Timestamp};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameId, FrameRow, InlineId, InlineRow, LayoutId,
    LocationId, LocationRow, ModuleKind, ModuleRow, Profile, SampleRow, StackId, StackRow, Strings,
    Table, ThreadId, ThreadRow,
};

/// Deterministic pseudo-random numbers.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(limit.max(1))) as u32
    }
}

/// Returns a random profile.
pub(super) fn profile(numbers: &mut Numbers) -> Profile {
    let mut strings = Strings::default();
    let module = |path| ModuleRow { path, opened: None, build_id: None, kind: ModuleKind::Elf };
    let modules = ["/lib/one", "/lib/two", "three"].map(|it| module(strings.intern(it.as_bytes())));
    let threads = (0..5).map(|at| ThreadRow {
        pid: Pid(at / 3 + 1),
        tid: Tid(at + 10),
        comm: strings.intern(format!("worker{}", at % 2).as_bytes()),
        process: strings.intern(format!("server{}", at / 2).as_bytes()),
        cgroup: (at % 3 > 0).then(|| strings.intern(format!("/slice{}", at % 3).as_bytes())),
    });
    let threads = threads.collect();
    let events = ["cpu-clock:u", "off-cpu", "cycles", "cycles"].map(|name| EventRow {
        name: strings.intern(name.as_bytes()),
        kind: 0,
        config: 0,
        frequency: true,
        rate: 997,
    });
    let (inlines, locations) = code(numbers, &mut strings);
    let frames = (0..20).map(|location| FrameRow {
        location: LocationId::new(location),
        found_by: FoundBy::Cfi,
        kernel: false,
        instance: 0,
    });
    Profile {
        off_cpu: (numbers.below(2) == 0).then(|| EventId::new(1)),
        events: events.into_iter().collect(),
        modules: Table::from_vec(modules.into()),
        inlines,
        locations,
        frames: frames.collect(),
        stacks: stacks(numbers),
        threads,
        samples: samples(numbers),
        strings,
        ..Profile::default()
    }
}

/// Returns locations with up to three functions each, out of twelve.
fn code(
    numbers: &mut Numbers,
    strings: &mut Strings,
) -> (Table<InlineId, InlineRow>, Table<LocationId, LocationRow>) {
    let mut inlines = Table::new();
    let mut locations = Table::new();
    for at in 0..20 {
        let first_inline = InlineId::new(inlines.len() as u32);
        let n_inlines = numbers.below(4);
        for _ in 0..n_inlines {
            let name = format!("function{}", numbers.below(12));
            inlines.push(InlineRow {
                function: (numbers.below(9) > 0).then(|| strings.intern(name.as_bytes())),
                line: numbers.below(3),
                ..InlineRow::NAMELESS
            });
        }
        let module = (numbers.below(9) > 0).then(|| ModuleId(numbers.below(3)));
        let location = LocationRow::unnamed(module, at);
        locations.push(LocationRow { first_inline, n_inlines, ..location });
    }
    (inlines, locations)
}

fn stacks(numbers: &mut Numbers) -> Table<StackId, StackRow> {
    let rows = (0..60).map(|at| StackRow {
        parent: match numbers.below(8) {
            0 => None,
            1..=4 if at > 0 => Some(StackId::new(at - 1)),
            _ => Some(StackId::new(numbers.below(at + 1))),
        },
        frame: FrameId::new(numbers.below(20)),
    });
    rows.collect()
}

/// Returns up to 300 samples; in some profiles times are missing or out of order.
fn samples(numbers: &mut Numbers) -> Table<profile::SampleId, SampleRow> {
    let (order, missing) = (numbers.below(3), numbers.below(3));
    let most = numbers.below(60) + 1;
    let rows = (0..numbers.below(300)).map(|at| {
        let time = (missing > 0 || numbers.below(9) > 0).then(|| {
            let at = if order == 0 { numbers.below(300) } else { at };
            Timestamp((1 << 40) + u64::from(at) * 10_000_000)
        });
        let thread = ThreadId::new(numbers.below(5));
        let event = EventId::new((numbers.below(8) / 2) as u16);
        let is_cut = numbers.below(4) == 0;
        let end = if is_cut { EndReason::StackExhausted } else { EndReason::Root };
        let period = (numbers.below(9) > 0).then(|| u64::from(numbers.below(4)));
        let stack = (numbers.below(20) > 0).then(|| StackId::new(numbers.below(most)));
        SampleRow::new(thread, event, end, stack, LayoutId::new(0))
            .with_time(time)
            .with_period(period)
            .with_cpu((numbers.below(5) > 0).then(|| numbers.below(3)))
    });
    rows.collect()
}
