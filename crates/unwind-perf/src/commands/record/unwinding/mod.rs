//! `record --unwind`: perf writes to a pipe, and the stacks are unwound as they arrive.
//!
//! ```text
//!   program   waits at a FIFO | runs ............... ends
//!   perf      attaches | enabled by its control FIFO ...... stopped by it
//!   this            unwinds, writes callchains .................. completes the file
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "a place where perf is started and the recording is created"
)]

mod live_view;
mod messages;
mod output;
mod perf_control;
mod perf_messages;
mod recording_files;
mod rotated;
mod second_perf;
mod stack_tip;
mod started;
mod unwinder;
mod unwound;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, bail};
use host::ScratchDir;
use signal_hook::consts::SIGUSR2;

use self::live_view::LiveView;
use self::messages::{OutputKind, UnwoundAccount};
pub(in crate::commands) use self::output::RecordingOutput;
use self::perf_control::{EndOfRecording, PerfControl, PerfFifos};
use self::perf_messages::pass_on;
use self::recording_files::{LocalFiles, OutputFacts, OutputForm};
use self::rotated::RotationRules;
use self::second_perf::{PerfSuccession, SecondPerf};
use self::stack_tip::stack_tip;
use self::started::WaitingProgram;
pub(crate) use self::started::start_program;
pub(crate) use self::unwinder::unwind_recording;
use self::unwinder::{Unwinder, WrittenRecording};
pub(in crate::commands) use self::unwound::write_unwound;
use super::exit_status::exit_status;
use super::options::{Abilities, RecordTarget, perf_arguments};
use super::previous::{PreviousRecordings, make_old};
use super::probes::SetProbes;
use super::store::StoreChoice;
use super::{CompleteRecording, in_shell};
use crate::args::{RecordArgs, StackSize, host};
use crate::terminal::{Status, print_error, print_note};

