//! Our folded stacks and our text of `perf script`, drawn by inferno's programs.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::{Bench, Outcome, ensure};
use crate::command;

/// Checks that both paths to a flame graph keep the weights of all samples and draw `main`.
pub(super) fn are_drawn(bench: &Bench) -> Result<Outcome> {
    let bin = bench.target.join("inferno/bin");
    if !bin.join("inferno-flamegraph").is_file() {
        return Ok(Outcome::Skipped("inferno is not installed in the target folder".to_owned()));
    }
    let printed = |arguments: &[&str]| command::output(&mut bench.ours(arguments));
    let folded = printed(&["--format", "folded"])?;
    // inferno weighs a sample by the period in its header.
    let periods = printed(&["--format", "folded", "--weight", "period"])?;
    let samples = printed(&["--format", "ndjson"])?.lines().count() as u64;
    let script = bench.scratch.join("script");
    std::fs::write(&script, printed(&["--format", "perf-script"])?)?;
    let collapsed = command::output(Command::new(bin.join("inferno-collapse-perf")).arg(&script))?;
    println!("{samples} samples, folded {}, collapsed {}", weight(&folded), weight(&collapsed));
    ensure(
        weight(&folded) == samples && weight(&collapsed) == weight(&periods),
        "weights got lost",
    )?;
    for (name, stacks) in [("folded", folded), ("collapsed", collapsed)] {
        let file = bench.scratch.join(name);
        std::fs::write(&file, stacks)?;
        draws_main(&bin.join("inferno-flamegraph"), &file)?;
    }
    Ok(Outcome::Passed)
}

/// Returns the sum of the numbers at the ends of the lines.
fn weight(stacks: &str) -> u64 {
    stacks.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

fn draws_main(flamegraph: &Path, stacks: &Path) -> Result<()> {
    let picture = stacks.with_extension("svg");
    command::run(Command::new(flamegraph).arg(stacks).stdout(File::create(&picture)?))?;
    if !std::fs::read_to_string(&picture)?.contains("<title>main (") {
        bail!("{} has no main", picture.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn weights_add_up() {
        assert_eq!(weight("a;b c 3\n\na 40\nno number\n"), 43);
    }
}
