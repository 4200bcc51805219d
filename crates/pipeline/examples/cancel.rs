//! Measures how fast each stage of a run reacts to cancellation:
//! `cargo run --release -p unwind-perf-pipeline --example cancel -- perf.data`.
//! It first runs the recording completely, then repeatedly, cancelled a tenth later each time.
#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::RealHost;
use pipeline::{Error, Observer, Options, Pipeline, Source};

/// Stops a run on request.
#[derive(Debug, Default)]
struct Stop(AtomicBool);

impl Observer for Stop {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs a recording, cancelled after `patience`; returns the total time.
fn run(recording: PathBuf, patience: Duration) -> Result<Duration, Error> {
    let stop = Arc::new(Stop::default());
    let observer: Arc<dyn Observer> = stop.clone();
    let start = Instant::now();
    let working = std::thread::spawn(move || {
        let pipeline = Pipeline::new(Arc::new(RealHost));
        let result = pipeline.analyze(Source::Path(recording), &Options::default(), &observer);
        drop(pipeline);
        result.map(drop)
    });
    while start.elapsed() < patience && !working.is_finished() {
        std::thread::sleep(Duration::from_millis(1));
    }
    stop.0.store(true, Ordering::Relaxed);
    match working.join() {
        Ok(Ok(()) | Err(Error::Cancelled)) => Ok(start.elapsed()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::BrokenOff),
    }
}

fn main() -> Result<(), Error> {
    let recording = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "perf.data".into()));
    let whole = run(recording.clone(), Duration::MAX)?;
    println!("whole run: {} ms", whole.as_millis());
    for tenth in 1..10 {
        let patience = whole * tenth / 10;
        let late = run(recording.clone(), patience)?.saturating_sub(patience);
        println!(
            "cancelled after {} ms: returned {} ms later",
            patience.as_millis(),
            late.as_millis()
        );
    }
    Ok(())
}
