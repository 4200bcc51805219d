//! A run from its source to its profile: opens the recording, drives it by the requested schedule, and accounts for it.
//! If the fast path fails, it starts the recording over.

use std::sync::Arc;

use module_map::Timeline;
use perf_data::{Event, Findings, Head, Input, SampleType, Session};
use profile::LocationId;
use replay::Replay;
use symbolizer::KernelListPrefetch;

use super::analysis::{Analysis, FinishedRun};
use super::assemble::{add_head, add_modules, add_threads};
use super::driver::{Driver, Reading, Walked};
use super::input::{LiveReader, OpenedRecording, can_be_read_again, check_whole, open_with};
use super::off_cpu::{add_off_cpu, name_asleep, off_cpu_findings};
use super::run::Run;
use super::schedule::by_samples::StepRule;
use super::schedule::{ReadOutcome, ReadPath, Schedule, StreamOptions, at_end, by_samples, ticks};
use super::sink::{NoSink, Sink};
use super::values::history_findings;
use crate::error::Error;
use crate::files::Files;
use crate::names::{NameReport, resolve};
use crate::observer::{Stage, begin};
use crate::setting::Setting;
use crate::source::Source;
use crate::timings::Timings;

/// Opens, replays and symbolizes a recording, and returns its profile at the end. If the fast path fails, the recording
/// is opened again for the slow path.
pub(crate) fn analyze(setting: &Setting<'_>, source: Source) -> Result<Analysis, Error> {
    let mut timings = Timings::start();
    // A recording that can be read only once goes the slow path immediately.
    let again = can_be_read_again(&**setting.host, &source).then(|| source.name().to_owned());
    let way = ReadPath::AtEnd { fast: again.is_some() };
    if let Some(analysis) = attempt(setting, source, way, &mut NoSink, &mut timings)? {
        return Ok(analysis);
    }
    let source = Source::Path(again.ok_or(Error::BrokenOff)?);
    let way = ReadPath::AtEnd { fast: false };
    attempt(setting, source, way, &mut NoSink, &mut timings)?.ok_or(Error::BrokenOff)
}

/// Opens, replays and symbolizes a recording in steps.
pub(crate) fn analyze_in_steps(
    setting: &Setting<'_>,
    source: Source,
    stream: StreamOptions,
    sink: &mut dyn Sink,
) -> Result<Analysis, Error> {
    if setting.options.off_cpu {
        return Err(Error::OffCpuWhileGrowing);
    }
    if setting.options.needs_whole_recording() {
        return Err(Error::NeedsWholeRecording);
    }
    let way = ReadPath::InSteps(stream);
    attempt(setting, source, way, sink, &mut Timings::start())?.ok_or(Error::BrokenOff)
}

/// Takes a recording one path; `None` if the path failed.
fn attempt(
    setting: &Setting<'_>,
    source: Source,
    way: ReadPath,
    sink: &mut dyn Sink,
    timings: &mut Timings,
) -> Result<Option<Analysis>, Error> {
    begin(setting.observer, Stage::Reading);
    let reader = LiveReader::default();
    let mut is_stream = false;
    let stream = |bytes| match way {
        ReadPath::AtEnd { .. } => Input::Stream(host::ByteStream::into_reader(bytes)),
        ReadPath::InSteps(_) => {
            is_stream = true;
            reader.input(bytes, setting.observer)
        }
    };
    let OpenedRecording { input, path, size, pages, damage } =
        open_with(&**setting.host, source, stream)?;
    let run = Run::new(setting, path, size).giving_back(pages);
    let mut found = Findings::default();
    let session = Session::open_within(input, way.reading(&run), &setting.memory, &mut found);
    run.go_on()?;
    let session = session.map_err(|it| run.recording_error(it))?;
    if let ReadPath::InSteps(stream) = way
        && stream.needs_arch
        && has_stacks(&session)
        && session.head().machine().arch.is_none()
    {
        return Err(Error::UnknownProcessor);
    }
    timings.ended("open");
    let reading = Reading { session, found, is_stream };
    let analysis = run.drive(reading, way, sink, timings);
    check_whole(run.path(), &damage)?;
    analysis
}

/// Returns true if samples have registers and stacks, which need a known processor; recorded callchains do not.
fn has_stacks(session: &Session) -> bool {
    let wanted = |event: &Event| event.attr.sample_type.has(SampleType::REGS_USER);
    session.head().events().iter().any(wanted)
}

