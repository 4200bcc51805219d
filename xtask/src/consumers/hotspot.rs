//! hotspot, the program itself without a screen, with our backend in the place of its own: it prints every sample that it
//! decoded.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Bench;
use super::truth::Costs;

/// Seconds after which the program is ended; it does not end by itself.
const SECONDS: &str = "15";

/// Runs the check.
pub(super) fn check(bench: &Bench<'_>) -> Result<String> {
    bench.need(
        "timeout 10 hotspot -platform offscreen --version",
        "apt-get install --quiet --yes --no-install-recommends hotspot",
    )?;
    let backend = bench.ours.parent().context("our program's folder")?.join("hotspot-perfparser");
    if !backend.is_file() {
        bail!("there is no {}", backend.display());
    }
    let mut hotspot = Command::new("timeout");
    hotspot.args([SECONDS, "hotspot"]);
    if let Some(sysroot) = bench.sysroot {
        hotspot.arg("--sysroot").arg(sysroot);
    }
    hotspot
        .arg(bench.recording)
        .env("HOTSPOT_GENERATE_SCRIPT_OUTPUT", "1")
        .env("HOTSPOT_PERFPARSER", &backend)
        .env("QT_QPA_PLATFORM", "offscreen")
        .stdin(Stdio::null());
    // Its exit status is that of having been ended.
    let output = hotspot.output().context("timeout hotspot")?;
    let (total, costs) = samples(&String::from_utf8_lossy(&output.stdout));
    bench.truth.compare(total, &costs)
}

/// Samples are separated by empty lines; the lines of frames begin with a tab.
fn samples(text: &str) -> (u64, Costs) {
    let mut costs = Costs::default();
    let mut total = 0;
    for block in text.split("\n\n").filter(|block| !block.trim().is_empty()) {
        total += 1;
        let frames = block.lines().filter_map(|line| {
            let (_, rest) = line.strip_prefix('\t')?.split_once(' ')?;
            Some(rest.rsplit_once(" (").map_or(rest, |(name, _)| name).replace(';', ":"))
        });
        let mut names: Vec<String> = frames.collect();
        if let Some(leaf) = names.first() {
            *costs.own.entry(leaf.clone()).or_default() += 1;
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            *costs.inclusive.entry(name).or_default() += 1;
        }
    }
    (total, costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read() {
        let text = "r\t1\t2.5:\t100 cpu-clock\n\t00ff f(int) (r)\n\t00fe main (r)\n\nr\t1\t3.5:\t100 cpu-clock\n\t00fe main (r)\n\n";
        let (total, costs) = samples(text);
        assert_eq!(total, 2);
        assert_eq!((costs.own["f(int)"], costs.own["main"], costs.inclusive["main"]), (1, 1, 2));
    }
}
