//! `go tool pprof`: reads our profile, and the recording itself through our `perf_to_profile`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::consumers::Bench;
use crate::consumers::truth::Costs;

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    bench.need("go version", "apt-get install --quiet --yes --no-install-recommends golang-go")?;
    let profile = bench.write("profile.pb.gz", &["--format", "pprof"])?;
    let mut pprof = Command::new("go");
    pprof.args(["tool", "pprof", "-top", "-functions", "-symbolize=none", "-sample_index=samples"]);
    pprof.args(["-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]).arg(&profile);
    let (total, costs) = top(&command::quiet_output(&mut pprof)?)?;
    let reported = bench.truth.compare(total, &costs)?;
    let mut pprof = Command::new("go");
    pprof.args(["tool", "pprof", "-raw", "-symbolize=none"]).arg(&profile);
    let (total, costs) = raw(&command::quiet_output(&mut pprof)?)?;
    bench.truth.compare(total, &costs).context("-raw")?;
    Ok(format!("{reported}, with -raw, too; {}", recording(bench)?))
}

/// Runs pprof on the recording: it finds `perf_to_profile` in the search path.
fn recording(bench: &Bench<'_>) -> Result<String> {
    let mut path = bench.programs().into_os_string();
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

/// Returns the total and the table of `-top`.
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
            let (number, after) = rest.split_once(' ').with_context(|| line.to_owned())?;
            numbers.push(number);
            rest = after.trim_start();
        }
        let name = rest.trim_end_matches(" (inline)").trim_end_matches(" (partial-inline)");
        // Our folded stacks cannot contain a semicolon in a name.
        let name = name.replace(';', ":");
        *costs.own.entry(name.clone()).or_default() += numbers[0].parse::<u64>()?;
        *costs.inclusive.entry(name).or_default() += numbers[3].parse::<u64>()?;
    }
    Ok((total, costs))
}

/// Returns the total and the costs of `-raw`. Samples are lines `COUNT PERIOD…: LOCATION…`.
/// Locations are `ID: ADDRESS M=MAPPING NAME FILE:LINE[:COLUMN] s=LINE()`, with a further line for each function that
/// the first was inlined into.
fn raw(text: &str) -> Result<(u64, Costs)> {
    let (samples, rest) = text.split_once("\nLocations\n").context("no locations")?;
    let (locations, _) = rest.split_once("\nMappings\n").context("no mappings")?;
    let mut names: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut id = "";
    for line in locations.lines() {
        let mut line = line.trim_start();
        if let Some((number, rest)) = line.split_once(": 0x") {
            let mut parts = rest.splitn(3, ' ');
            id = number;
            line = parts.by_ref().nth(2).unwrap_or_default();
        }
        let functions = names.entry(id).or_default();
        if let Some((name, _)) = line.rsplit_once(" s=").and_then(|it| it.0.rsplit_once(' ')) {
            functions.push(name.replace(';', ":"));
        }
    }
    let mut costs = Costs::default();
    let mut total = 0;
    for line in samples.lines() {
        // Lines of labels do not start with such a number.
        let Some((numbers, ids)) = line.split_once(": ") else { continue };
        let mut numbers = numbers.split_whitespace().map(str::parse::<u64>);
        let Some(Ok(count)) = numbers.next().filter(|_| numbers.all(|it| it.is_ok())) else {
            continue;
        };
        total += count;
        let stack = ids.split_whitespace().map(|id| names.get(id).context("no such location"));
        let stack: Vec<&Vec<String>> = stack.collect::<Result<_>>()?;
        if let Some(leaf) = stack.first().and_then(|functions| functions.first()) {
            *costs.own.entry(leaf.clone()).or_default() += count;
        }
        let all: BTreeSet<&String> = stack.into_iter().flatten().collect();
        for name in all {
            *costs.inclusive.entry(name.clone()).or_default() += count;
        }
    }
    Ok((total, costs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_profiles_are_read() {
        let text = "Samples:\nsamples/count[dflt] e/count\n   2   10: 1 2 2\n    pid:[1] comm:[x: y]\n   1    5: \nLocations\n\
                    \x20    1: 0x10 M=1 f(int, char) /a/b.c:3:0 s=0()\n             g /a/b.c:9 s=0()\n     2: 0x11 M=1 main :0 s=0()\n\
                    \x20    3: 0x12 M=1 \nMappings\n1: 0x1\n";
        let (total, costs) = raw(text).unwrap();
        assert_eq!(total, 3);
        assert_eq!((costs.own["f(int, char)"], costs.own.len()), (2, 1));
        assert_eq!((costs.inclusive["g"], costs.inclusive["main"]), (2, 2));
    }

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
