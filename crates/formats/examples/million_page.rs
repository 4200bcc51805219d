//! Writes the page of a generated profile to standard output, for timing browsers. It has a million samples, or the
//! number in the argument.

use std::io;

use address::{ModuleId, Pid, Tid, Timestamp};
use formats::{Format, FormatOptions};
use profile::{
    EndReason, EventId, EventRow, FieldTable, FoundBy, FrameId, FrameRow, InlineId, InlineRow,
    LayoutId, LayoutRow, LocationId, LocationRow, ModuleKind, ModuleRow, Profile, RecordingInfo,
    SampleRow, StackId, StackRow, Strings, Summary, Table, ThreadId, ThreadRow,
};

/// Default number of samples.
const SAMPLES: u32 = 1_000_000;
const STACKS: u32 = 300_000;
const FUNCTIONS: u32 = 20_000;
const THREADS: u32 = 64;

fn main() -> io::Result<()> {
    let options = FormatOptions::DEFAULT;
    let samples = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(SAMPLES);
    Format::Report.printer(options).print(&profile(samples), &mut io::stdout().lock())
}

/// Pseudo-random numbers of a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(limit)) as u32
    }
}

#[expect(clippy::too_many_lines, reason = "one table after the other")]
fn profile(samples: u32) -> Profile {
    let mut strings = Strings::default();
    let mut numbers = Numbers(88_172_645_463_325_252);
    let path = strings.intern(b"/usr/bin/program");
    let file = Some(strings.intern(b"src/program.cc"));
    let inlines = (0..FUNCTIONS).map(|at| InlineRow {
        function: Some(strings.intern(format!("space{}::function{at}(int)", at % 97).as_bytes())),
        file,
        line: at % 900 + 1,
        inlined: at % 2 == 0,
        ..InlineRow::NAMELESS
    });
    let inlines = inlines.collect();
    let locations = (0..FUNCTIONS / 2).map(|at| LocationRow {
        first_inline: InlineId::new(at * 2),
        n_inlines: 2,
        ..LocationRow::unnamed(Some(ModuleId(0)), u64::from(at) * 16)
    });
    let frames = (0..FUNCTIONS / 2).map(|location| FrameRow {
        location: LocationId::new(location),
        found_by: if location % 50 == 0 { FoundBy::FramePointer } else { FoundBy::Cfi },
        kernel: location % 10 == 0,
        instance: 0,
    });
    let stacks = (0..STACKS).map(|at| StackRow {
        // Chains that branch occasionally.
        parent: match at {
            0 => None,
            _ if numbers.below(4) > 0 && at % 40 != 0 => Some(StackId::new(at - 1)),
            _ => Some(StackId::new(numbers.below(at))),
        },
        frame: FrameId::new(numbers.below(FUNCTIONS / 2)),
    });
    let stacks = stacks.collect();
    let rows = (0..samples).map(|at| {
        let time = Timestamp(u64::from(at) * 10_007 + u64::from(numbers.below(5000)));
        let thread = ThreadId::new(numbers.below(THREADS) * numbers.below(THREADS) / THREADS);
        let is_cut = numbers.below(9) == 0;
        let end = if is_cut { EndReason::StackExhausted } else { EndReason::Root };
        let stack = Some(StackId::new(numbers.below(STACKS)));
        SampleRow::new(thread, EventId::new(0), end, stack, LayoutId::new(0))
            .with_time(Some(time))
            .with_cpu(Some(at % 8))
            .with_period(Some(1_000_000))
    });
    let rows = rows.collect();
    let threads = (0..THREADS).map(|at| ThreadRow {
        pid: Pid(1000),
        tid: Tid(1000 + at as i32),
        comm: strings.intern(format!("worker{at}").as_bytes()),
        process: strings.intern(b"server"),
        cgroup: None,
    });
    let threads = threads.collect();
    let name = strings.intern(b"cycles");
    Profile {
        off_cpu_is_extra: false,
        recording: RecordingInfo::default(),
        off_cpu: None,
        events: Table::from_vec(vec![EventRow {
            name,
            kind: 0,
            config: 0,
            frequency: true,
            rate: 997,
        }]),
        modules: Table::from_vec(vec![ModuleRow {
            path,
            opened: None,
            build_id: None,
            kind: ModuleKind::Elf,
        }]),
        inlines,
        locations: locations.collect(),
        frames: frames.collect(),
        stacks,
        layouts: Table::from_vec(vec![LayoutRow::default()]),
        threads,
        samples: rows,
        fields: FieldTable::default(),
        summary: Summary { samples: u64::from(samples), ..Summary::default() },
        strings,
    }
}
