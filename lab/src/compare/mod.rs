//! `cargo lab compare`: runs our program and a peer on one recording, converts both outputs to one canonical form, and
//! compares the chains of every sample. It is designed to avoid false alarms: frames are equal if any address that both
//! tools state is equal, and names are compared without parameters, template arguments and suffixes.

mod binary;
mod chain;
mod hotspot;
mod jump;
mod names;
mod ndjson;
mod oracle;
mod perf_script;
mod report;
mod roots;
mod tables;
mod verdict;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};
use xtask::args::Args;
use xtask::command;

use crate::compared;
use crate::strings::StringTable;
use chain::Chains;
use oracle::{Evidence, Oracle};
use report::Sides;
pub(crate) use roots::roots;
use verdict::Naming;

/// Maximum number of frames that every tool is asked for; perf's own limit would be 127.
const MAX_FRAMES: usize = 1024;
/// Minimum share of chains, in percent, that are equal, longer, or better than a chain that the oracle proved wrong.
/// Below it the comparison fails.
const THRESHOLD: f64 = 99.5;

/// Option that omits the frames that tail calls removed. perf and hotspot show none, and the oracle handles calls only;
/// `cargo lab truth` compares them with the true ones.
const NO_TAIL_CALLS: &str = "--no-tail-calls";

/// Input of the comparison.
struct Input {
    file: PathBuf,
    sysroot: Option<PathBuf>,
    /// True if ours shows the frames that tail calls removed.
    tail_calls: bool,
}

/// Runs both sides and prints the result.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let peer = args.value("--peer")?.unwrap_or_else(|| "perf".to_owned());
    let base = args.value("--base")?.unwrap_or_else(|| "ours".to_owned());
    let examples: usize = args.number("-v", 0)?;
    let ours = args.value("--ours")?;
    let sysroot = args.value("--sysroot")?.map(PathBuf::from);
    let names = args.names()?;
    let [name] = names.as_slice() else { bail!("one recording, or one case of testdata/cases") };
    let input = input(name, sysroot)?;

    let mut words = StringTable::new();
    let mut left = chains(&base, &input, ours, &mut words)?;
    let mut right = chains(&peer, &input, None, &mut words)?;
    left.sort(&words);
    right.sort(&words);
    let forms = names::comparable(&mut words)?;
    let naming = Naming { words: &words, forms: &forms, joins: peer == "hotspot" };
    let anonymous = anonymous_code(&input.file)?;
    let mut oracle = Oracle::new(Evidence {
        words: &words,
        sysroot: input.sysroot.as_deref(),
        build_ids: &left.build_ids,
        anonymous_code: Some(&anonymous),
    });
    let tally = verdict::compare([&left, &right], &naming, &mut oracle, MAX_FRAMES);
    let sides = Sides { names: [&base, &peer], chains: [&left, &right], words: &words };
    sides.print_examples(&tally, examples);
    sides.print(&tally);
    let complete = tally.only_right == 0 && tally.matched > 0;
    let good = tally.good() >= THRESHOLD && complete;
    println!(
        "\n{}: {:.3} % equal or longer, {:.3} % with those where {peer} is proven wrong; {} samples missing",
        if good { "good" } else { "not good enough" },
        tally.agreeing(),
        tally.good(),
        tally.only_right
    );
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the numbers of samples and user frames of one tool's output.
pub(crate) fn count(tool: &str, file: &Path, ours: Option<&Path>) -> Result<(usize, usize)> {
    let input = Input { file: file.to_owned(), sysroot: None, tail_calls: true };
    let ours = ours.map(|path| path.display().to_string());
    let chains = chains(tool, &input, ours, &mut StringTable::new())?;
    Ok((chains.samples.len(), chains.frames.len()))
}

fn input(name: &str, sysroot: Option<PathBuf>) -> Result<Input> {
    let testdata = command::root().join("testdata");
    let case = testdata.join("cases").join(name).join("perf.data");
    if !name.contains('/') && case.is_file() {
        return Ok(Input {
            file: case,
            sysroot: Some(sysroot.unwrap_or_else(|| testdata.join("sysroot"))),
            tail_calls: false,
        });
    }
    let file = std::path::absolute(name)?;
    if !file.exists() {
        bail!("{name}: neither a file nor a case");
    }
    Ok(Input { file, sysroot, tail_calls: false })
}

