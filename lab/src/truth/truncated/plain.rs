//! `cargo lab truth FILE --plain`: number of chains of an ordinary recording that reach their root, by our program and
//! by the rules of peers. Only a recording with large dumps shows whether they are correct.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::peers;
use crate::compared;
use crate::truth::unwound::{MAX_FRAMES, NO_JOIN};

/// End reasons that count as the root in our output.
const ROOTS: [&str; 2] = ["root", "root-across-gap"];

/// Prints a line for each method of unwinding.
pub(super) fn print(ours: &Path, recording: &Path) -> Result<()> {
    let mut rows = Vec::new();
    let mut all = 0;
    for options in [&[NO_JOIN][..], &["--join", "exact"], &[]] {
        let (samples, rooted) = our_roots(ours, recording, options)?;
        all = samples;
        rows.push((format!("ours {}", options.join(" ")).trim_end().to_owned(), rooted));
    }
    let rooted = peers::rooted(recording)?;
    for ((name, _), rooted) in peers::RULES.iter().zip(rooted) {
        rows.push((format!("the rule of {name} on our walks"), rooted));
    }
    println!("{all} samples; chains that reach their root:");
    for (name, rooted) in rows {
        println!("  {rooted:>9} {:5.1} %  {name}", 100.0 * rooted as f64 / all.max(1) as f64);
    }
    Ok(())
}

/// A line of our NDJSON; only samples have an end.
#[derive(serde::Deserialize)]
struct Line {
    end: Option<String>,
}

/// Returns the number of samples, and the number of chains that end at a root.
fn our_roots(ours: &Path, recording: &Path, options: &[&str]) -> Result<(u64, u64)> {
    let mut command = Command::new(ours);
    command.args(["--format", "ndjson", "--quiet", "--no-symbols"]);
    command.args(["--max-frames", &MAX_FRAMES.to_string()]).args(options).arg(recording);
    compared::read_output(&mut command, &[0, 1], |output| {
        let (mut samples, mut rooted) = (0, 0);
        for line in output.lines() {
            let Line { end } = serde_json::from_str(&line?)?;
            samples += u64::from(end.is_some());
            rooted += u64::from(end.is_some_and(|end| ROOTS.contains(&end.as_str())));
        }
        Ok((samples, rooted))
    })
}
