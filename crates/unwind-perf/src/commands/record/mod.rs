//! `unwind-perf record`: starts `perf record` with the options that serve best, and says how good the recording is. It
//! is the one command that starts another program.

mod options;
mod run;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use host::Origin;
use pipeline::{NameOptions, Observer, Options, Unobserved};
use signal_hook::consts::SIGINT;

use crate::args::{RecordArgs, host, pipeline, source};
use crate::terminal::{Status, print_error, print_summary, shown};

/// Records, and looks at what was recorded.
pub(super) fn run(args: &RecordArgs) -> anyhow::Result<Status> {
    if args.command.is_empty() && args.pid.is_empty() && !args.all_cpus {
        bail!(
            "what is to be recorded? Name a command (record -- COMMAND), processes (-p PID) or all (-a)"
        );
    }
    let words = options::perf_arguments(args, &*host());
    if !args.quiet {
        eprintln!("{}", in_shell(&args.perf, &words));
        if args.command.is_empty() {
            eprintln!("Ctrl-C ends the recording");
        }
    }
    let before = host().stat(&args.output, Origin::User).ok();
    let ended = run::perf(&args.perf, &words)
        .with_context(|| format!("cannot start {}", args.perf.display()))?;
    // What perf keeps of an older recording is no result.
    let after = host().stat(&args.output, Origin::User).ok();
    if after.is_none() || after == before {
        bail!("perf wrote no recording ({ended})");
    }
    let recorded = look_at(args)?;
    // Where a signal ended the recording, perf ends by it, too.
    if !ended.success() && ended.signal() != Some(SIGINT) {
        print_error(&format!("perf or the recorded command ended with {ended}"));
        return Ok(Status::Incomplete);
    }
    Ok(recorded)
}

/// Says what was lost, and how complete the stacks are.
fn look_at(args: &RecordArgs) -> anyhow::Result<Status> {
    let path: &Path = &args.output;
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    // How complete the stacks are shows without names.
    let names = NameOptions { look_up: false, ..NameOptions::default() };
    let options = Options { names, ..Options::default() };
    let analysis = pipeline()
        .analyze(source(path), &options, &observer)
        .with_context(|| format!("the recording {} cannot be used", path.display()))?;
    if !args.quiet {
        print_summary(&analysis.profile)?;
        let name = shown(&path.display().to_string());
        eprintln!("next: unwind-perf top {name}, or unwind-perf report {name} -o report.html");
        if args.off_cpu {
            eprintln!("where threads wait: unwind-perf tree --weight off-cpu {name}");
        }
    }
    Ok(if analysis.is_damaged { Status::Damaged } else { Status::Complete })
}

/// The command as one would type it.
fn in_shell(program: &Path, words: &[OsString]) -> String {
    let all = std::iter::once(program.as_os_str()).chain(words.iter().map(|word| &**word));
    let quoted = all.map(|word| {
        let word = shown(&word.to_string_lossy());
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_typed() {
        let words = ["record", "--", "a b", "it's", ""].map(OsString::from);
        assert_eq!(in_shell(Path::new("perf"), &words), r"perf record -- 'a b' 'it'\''s' ''");
    }
}