impl Run<'_> {
    /// Takes a recording from its first batch to the account of the run.
    fn drive(
        &self,
        reading: Reading,
        way: ReadPath,
        sink: &mut dyn Sink,
        timings: &mut Timings,
    ) -> Result<Option<Analysis>, Error> {
        let head = reading.session.head();
        if way.drops_files() {
            // The state that other runs share would not be dropped.
            self.setting.renew();
        }
        let files = Arc::new(if way.is_watched() {
            Files::new(self.setting, head, None, None)?
        } else {
            self.files(head)?
        });
        let learn_files = !matches!(way, ReadPath::AtEnd { fast: true });
        let options = self.replay_options(head, learn_files)?;
        let mut timeline = files.timeline();
        let replayer = self.replayer(&mut timeline, &files, &options);
        let mut driver = Driver::new(self, reading, replayer, files, sink);
        let outcome = match way {
            ReadPath::AtEnd { fast } => at_end::follow(&mut driver, fast, timings)?,
            ReadPath::InSteps(stream) => match stream.schedule {
                Schedule::BySamples => {
                    by_samples::follow(&mut driver, StepRule::OfStream, timings)?
                }
                Schedule::ByTime => by_samples::follow(&mut driver, StepRule::ByTime, timings)?,
                Schedule::Ticks(how) => ticks::follow(&mut driver, how)?,
            },
        };
        if outcome == ReadOutcome::Failed {
            return Ok(None);
        }
        let walked = driver.finish();
        timings.ended("replay");
        if let Some(variables) = &options.variables
            && !walked.replay.profile.samples.is_empty()
            && let Some((text, problem)) = variables.unanswered(&walked.files.images)
        {
            return Err(Error::FunctionVariable { text, problem });
        }
        self.account(walked, way, timeline, timings).map(Some)
    }

    /// Completes the profile: outstanding names and the account of the run.
    fn account(
        &self,
        walked: Walked,
        way: ReadPath,
        timeline: Timeline,
        timings: &mut Timings,
    ) -> Result<Analysis, Error> {
        let Walked { session, found, mut replay, prefetched, mut report, files } = walked;
        self.go_on()?;
        add_head(&mut replay.profile, session.head(), &self.head_selection());
        let names_come_last = matches!(way, ReadPath::AtEnd { .. });
        if names_come_last {
            begin(self.observer, Stage::Symbolizing);
            let head = session.head();
            report = self.name_all(&mut replay, head, &files, &timeline, prefetched)?;
        }
        self.store_rules(&mut report);
        if names_come_last {
            timings.ended("symbolize");
            self.go_on()?;
            let fold = self.options.names.fold_threads;
            add_threads(&mut replay.profile, &replay.threads, &timeline, fold);
        }
        let Replay {
            profile,
            missed_maps,
            rejected: left_out,
            off_cpu,
            history,
            timings: times,
            mut held,
            ..
        } = replay;
        timings.replay = times;
        let (engine, file) = (self.engine(), self.file());
        let ended = FinishedRun {
            session,
            found,
            files,
            timeline,
            missed_maps,
            left_out,
            engine,
            report,
            file,
        };
        let spelling = self.setting.spelling;
        let mut analysis = ended.into_analysis(profile, timings.clone(), spelling);
        let findings =
            off_cpu.iter().flat_map(|times| off_cpu_findings(&analysis.profile, times, spelling));
        let findings: Vec<_> = findings.collect();
        analysis.profile.summary.findings.extend(findings);
        let findings = history_findings(&analysis.profile, history, spelling);
        analysis.profile.summary.findings.extend(findings);
        if names_come_last {
            held.set(analysis.profile.heap_bytes() as u64);
            self.go_on()?;
            analysis.timings.ended("assemble");
        }
        Ok(analysis)
    }

    /// Adds off-CPU times and modules, and looks up the names of all locations.
    fn name_all(
        &self,
        replay: &mut Replay,
        head: &Head,
        files: &Files,
        timeline: &Timeline,
        prefetched: Option<KernelListPrefetch>,
    ) -> Result<NameReport, Error> {
        let Replay { profile, threads, off_cpu, .. } = replay;
        if let Some(times) = off_cpu {
            match add_off_cpu(profile, times, self.options.off_cpu_optional) {
                Err(_) if self.options.off_cpu_optional => {
                    *off_cpu = None;
                    profile.summary.threads_without_switch.clear();
                }
                result => result?,
            }
        }
        add_modules(profile, timeline, &files.images);
        let sources = self.sources(head, timeline, threads, files);
        let report = resolve(profile, LocationId::new(0), sources, prefetched);
        name_asleep(profile);
        profile.find_waits();
        Ok(report)
    }
}