fn chains(
    tool: &str,
    input: &Input,
    ours: Option<String>,
    words: &mut StringTable,
) -> Result<Chains> {
    match tool {
        "ours" => {
            let program = command::ours(ours)?;
            let mut command = Command::new(&program);
            command.args(["--format", "ndjson", "--no-inline", "--quiet"]);
            if !input.tail_calls {
                command.args(compared::options_of(&program, &[NO_TAIL_CALLS])?);
            }
            if let Some(sysroot) = &input.sysroot {
                command.arg("--sysroot").arg(sysroot);
            }
            read_chains(command.arg(&input.file), &[0, 1], |output| ndjson::read(output, words))
        }
        // Another perf than the installed one is named after a colon.
        perf if perf == "perf" || perf.starts_with("perf:") => {
            let program = perf.strip_prefix("perf:").unwrap_or("perf");
            let mut command = Command::new(program);
            command.args([
                "script",
                "--ns",
                "--no-inline",
                "--max-stack",
                &MAX_FRAMES.to_string(),
                "-F",
            ]);
            command.arg(perf_fields(&input.file)?);
            if let Some(sysroot) = &input.sysroot {
                command.arg("--symfs").arg(sysroot);
            }
            read_chains(command.arg("-i").arg(&input.file), &[0], |output| {
                perf_script::read(output, words)
            })
        }
        "hotspot" => {
            let mut command = Command::new(compared::hotspot()?);
            command.args(["--max-frames", &MAX_FRAMES.to_string()]);
            if let Some(sysroot) = &input.sysroot {
                command.arg("--sysroot").arg(sysroot);
            }
            read_chains(command.arg("--input").arg(&input.file), &[0], |output| {
                hotspot::read(output, words)
            })
        }
        other => bail!("no tool {other}: ours, perf or hotspot"),
    }
}

/// Returns the fields for `-F`: perf refuses to print a field that was not recorded.
fn perf_fields(file: &Path) -> Result<String> {
    let events =
        command::quiet_output(Command::new("perf").args(["evlist", "-v", "-i"]).arg(file))?;
    let types: Vec<&str> =
        events.lines().filter_map(|line| line.split("sample_type: ").nth(1)).collect();
    let has = |name: &str| {
        let in_one = |types: &&str| {
            types.split(',').next().unwrap_or_default().split('|').any(|word| word == name)
        };
        !types.is_empty() && types.iter().all(in_one)
    };
    let mut fields = "comm,pid,tid,time,event,ip,sym,symoff,dso".to_owned();
    for (name, field) in [("CPU", ",cpu"), ("PERIOD", ",period")] {
        if has(name) {
            fields.push_str(field);
        }
    }
    Ok(fields)
}

/// Returns the ranges that were ever mapped executable without a file, such as JIT code.
fn anonymous_code(file: &Path) -> Result<Vec<Range<u64>>> {
    let mut command = Command::new("perf");
    // A name that no process has excludes the samples.
    command.args(["script", "--show-mmap-events", "--comm", "/", "-i"]).arg(file);
    let text = command::output(&mut command)?;
    let range = |line: &str| {
        let (_, rest) = line.split_once("PERF_RECORD_MMAP2 ")?;
        let (map, rest) = rest.split_once('[')?.1.split_once(')')?;
        let mut words = rest.split_once("]: ")?.1.split_whitespace();
        let executable = words.next()?.contains('x');
        let without_file =
            words.next().is_none_or(|name| !name.starts_with('/') || name == "//anon");
        let (start, len) = map.split_once('(')?;
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let start = number(start)?;
        (executable && without_file).then_some(start..start.wrapping_add(number(len)?))
    };
    Ok(text.lines().filter_map(range).collect())
}

/// Runs the command, reads its output and reports its size.
fn read_chains(
    command: &mut Command,
    good: &[i32],
    read: impl FnOnce(compared::Output<'_>) -> Result<Chains>,
) -> Result<Chains> {
    let begin = Instant::now();
    let chains = compared::read_output(command, good, read)?;
    eprintln!(
        "  {} samples, {} user frames, {:.2?}",
        chains.samples.len(),
        chains.frames.len(),
        begin.elapsed()
    );
    Ok(chains)
}
