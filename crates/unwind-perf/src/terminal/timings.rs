//! Times of the stages as text, for `--timings`.

use std::fmt::Write as _;
use std::time::Duration;

use pipeline::Timings;

/// Returns one line for each stage, and the counters of the run.
pub(crate) fn timings_text(timings: &Timings, addresses: usize) -> String {
    let Timings { replay, symbols, .. } = timings;
    let mut text = String::new();
    let mut line = |what: &str, time: Duration| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{what:<22} {:>9.1} ms", time.as_secs_f64() * 1e3);
    };
    for &(stage, time) in timings.stages() {
        line(stage, time);
        if stage == "replay" {
            line("  plan, one thread", replay.plan);
            line("  walk, all threads", replay.walk);
            line("  repair, all threads", replay.repair);
            line("  merge, one thread", replay.merge);
        }
        if stage == "symbolize" {
            line("  symbol load", symbols.loading);
            line("  functions and lines", symbols.looking_up);
            line("  names", symbols.naming);
        }
    }
    line("total", timings.total());
    let steps = replay.cache_hits + replay.cache_misses;
    let share = 100.0 * replay.cache_hits as f64 / steps.max(1) as f64;
    let _ = writeln!(text, "unwind rules cached    {share:>9.2} % of {steps} steps");
    let _ = writeln!(text, "files parsed           {:>9}", timings.images);
    let _ = writeln!(text, "distinct addresses     {addresses:>9}");
    text
}
