//! Stacks that reach a root, according to our program and to perf.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::chain::{Chains, Frame};
use super::oracle::{Evidence, Oracle, Ruling};
use super::verdict::{self, Naming};
use super::{Input, MAX_FRAMES, NO_TAIL_CALLS, anonymous_code, chains, names, ndjson, read_chains};
use crate::compared;
use crate::strings::StringTable;

/// The outermost functions of programs and threads, with perf's names.
const OUTERMOST: [&str; 10] = [
    "_start",
    "start_thread",
    "__clone3",
    "clone3",
    "__clone",
    "clone",
    "__clone_internal",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
];

/// The stacks of a recording.
pub(crate) struct Roots {
    /// User stacks.
    pub(crate) chains: Vec<Chain>,
    /// Number of our chains that differ from perf's and have a frame that the binaries prove wrong.
    pub(crate) ours_proven_wrong: u64,
}

/// A user stack: end reason of ours, and true if perf's reaches a root.
pub(crate) struct Chain {
    pub(crate) end: String,
    pub(crate) perf: bool,
}

/// Runs both on a recording. Frames completed from other samples are left out.
pub(crate) fn roots(recording: &Path, ours: &Path) -> Result<Roots> {
    let mut words = StringTable::new();
    let input = Input { file: recording.to_owned(), sysroot: None, tail_calls: false };
    let mut command = Command::new(ours);
    command.args(["--format", "ndjson", "--no-inline", "--quiet", "--no-join"]);
    command.args(compared::options_of(ours, &[NO_TAIL_CALLS])?).arg(recording);
    let mut left = read_chains(&mut command, &[0, 1], |output| ndjson::read(output, &mut words))?;
    let mut right = chains("perf", &input, None, &mut words)?;
    left.sort(&words);
    right.sort(&words);
    let chains = beside(&left, &right, &words);
    let forms = names::comparable(&mut words)?;
    let naming = Naming { words: &words, forms: &forms, joins: false };
    let anonymous = anonymous_code(recording)?;
    let mut oracle = Oracle::new(Evidence {
        words: &words,
        sysroot: None,
        build_ids: &left.build_ids,
        anonymous_code: Some(&anonymous),
    });
    let tally = verdict::compare([&left, &right], &naming, &mut oracle, MAX_FRAMES);
    let is_ours = |ruling: Ruling| matches!(ruling, Ruling::OursWrong | Ruling::BothWrong);
    let wrong =
        tally.rulings.iter().filter(|&(&(_, ruling), _)| is_ours(ruling)).map(|(_, count)| count);
    Ok(Roots { chains, ours_proven_wrong: wrong.sum() })
}

/// Compares our user stacks with those of perf.
fn beside(ours: &Chains, perf: &Chains, words: &StringTable) -> Vec<Chain> {
    let mut others = perf.samples.iter().peekable();
    let mut found = Vec::new();
    for sample in &ours.samples {
        let key = (sample.time, sample.tid);
        while others.next_if(|other| (other.time, other.tid) < key).is_some() {}
        let other = others.next_if(|other| (other.time, other.tid) == key);
        if sample.n_user == 0 {
            continue;
        }
        let end = words.text(sample.end).to_owned();
        let root = end.starts_with("root").then(|| ours.user(sample).last()).flatten();
        let outermost = other.and_then(|other| perf.user(other).last());
        let same = |frame: &Frame| root.is_some_and(|root| root.same_location(frame));
        let named = |frame: &Frame| OUTERMOST.contains(&words.text(frame.symbol));
        found.push(Chain { end, perf: outermost.is_some_and(|frame| same(frame) || named(frame)) });
    }
    found
}