/// Exit status if there is no recording.
const NOT_RECORDED: u8 = 125;
/// How often a starting perf is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Records, unwinds meanwhile, and passes the recording to `use_it` if there is one. Returns the status of the recorded
/// program.
pub(super) fn record(
    args: &RecordArgs,
    recording: &Path,
    probes: &SetProbes,
    use_it: impl FnOnce(CompleteRecording<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    let folder =
        ScratchDir::below(&std::env::temp_dir()).context("cannot write the temporary folder")?;
    let previous = PreviousRecordings::of(recording);
    let ended = match start(args, recording, folder.path(), probes) {
        Ok(running) => running.wait(probes)?,
        Err(error) => {
            previous.restore();
            return Err(error);
        }
    };
    let EndedRecording { written, perf, program, was_stopped, was_succeeded } = ended;
    let status = Status::Ended(exit_status(program.unwrap_or(perf)));
    let WrittenRecording { path, account } = written;
    let UnwoundAccount { samples, omitted, needs, overlap, dropped, failed } = account;
    if samples == 0 {
        previous.restore();
        print_error(failed.as_deref().unwrap_or("the recording has no samples"));
        return Ok(if program.is_some() { status } else { Status::Ended(NOT_RECORDED) });
    }
    previous.accept_new();
    if let Some(error) = failed {
        print_error(&format!("{error}; the recording ends there"));
    } else if !perf.success() && !was_stopped {
        print_error(&format!("perf ended early ({perf}); the recording ends there"));
    }
    if omitted > 0 {
        print_note(&format!("{omitted} samples are damaged and not in the recording"));
    }
    if overlap > 0 && !args.quiet {
        print_note(&format!("{overlap} samples of both perfs are not in the recording twice"));
    }
    if dropped > 0 {
        print_note(&format!(
            "the unwinder was behind: {dropped} samples have no stack. Record fewer samples (-F) or smaller stacks (--stack-size)"
        ));
    }
    let recorded = args.stack_size.bytes().into();
    let stack_tip = if was_succeeded { None } else { stack_tip(&needs.0, recorded, needs.1) };
    use_it(CompleteRecording { path: &path, stack_tip })?;
    Ok(status)
}

/// perf, and the threads that read its output.
struct Recorder {
    perf: Child,
    second: SecondPerf,
    unwinder: Unwinder,
    messages: JoinHandle<()>,
    /// The view of the recording in progress, if there is one.
    view: Option<LiveView>,
}

/// A recording in progress.
struct RunningRecording {
    recorder: Recorder,
    end: EndOfRecording,
}

/// An ended recording.
struct EndedRecording {
    written: WrittenRecording,
    perf: ExitStatus,
    program: Option<ExitStatus>,
    /// True if perf was asked to end.
    was_stopped: bool,
    /// True if a second perf had other stack copies.
    was_succeeded: bool,
}

/// Starts perf, the unwinder and then the program.
fn start(
    args: &RecordArgs,
    recording: &Path,
    folder: &Path,
    probes: &SetProbes,
) -> anyhow::Result<RunningRecording> {
    let program = match args.command.as_slice() {
        [] => None,
        command => Some(WaitingProgram::new(command, folder).context("cannot start a process")?),
    };
    let started = start_recorder(args, recording, folder, program.as_ref());
    let (recorder, control) = match started {
        Ok(started) => started,
        Err(error) => {
            program.into_iter().for_each(WaitingProgram::give_up);
            return Err(error);
        }
    };
    let program = program.map(WaitingProgram::start).transpose();
    let end = control.end_with(program.context("cannot start the program")?)?;
    if probes.was_interrupted() {
        end.stop();
    }
    Ok(RunningRecording { recorder, end })
}

impl RunningRecording {
    fn wait(self, probes: &SetProbes) -> anyhow::Result<EndedRecording> {
        let Recorder { mut perf, second, unwinder, messages, view } = self.recorder;
        let written = unwinder.wait();
        let first = perf.wait().context("perf cannot be waited for")?;
        let second = second.wait().context("perf cannot be waited for")?;
        // A second perf that was given up has not recorded.
        let was_succeeded = self.end.was_succeeded();
        let perf = second.filter(|_| was_succeeded).unwrap_or(first);
        let _ = messages.join();
        view.into_iter().for_each(LiveView::end);
        let was_stopped = self.end.was_stopped();
        // Signals end this process from the next step on.
        probes.remove();
        let program = self.end.program_status();
        Ok(EndedRecording { written, perf, program, was_stopped, was_succeeded })
    }
}

/// Starts perf with its events disabled, and the unwinder of its output; enables the events once perf is ready.
fn start_recorder(
    args: &RecordArgs,
    recording: &Path,
    folder: &Path,
    program: Option<&WaitingProgram>,
) -> anyhow::Result<(Recorder, Arc<PerfControl>)> {
    let control = Arc::new(PerfControl::new(folder).context("cannot create FIFOs for perf")?);
    let abilities = Abilities::find(&args.perf, &*host());
    let words = words(args, folder, program, &abilities);
    if !args.quiet {
        eprintln!("{} | unwind-perf", in_shell(&args.perf, &words));
        if args.command.is_empty() {
            eprintln!("Press Ctrl-C to end the recording.");
        }
    }
    let second = SecondPerf::default();
    let succession = succession(args, folder, &abilities, &control, &second);
    let (mut files, first, kind) = output(args, recording, &abilities, &control, succession)?;
    let started = Command::new(&args.perf)
        .args(&words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut perf = started
        .inspect_err(|_| files.discard())
        .with_context(|| format!("cannot start {}", args.perf.display()))?;
    let stream = perf.stdout.take().context("perf has no output")?;
    let messages = pass_on(perf.stderr.take().context("perf has no messages")?);
    // perf first writes the maps of all processes, which do not fit into a pipe.
    let (view, stream) = match args.is_live() {
        false => (None, OwnedFd::from(stream)),
        true => {
            let started = LiveView::start(stream.into(), args.quiet).inspect_err(|_| {
                files.discard();
                // It would wait to be enabled.
                let _ = perf.kill();
                let _ = perf.wait();
            });
            let (view, stream) = started.context("the live view cannot be started")?;
            (Some(view), stream)
        }
    };
    let unwinder = Unwinder::start(stream, files, first, kind).inspect_err(|_| {
        // It would wait to be enabled.
        let _ = perf.kill();
        let _ = perf.wait();
    });
    let unwinder = unwinder.context("the unwinder cannot be started")?;
    control.first.send("enable")?;
    while !control.first.is_ready(LOOK)? {
        if let Some(ended) = perf.try_wait()? {
            let (_, _) = (unwinder.wait(), messages.join());
            view.into_iter().for_each(LiveView::end);
            bail!("perf did not start to record ({ended})");
        }
    }
    Ok((Recorder { perf, second, unwinder, messages, view }, control))
}

/// Returns the command that records the same with perf alone; the header states it, since perf's own words do not name
/// the program.
fn equivalent_command(args: &RecordArgs, recording: &Path, abilities: &Abilities) -> Vec<Vec<u8>> {
    let words = perf_arguments(args, RecordTarget::File(recording), abilities);
    let perf = args.perf.clone().into_os_string();
    std::iter::once(perf).chain(words).map(OsString::into_encoded_bytes).collect()
}

/// Creates the first file of the recording.
fn output(
    args: &RecordArgs,
    recording: &Path,
    abilities: &Abilities,
    control: &Arc<PerfControl>,
    succession: Option<PerfSuccession>,
) -> anyhow::Result<(LocalFiles, File, OutputKind)> {
    let request = Arc::<AtomicBool>::default();
    let form = match (args.every, args.last) {
        (Some(every), _) => {
            let (keep, most) = (args.keep, args.max_size);
            OutputForm::Rotated(RotationRules { every, keep, most })
        }
        (None, Some(_)) => OutputForm::Last,
        (None, None) => OutputForm::File(args.max_size),
    };
    if !matches!(form, OutputForm::File(_)) {
        signal_hook::flag::register(SIGUSR2, Arc::clone(&request))?;
        if !args.quiet {
            let what = if args.every.is_some() { "begins the next file" } else { "writes a file" };
            eprintln!("kill -USR2 {} {what}", std::process::id());
        }
    }
    if !matches!(form, OutputForm::Rotated(_)) {
        make_old(recording).with_context(|| format!("cannot replace {}", recording.display()))?;
    }
    let (control, store) = (Arc::clone(control), StoreChoice::of(args));
    let kind = OutputKind {
        has_further_files: args.every.is_some(),
        last: args.last.map(|kept| u64::try_from(kept.as_nanos()).unwrap_or(u64::MAX)),
        drops_stacks: true,
        is_compressed: !args.no_compress,
        finds_stack_size: succession.is_some(),
        command_line: Some(equivalent_command(args, recording, abilities)),
    };
    let facts = OutputFacts {
        path: recording.to_owned(),
        request,
        stop: Box::new(move || control.stop()),
        completed: Box::new(move |path| {
            if let Some(store) = &store {
                store.store_beside(path);
            }
        }),
        succession,
        is_quiet: args.quiet,
    };
    let created = LocalFiles::new(form, facts);
    let (files, first) =
        created.with_context(|| format!("cannot write {}", recording.display()))?;
    Ok((files, first, kind))
}

/// Returns what starts a perf with smaller stack copies, if the user asks for it. Children that a program has already
/// forked would not be recorded by it.
fn succession(
    args: &RecordArgs,
    folder: &Path,
    abilities: &Abilities,
    control: &Arc<PerfControl>,
    second: &SecondPerf,
) -> Option<PerfSuccession> {
    let is_wanted = args.stack_size == StackSize::Auto;
    let has_target = args.is_system_wide() || !args.pid.is_empty();
    (is_wanted && has_target).then(|| PerfSuccession {
        args: args.clone(),
        abilities: abilities.clone(),
        folder: folder.join("second"),
        control: Arc::clone(control),
        second: second.clone(),
    })
}

/// Returns the arguments of perf.
fn words(
    args: &RecordArgs,
    folder: &Path,
    program: Option<&WaitingProgram>,
    abilities: &Abilities,
) -> Vec<OsString> {
    let mut words = perf_arguments(args, RecordTarget::Stream, abilities);
    if let Some(program) = program.filter(|_| !args.is_system_wide() && args.pid.is_empty()) {
        words.extend(["-p".into(), program.id().to_string().into()]);
    }
    words.extend(PerfFifos::arguments(folder));
    words
}
