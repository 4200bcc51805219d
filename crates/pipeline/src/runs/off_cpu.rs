//! Off-CPU times as samples of an additional event. A thread that slept during the whole recording has one sample, with
//! the single frame `[asleep]`.

use options::{Remedy, Spelling};
use profile::{
    Advice, EndReason, EventId, EventRow, FindingRow, FoundBy, FrameRow, InlineRow, LayoutId,
    LayoutRow, LocationRow, Profile, RowId as _, SampleId, SampleRow, StackRow, Table, ThreadId,
    ThreadState, ThreadWithoutSwitch, WaitKind,
};
use replay::{OffCpuTimes, SampleKey};

use crate::error::Error;

/// The name of the event.
const NAME: &[u8] = b"off-cpu";
/// The name of the frame that replaces the stack of a thread without a switch.
const ASLEEP: &[u8] = b"[asleep]";

/// Adds a sample for each off-CPU time, at the time of the switch-out. With `is_extra`, counts of the run omit them.
///
/// # Errors
/// If there is no time to show.
pub(super) fn add_off_cpu(
    profile: &mut Profile,
    times: &OffCpuTimes,
    is_extra: bool,
) -> Result<(), Error> {
    let event = profile.events.next_id();
    let mut added: Vec<DerivedSample> = Vec::with_capacity(times.spans.len());
    for span in &times.spans {
        if let Some((from, shown_by)) = find(profile, span.shown_by) {
            let mut row = shown_by.with_time(Some(span.since)).with_period(Some(span.duration));
            row.event = event;
            let kind =
                if span.preempted == Some(true) { WaitKind::Preempted } else { WaitKind::Unknown };
            added.push((row.with_wait(kind, false), Some(from)));
        }
    }
    add_asleep(profile, times, &mut added);
    let switches = times.switches;
    if added.is_empty() {
        return Err(match times {
            _ if times.timeless > 0 => Error::NothingRan { threads: times.timeless },
            _ if switches == 0 => Error::NoSwitches,
            _ if times.without_end == switches => Error::NoReturns { switches },
            _ => Error::NoOffCpuSamples { switches },
        });
    }
    // Times with the same begin stay in the order of the samples that show them.
    added.sort_by_key(|(row, _)| row.time());
    merge(profile, added);
    // A software event with period 1.
    let name = profile.strings.intern(NAME);
    profile.events.push(EventRow { name, kind: 1, config: 0, frequency: false, rate: 1 });
    profile.off_cpu = Some(event);
    profile.off_cpu_is_extra = is_extra;
    profile.summary.samples = profile.counted_samples().count() as u64;
    Ok(())
}

/// Adds a sample without a stack for each thread that always slept, and lists the threads without a switch.
fn add_asleep(profile: &mut Profile, times: &OffCpuTimes, added: &mut Vec<DerivedSample>) {
    let event = profile.events.next_id();
    let rows = times.without_switches.iter().map(|it| ThreadWithoutSwitch {
        thread: ThreadId::new(it.thread),
        state: it.state,
        since: it.since,
        duration: it.duration,
    });
    profile.summary.threads_without_switch = rows.collect();
    let asleep = || {
        let all = profile.summary.threads_without_switch.iter();
        all.filter(|it| it.state == ThreadState::Asleep)
    };
    if asleep().next().is_none() {
        return;
    }
    let empty = profile.layouts.iter().position(|layout| layout.biases().is_empty());
    let layout = empty.map_or_else(|| profile.layouts.next_id(), LayoutId::from_index);
    added.extend(asleep().map(|it| {
        let row = SampleRow::new(it.thread, event, EndReason::NoSwitch, None, layout)
            .with_time(Some(it.since))
            .with_period(Some(it.duration))
            .with_wait(WaitKind::Unknown, false);
        (row, None)
    }));
    if empty.is_none() {
        profile.layouts.push(LayoutRow::default());
    }
}

/// Adds the frame of the samples of threads that always slept. It has its own location, so that its name applies to no
/// other frame. Call it after all other locations have their names.
pub(super) fn name_asleep(profile: &mut Profile) {
    let is_asleep = |row: &SampleRow| row.end == EndReason::NoSwitch;
    if !profile.samples.iter().any(is_asleep) {
        return;
    }
    let function = Some(profile.strings.intern(ASLEEP));
    let first_inline = profile.inlines.next_id();
    profile.inlines.push(InlineRow { function, ..InlineRow::NAMELESS });
    let row = LocationRow { first_inline, n_inlines: 1, ..LocationRow::unnamed(None, 0) };
    let location = profile.locations.push(row);
    let found_by = FoundBy::Gap;
    let frame = profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 });
    let stack = profile.stacks.push(StackRow { parent: None, frame });
    for sample in profile.samples.as_mut_slice().iter_mut().filter(|row| is_asleep(row)) {
        sample.stack = Some(stack);
    }
}

