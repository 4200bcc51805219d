//! `unwind-perf record`: starts `perf record` with the best options, reports the quality of the recording, and stores
//! the files that it needs.
//!
//! It is the only command that starts other programs, and it ends with the status of the recorded one.

mod bundled;
mod cgroup;
mod container;
mod exit_status;
mod frequency;
mod installed;
mod options;
mod preconditions;
mod previous;
mod probes;
mod refusal;
mod run;
mod store;
mod unwinding;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use host::Host;
use pipeline::{Analysis, Error, NameOptions, Observer, Options, Unobserved};

use self::bundled::BundledRecording;
use self::cgroup::Hierarchy;
use self::container::RunningContainer;
use self::options::{Abilities, RecordTarget, perf_arguments};
use self::previous::PreviousRecordings;
use self::probes::SetProbes;
use self::store::{StoreChoice, store_files};
pub(super) use self::unwinding::{RecordingOutput, write_unwound};
pub(crate) use self::unwinding::{start_program, unwind_recording};
use crate::args::{Cli, RecordArgs, StackSize, host, pipeline, source, with_argument};
use crate::commands;
use crate::terminal::{
    Status, print_damage, print_error, print_note, print_summary, shown, summary_text, to_terminal,
};

/// Records a program, and examines the recording.
pub(super) fn run(args: &RecordArgs) -> anyhow::Result<Status> {
    if args.command.is_empty() && args.pid.is_empty() && !args.is_system_wide() {
        bail!(
            "name a command (record -- COMMAND), processes (-p PID, --cgroup, --container) or all (-a)"
        );
    }
    if let Some(word) = args.command.first().filter(|it| it.as_encoded_bytes().starts_with(b"-")) {
        bail!("record has no option {}; see record --help", word.display());
    }
    if args.output == Path::new("-") {
        bail!("-o - is not supported; use perf record -o - for a stream");
    }
    if args.stack_size == StackSize::Auto && !args.unwind {
        bail!("--stack-size auto needs --unwind, which measures the stacks while it records");
    }
    if args.stack_size == StackSize::Auto && args.is_live() {
        bail!("--live shows the stream of one perf; name a number for --stack-size");
    }
    if args.open && !to_terminal() {
        bail!("--open needs a terminal; write the page with unwind-perf report -o FILE");
    }
    if let Some(path) = &args.buildid_dir
        && let Some(distrust) = host().distrust(path)
    {
        let (option, path) = ("buildid_dirs", path.clone());
        return Err(with_argument(Error::SharedFolder { option, path, distrust }));
    }
    let is_bundle = is_bundle(args)?;
    let args = &with_group(args, &*host())?;
    preconditions::check(args, &*host())?;
    if !is_bundle {
        return record(args, &args.output, |recorded| look_at(args, &recorded));
    }
    let packed = BundledRecording::new(&args.output)?;
    record(args, packed.recording(), |recorded| packed.pack(args, &recorded))
}

/// Returns the arguments with the name of the control group that perf records.
fn with_group(args: &RecordArgs, host: &dyn Host) -> anyhow::Result<RecordArgs> {
    let mut args = args.clone();
    if let Some(path) = &args.cgroup {
        let found = Hierarchy::find(host).and_then(|hierarchy| hierarchy.group(path, host));
        let named = || format!("--cgroup {}", shown(&path.to_string_lossy()));
        args.cgroup = Some(found.with_context(named)?);
    }
    if let Some(name) = &args.container {
        let found = container::find(name).and_then(|container| {
            let group = Hierarchy::find(host)?.of_container(&container, host)?;
            Ok((container, group))
        });
        let (RunningContainer { runtime, pid, .. }, group) =
            found.with_context(|| format!("--container {}", shown(name)))?;
        if !args.quiet {
            let name = shown(name);
            print_note(&format!("{runtime} runs {name}; its first process is {pid}"));
        }
        args.cgroup = Some(group);
    }
    Ok(args)
}

/// Returns true if the recording becomes a bundle.
fn is_bundle(args: &RecordArgs) -> anyhow::Result<bool> {
    let is_named = args.output.extension().is_some_and(|it| it == "upb");
    if is_named && (args.every.is_some() || args.last.is_some() || args.max_size.is_some()) {
        bail!("--every, --last and --max-size write recordings; bundle FILE bundles one later");
    }
    let has_store = args.buildid_dir.is_some() || args.store_size.is_some() || args.no_store;
    if is_named && has_store {
        bail!("a bundle contains its files; omit --buildid-dir, --store-size and --no-store");
    }
    Ok(args.bundle || is_named)
}

/// A complete recording.
struct CompleteRecording<'p> {
    /// Its file, the last one if there are several.
    path: &'p Path,
    /// Advice on the size of the stack copies, if the recording does not have them.
    stack_tip: Option<String>,
}

