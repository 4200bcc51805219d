//! `go tool pprof`: reads our profile, and the recording itself by way of our `perf_to_profile`.

use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Bench;
use super::truth::Costs;
use crate::command;

/// Runs the check.
pub(super) fn check(bench: &Bench<'_>) -> Result<String> {
    bench.need("go version", "apt-get install --quiet --yes --no-install-recommends golang-go")?;
    let profile = bench.write("profile.pb.gz", &["--format", "pprof"])?;
    let mut pprof = Command::new("go");
    pprof.args(["tool", "pprof", "-top", "-functions", "-symbolize=none", "-sample_index=samples"]);
    pprof.args(["-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]).arg(&profile);
    let (total, costs) = top(&command::quiet_output(&mut pprof)?)?;
    let told = bench.truth.compare(total, &costs)?;
    Ok(format!("{told}; {}", recording(bench)?))
}

/// pprof on the recording: it finds `perf_to_profile` in the search path.
fn recording(bench: &Bench<'_>) -> Result<String> {
    let folder = bench.ours.parent().context("our program's folder")?;
    if !folder.join("perf_to_profile").is_file() {
        bail!("there is no perf_to_profile beside {}", bench.ours.display());
    }
    let mut path = folder.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut pprof = Command::new("go");
    pprof.args(["tool", "pprof", "-top", "-sample_index=samples", "-nodecount=1"]);
    pprof.arg(bench.recording).env("PATH", path);
    let (total, _) = top(&command::quiet_output(&mut pprof)?)?;
    if total != bench.truth.total {
        bail!("the recording itself: {total} samples, ours {}", bench.truth.total);
    }
    Ok("reads the recording itself".to_owned())
}

/// The total and the table of `-top`.
fn top(text: &str) -> Result<(u64, Costs)> {
    let total = text
        .lines()
        .find_map(|line| line.split("Total samples = ").nth(1))
        .or_else(|| text.lines().find_map(|line| line.split(" of ").nth(1)?.strip_suffix(" total")))
        .and_then(|rest| rest.split_whitespace().next())
        .context("no total")?
        .parse()?;
    let mut costs = Costs::default();
    let table = text.lines().skip_while(|line| !line.trim_start().starts_with("flat ")).skip(1);
    for line in table {
        let mut rest = line.trim_start();
        let mut numbers = Vec::new();
        for _ in 0..5 {
            let (number, behind) = rest.split_once(' ').with_context(|| line.to_owned())?;
            numbers.push(number);
            rest = behind.trim_start();
        }
        let name = rest.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
        // Our folded stacks cannot hold a semicolon in a name.
        let name = name.replace(';', ":");
        *costs.own.entry(name.clone()).or_default() += numbers[0].parse::<u64>()?;
        *costs.inclusive.entry(name).or_default() += numbers[3].parse::<u64>()?;
    }
    Ok((total, costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let text = "File: t\nDuration: 1s, Total samples = 30 \nShowing nodes\n      flat  flat%   sum%        cum   cum%\n\
                    \x20       20 66.67% 66.67%         30   100%  f(int, char) (inline)\n         0     0%   100%         30   100%  main\n";
        let (total, costs) = top(text).unwrap();
        assert_eq!(total, 30);
        assert_eq!(costs.own["f(int, char)"], 20);
        assert_eq!(costs.inclusive["main"], 30);
    }
}