/// Returns the sample with this key.
fn find(profile: &Profile, key: SampleKey) -> Option<(SampleId, SampleRow)> {
    let (time, event) = (Some(key.time), EventId::new(key.event));
    let rows = profile.samples.as_slice();
    let first = rows.partition_point(|row| row.time() < time);
    let mut same_time = (first..).zip(rows.get(first..)?).take_while(|(_, row)| row.time() == time);
    let is_it = |row: &SampleRow| row.thread == ThreadId::new(key.thread) && row.event == event;
    let (at, row) = same_time.find(|(_, row)| is_it(row))?;
    Some((SampleId::from_index(at), *row))
}

/// A sample that was not recorded, and the recorded one that it is derived from.
type DerivedSample = (SampleRow, Option<SampleId>);

/// Inserts samples by time, after recorded samples of the same time. They have the labels of those that they are
/// derived from.
fn merge(profile: &mut Profile, added: Vec<DerivedSample>) {
    let recorded = std::mem::take(&mut profile.samples);
    let mut all = Vec::with_capacity(recorded.len() + added.len());
    let mut added = added.into_iter().peekable();
    let mut ids = Vec::new();
    let mut derived = Vec::new();
    let has_labels = profile.fields.has_labels();
    let mut push = |all: &mut Vec<SampleRow>, (row, from): DerivedSample| {
        if let Some(from) = from.filter(|_| has_labels) {
            derived.push((SampleId::from_index(all.len()), from));
        }
        all.push(row);
    };
    for &row in &recorded {
        while let Some(before) = added.next_if(|(it, _)| it.time() < row.time()) {
            push(&mut all, before);
        }
        if !profile.fields.has_nothing() {
            ids.push(SampleId::from_index(all.len()));
        }
        all.push(row);
    }
    added.for_each(|row| push(&mut all, row));
    let new_id = |sample: SampleId| ids.get(sample.index()).copied();
    profile.fields.renumber(new_id);
    let pairs = derived.into_iter().filter_map(|(to, from)| Some((to, new_id(from)?)));
    profile.fields.copy_labels(&pairs.collect::<Vec<_>>());
    profile.samples = Table::from_vec(all);
}

/// Returns the findings on off-CPU times and on the waits of a profile.
pub(super) fn off_cpu_findings(
    profile: &Profile,
    times: &OffCpuTimes,
    spelling: Spelling,
) -> Vec<FindingRow> {
    let mut rows = time_findings(times, spelling);
    let stateless = times.spans.iter().filter(|span| span.preempted.is_none()).count();
    let of_library = profile.samples.iter().filter(|row| row.wait_is_of_library()).count();
    let waits = [
        (
            "off-cpu-state-unknown",
            stateless,
            "times off the processor count as waits, for nothing shows whether another thread took the processor",
        ),
        (
            "off-cpu-kind-by-library",
            of_library,
            "waits have their kind from the name of a library function, for kernel functions have no names",
        ),
    ];
    let waits = waits.into_iter().filter(|(_, count, _)| *count > 0);
    rows.extend(waits.map(|(kind, count, message)| FindingRow {
        kind: kind.to_owned(),
        message: message.to_owned(),
        count: count as u64,
        help: None,
    }));
    rows
}

/// Returns the findings on incomplete times.
fn time_findings(times: &OffCpuTimes, spelling: Spelling) -> Vec<FindingRow> {
    let (unshown, nanoseconds) = times.without_sample;
    let seconds = nanoseconds as f64 / 1e9;
    let rows = [
        (
            "off-cpu-last-sample",
            times.by_last_sample,
            "times off the processor have the stack of the last sample before them, for none was taken when the thread \
             left"
                .to_owned(),
            Some(Remedy::SwitchEvent),
        ),
        (
            "off-cpu-without-sample",
            unshown,
            format!(
                "times off the processor, {seconds:.6} s in all, are left out, for no sample shows where the thread left"
            ),
            Some(Remedy::EachSwitchEvent),
        ),
        (
            "off-cpu-ended-by-sample",
            times.ended_by_sample,
            "times off the processor end with a sample that shows the thread running, for its return was not recorded, \
             and may be too long"
                .to_owned(),
            Some(Remedy::SwitchRecords),
        ),
        (
            "off-cpu-without-end",
            times.without_end,
            "times off the processor are left out, for nothing shows when the thread came back"
                .to_owned(),
            Some(Remedy::SwitchRecords),
        ),
        (
            "off-cpu-at-end",
            times.at_end,
            "threads were off the processor when the recording ended; their times end there"
                .to_owned(),
            None,
        ),
    ];
    let said = rows.into_iter().filter(|(_, count, ..)| *count > 0);
    said.map(|(kind, count, message, remedy)| {
        let help = remedy.map(|it| Advice::new(&it, spelling));
        FindingRow { kind: kind.to_owned(), message, count, help }
    })
    .collect()
}
