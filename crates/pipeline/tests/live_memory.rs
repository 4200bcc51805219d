//! Tests that memory does not grow with millions of samples that are followed live.
#![allow(clippy::disallowed_methods, reason = "the test looks at its own process")]

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use host::{ByteStream, MemoryHost};
use pipeline::{
    Grown, Observer, Options, Pipeline, Schedule, Sink, Source, StreamOptions, Ticks, Unobserved,
};
use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord};

/// Number of samples, samples in a round, and nanoseconds between samples: five minutes at ten thousand a second.
const SAMPLES: u64 = 3_000_000;
const ROUND: u64 = 1000;
const APART: u64 = 100_000;

/// Returns the resident memory, in KiB.
///
/// Source: proc(5), `VmRSS` of /proc/PID/status.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.split_whitespace().next().and_then(|text| text.parse().ok()).expect("a number")
}

/// Records the use of memory.
#[derive(Debug, Default)]
struct Memory {
    samples: u64,
    kept: usize,
    after_some: u64,
    most: u64,
}

impl Sink for Memory {
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        self.samples += grown.new_samples().1.len() as u64;
        self.kept = self.kept.max(grown.profile.samples.len());
        self.most = self.most.max(resident());
        if self.samples < SAMPLES / 5 {
            self.after_some = self.most;
        }
        Ok(())
    }
}

fn records() -> PerfDataBuilder {
    let mut records = PerfDataBuilder::new(Endian::Little);
    records.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    records.describe_events();
    records
}

/// The only test of its program, so that nothing else takes memory.
#[test]
fn memory_does_not_grow_with_the_samples() {
    let (stream, mut out) = io::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let mut records = records();
        out.write_all(&records.build_pipe(&PipeLayout::default()))?;
        for round in 0..SAMPLES / ROUND {
            for sample in round * ROUND..(round + 1) * ROUND {
                // About a thousand addresses, repeatedly.
                let (ip, tid) = (0x40_0000 + sample % 1009, 7 + (sample % 5) as u32);
                records.sample(&SampleBuilder::at(ip, 7, tid, 1 + sample * APART));
            }
            records.user_record(&UserRecord::FinishedRound);
            out.write_all(&records.take_records())?;
        }
        Ok::<(), io::Error>(())
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let pipeline = Pipeline::new(Arc::new(MemoryHost::new()));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let bytes = ByteStream::of_descriptor(stream.into());
    let source = Source::Stream { name: "-".into(), bytes };
    let ticks = Ticks {
        tick: Duration::from_millis(1),
        max_age: Some(Duration::from_secs(10)),
        ..Ticks::default()
    };
    let mut memory = Memory::default();
    let analysis = pool.install(|| {
        pipeline.analyze_in_steps(
            source,
            StreamOptions::by(Schedule::Ticks(ticks)),
            &Options::default(),
            &observer,
            &mut memory,
        )
    });
    writer.join().expect("no panic").expect("all was read");
    let analysis = analysis.expect("a profile");
    assert_eq!(memory.samples, SAMPLES);
    // Ten seconds, plus as many samples as arrive before the next drop.
    assert!(analysis.profile.samples.len() >= 100_000 && memory.kept < 1_000_000, "{memory:?}");
    assert!(memory.most < memory.after_some + memory.after_some / 2 + (32 << 10), "{memory:?}");
}
