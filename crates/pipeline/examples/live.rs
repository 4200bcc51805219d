//! Follows a recording live and prints a line for each output:
//! `perf record -k CLOCK_MONOTONIC -F 499 -m 16 --buildid-mmap --call-graph dwarf -o - -- PROGRAM | live`
//!
//! At the end it prints the age of samples at their output, which is exact with a clock (`-k`) of this host.
#![allow(clippy::print_stdout, reason = "the example prints")]

use std::io;
use std::sync::Arc;

use host::{ByteStream, RealHost};
use perf_data::Head;
use pipeline::{
    Grown, Observer, Options, Pipeline, RunAccount, Schedule, Sink, Source, StreamOptions, Ticks,
    Unobserved,
};
use profile::Profile;

/// Prints the new rows.
#[derive(Default)]
struct Lines {
    /// Ages of all samples at their output, in milliseconds.
    ages: Vec<u64>,
}

impl Sink for Lines {
    fn begin(&mut self, _: &Head, _: &mut Profile, account: &RunAccount) -> io::Result<()> {
        account.warnings.iter().for_each(|warning| println!("{warning}"));
        Ok(())
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let Grown { profile, before, named, account, .. } = grown;
        let (_, samples) = grown.new_samples();
        let (Some(newest), Some(lag)) = (account.newest, account.lag) else { return Ok(()) };
        let times = samples.iter().filter_map(|sample| sample.time());
        let age =
            |time: u64| lag.age.as_millis() as u64 + newest.0.saturating_sub(time) / 1_000_000;
        self.ages.extend(times.map(|time| age(time.0)));
        println!(
            "{} samples, {} nodes, {} names more; lag {:.1?}; {} records lost",
            samples.len(),
            profile.stacks.len() - before.stacks,
            named.end.as_u32() - named.start.as_u32(),
            lag.age,
            account.lost_records
        );
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = ByteStream::standard_input()?;
    let source = Source::Stream { name: "-".into(), bytes };
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let stream = StreamOptions::by(Schedule::Ticks(Ticks::default()));
    let options = Options::default();
    let mut lines = Lines::default();
    let pipeline = Pipeline::new(Arc::new(RealHost));
    let analysis = pipeline.analyze_in_steps(source, stream, &options, &observer, &mut lines)?;
    lines.ages.sort_unstable();
    let part =
        |percent: usize| lines.ages.get(lines.ages.len() * percent / 100).copied().unwrap_or(0);
    println!(
        "{} samples kept; {} ms old when they were shown, 99 of 100 no more than {}",
        analysis.profile.samples.len(),
        part(50),
        part(99)
    );
    Ok(())
}
