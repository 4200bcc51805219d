//! Prints the most expensive functions:
//! `cargo run --release -p unwind-perf-pipeline --example top_functions -- perf.data [SYSROOT]`.
#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::path::PathBuf;
use std::sync::Arc;

use host::RealHost;
use options::GroupBy;
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, Unobserved};
use profile::query::engine::{Index, RowKey, Selection, TableShape, table};

fn main() -> Result<(), pipeline::Error> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let recording = arguments.next().unwrap_or_else(|| PathBuf::from("perf.data"));
    let files = FileSearch { sysroots: arguments.collect(), ..FileSearch::default() };
    let options = Options { files, ..Options::default() };

    let pipeline = Pipeline::new(Arc::new(RealHost));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let analysis = pipeline.analyze(Source::Path(recording), &options, &observer)?;

    let profile = &analysis.profile;
    let index = Index::new(profile, true);
    let selection = Selection::everything(profile, &index);
    let shape = TableShape { most: 10, ..TableShape::all(GroupBy::Function) };
    println!("{:>8} {:>9}  function", "own", "inclusive");
    for row in table(&selection, shape).0 {
        let RowKey::Function(function) = row.key else { continue };
        let name = selection.function(function).name;
        let name = name.map_or(&b"[unknown]"[..], |id| profile.strings.get(id));
        let (own, inclusive) = (row.own.samples, row.inclusive.samples);
        println!("{own:>8} {inclusive:>9}  {}", String::from_utf8_lossy(name));
    }
    Ok(())
}