/// Records, and passes the last file of the recording to `use_it` if there is one. Returns the status of the recorded program.
fn record(
    args: &RecordArgs,
    recording: &Path,
    use_it: impl FnOnce(CompleteRecording<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    let (probes, args) = SetProbes::set(args, &*host())?;
    if args.unwind {
        unwinding::record(&args, recording, &probes, use_it)
    } else {
        record_stacks(&args, recording, &probes, use_it)
    }
}

/// Records with perf alone, as [`record`].
fn record_stacks(
    args: &RecordArgs,
    recording: &Path,
    probes: &SetProbes,
    use_it: impl FnOnce(CompleteRecording<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    let abilities = Abilities::find(&args.perf, &*host());
    let words = perf_arguments(args, RecordTarget::File(recording), &abilities);
    if !args.quiet {
        eprintln!("{}", in_shell(&args.perf, &words));
        if args.command.is_empty() {
            eprintln!("Press Ctrl-C to end the recording.");
        }
    }
    let previous = PreviousRecordings::of(recording);
    let ended = match run::perf(&args.perf, &words, probes) {
        Ok(ended) => ended,
        Err(error) => {
            previous.restore();
            return Err(error).with_context(|| format!("cannot start {}", args.perf.display()));
        }
    };
    if !is_recorded(recording, &previous, ended) {
        previous.restore();
        let message = format!("perf wrote no recording ({ended})");
        let Some(status) = exit_status::cannot_start(&args.command, ended, &*host()) else {
            bail!(message);
        };
        print_error(&message);
        return Ok(Status::Ended(status));
    }
    previous.accept_new();
    use_it(CompleteRecording { path: recording, stack_tip: None })?;
    Ok(Status::Ended(exit_status::exit_status(ended)))
}

/// Returns true if there is a new recording. perf writes the start of one before it starts the program.
fn is_recorded(recording: &Path, previous: &PreviousRecordings, ended: ExitStatus) -> bool {
    // An older recording that perf left in place is not a result.
    if !previous.is_replaced() {
        return false;
    }
    // A recording with samples but without a complete header means that perf was killed.
    ended.success()
        || !exit_status::is_unfinished(recording, &*host())
        || analyze(recording).is_ok_and(|analysis| !analysis.profile.samples.is_empty())
}

/// Analyses the recording without names, which suffices to judge the stacks.
fn analyze(recording: &Path) -> anyhow::Result<Analysis> {
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let names = NameOptions { look_up: false, ..NameOptions::default() };
    let options = Options { names, ..Options::default() };
    let analysis = pipeline().analyze(source(recording), &options, &observer);
    analysis.with_context(|| format!("the recording {} cannot be used", recording.display()))
}

/// Prints the losses and the completeness of the stacks, unless a page follows with its own account.
fn account(
    args: &RecordArgs,
    recorded: &CompleteRecording<'_>,
    analysis: &Analysis,
) -> anyhow::Result<()> {
    if args.open {
        return Ok(());
    }
    if !args.quiet {
        print_summary(&summary_text(analysis, args.verbose)?);
        recorded.stack_tip.iter().for_each(|tip| print_note(tip));
    } else if analysis.is_damaged {
        print_damage(analysis);
    }
    Ok(())
}

/// Reports the quality of the recording, and stores its files.
fn look_at(args: &RecordArgs, recorded: &CompleteRecording<'_>) -> anyhow::Result<()> {
    let recording = recorded.path;
    let analysis = analyze(recording)?;
    account(args, recorded, &analysis)?;
    let stored = StoreChoice::of(args);
    let stored = stored.map(|it| store_files(&it, recording, &analysis, &*host()));
    if !args.quiet {
        stored.iter().for_each(|line| eprintln!("{line}"));
    }
    show(args, recording)
}

/// Opens the page of the recording, or prints the commands that show it.
fn show(args: &RecordArgs, recording: &Path) -> anyhow::Result<()> {
    if args.open {
        return open_page(args, recording);
    }
    if !args.quiet {
        next(args, recording);
    }
    Ok(())
}

/// Runs `report`, which reports the quality of the recording as well.
fn open_page(args: &RecordArgs, recording: &Path) -> anyhow::Result<()> {
    let mut words: Vec<OsString> = vec!["unwind-perf".into(), "report".into()];
    words.extend(args.quiet.then(|| "--quiet".into()));
    words.extend(args.verbose.then(|| "--verbose".into()));
    if let Some(dir) = &args.buildid_dir {
        words.extend(["--buildid-dir".into(), dir.into()]);
    }
    words.extend(["--".into(), recording.into()]);
    // The recording is complete, and its status is that of the program.
    if let Err(error) = commands::run(&Cli::try_parse_from(words)?) {
        print_error(&format!("the page cannot be written: {error:#}"));
    }
    Ok(())
}

/// Prints the commands that show the recording.
fn next(args: &RecordArgs, recording: &Path) {
    let name = in_shell(recording, &[]);
    let store = args.buildid_dir.as_ref();
    let store =
        store.map_or_else(String::new, |it| format!(" --buildid-dir {}", in_shell(it, &[])));
    eprintln!(
        "next: unwind-perf top{store} {name}, or unwind-perf report{store} {name} -o report.html"
    );
    if args.off_cpu {
        eprintln!("where threads wait: unwind-perf tree{store} --weight off-cpu {name}");
    }
}

/// Returns the command line, quoted for a shell.
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
