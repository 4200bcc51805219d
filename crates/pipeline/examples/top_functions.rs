//! The functions that cost most: `cargo run --release -p pipeline --example top_functions -- perf.data [SYSROOT]`.
#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::path::PathBuf;
use std::sync::Arc;

use host::RealHost;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};
use profile::query::function_costs;

fn main() -> Result<(), pipeline::Error> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let recording = arguments.next().unwrap_or_else(|| PathBuf::from("perf.data"));
    let files = FileSearch { sysroots: arguments.collect(), ..FileSearch::default() };
    let options = Options { files, ..Options::default() };

    let pipeline = Pipeline::new(Arc::new(RealHost));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let analysis = pipeline.analyze(Source::Path(recording), &options, &observer)?;

    let profile = &analysis.profile;
    println!("{:>8} {:>9}  function", "own", "inclusive");
    for cost in function_costs(profile, true).iter().take(10) {
        let name = cost.function.name.map_or(&b"[unknown]"[..], |id| profile.strings.get(id));
        println!("{:>8} {:>9}  {}", cost.own, cost.inclusive, String::from_utf8_lossy(name));
    }
    Ok(())
}
