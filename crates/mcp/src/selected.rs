//! The samples that a call counts, with refusals of values that the recording does not have.

use options::{GroupBy, QueryFilter, Weight};
use pipeline::LoadedProfile;
use profile::Profile;
use profile::query::engine::{EventChoice, Filter, Patterns, Selection, SelectionError};
use profile::query::{Cost, EventSums, WeightUnit, Weights, event_name};

use crate::answer::Answer;
use crate::arguments::{CountedArgs, FilterArgs, wrong};
use crate::recordings::Loaded;
use crate::refusal::Refusal;
use crate::text::{cost, of_profile, percent, safe};

/// Returns the counted samples of a table that is grouped by `group`.
pub(crate) fn select<'i>(
    loaded: &'i Loaded,
    group: GroupBy,
    counted: &CountedArgs,
    filter: &FilterArgs,
) -> Result<Selection<'i>, Refusal> {
    let analysis: &LoadedProfile = &loaded.profile;
    let profile = &analysis.profile;
    check(profile, filter)?;
    let compiled = Filter::bounded(&QueryFilter::from(filter));
    let compiled = compiled.map_err(|reason| wrong("filter", reason))?;
    let event = EventChoice::of(group, counted.event.as_deref());
    let index = analysis.query_index(loaded.inlines);
    Selection::new(profile, index, weight(counted)?, &event, &compiled)
        .map_err(|error| refused(profile, &error))
}

/// Returns the weights of all samples of the counted event.
pub(crate) fn weights(profile: &Profile, counted: &CountedArgs) -> Result<Weights, Refusal> {
    let event = EventChoice::of(GroupBy::Function, counted.event.as_deref());
    Weights::chosen(profile, &EventSums::new(profile), weight(counted)?, &event)
        .map_err(|error| refused(profile, &error))
}

/// Returns the weight of a sample. The run makes the values of a field the periods of samples.
fn weight(counted: &CountedArgs) -> Result<Weight, Refusal> {
    match (counted.weight.0, counted.values.is_weight()) {
        (Weight::OffCpu, true) => {
            Err(wrong("weight_field", "times off the processor are a weight of their own"))
        }
        (_, true) => Ok(Weight::Period),
        (weight, false) => Ok(weight),
    }
}

/// Returns true if the run has to find out the times off the processor.
pub(crate) fn is_off_cpu(counted: &CountedArgs) -> bool {
    counted.weight.0 == Weight::OffCpu
}

fn refused(profile: &Profile, error: &SelectionError) -> Refusal {
    match error {
        SelectionError::NoEvent { name } => Refusal::unknown("event", name, &events(profile)),
        error => wrong("event", error),
    }
}

/// Returns the distinct names of events.
fn events(profile: &Profile) -> Vec<String> {
    distinct(profile.events.ids().map(|id| safe(event_name(profile, id))))
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Refuses processes, threads and names of threads that the recording does not have.
fn check(profile: &Profile, filter: &FilterArgs) -> Result<(), Refusal> {
    if filter.time.is_some_and(|(from, to)| from > to || from < 0.0) {
        return Err(wrong("filter", "time is [from, to] in seconds from the first sample"));
    }
    let threads = || profile.threads.iter();
    let name = |comm| of_profile(profile, comm);
    if let Some(pid) = filter.pid.iter().find(|&&pid| !threads().any(|it| it.pid.0 == pid)) {
        let known = threads().map(|it| format!("{} ({})", it.pid.0, name(it.process)));
        return Err(Refusal::unknown("process", &pid.to_string(), &distinct(known)));
    }
    if let Some(tid) = filter.tid.iter().find(|&&tid| !threads().any(|it| it.tid.0 == tid)) {
        let known = threads().map(|it| format!("{} ({})", it.tid.0, name(it.comm)));
        return Err(Refusal::unknown("thread", &tid.to_string(), &distinct(known)));
    }
    for comm in &filter.comm {
        // The compiler of the whole filter refuses invalid patterns.
        let Ok(pattern) = Patterns::new(std::slice::from_ref(comm), 1 << 20) else { continue };
        if !threads().any(|it| pattern.are_in(profile.strings.get(it.comm))) {
            let known = distinct(threads().map(|it| name(it.comm)));
            return Err(Refusal::unknown("name of a thread", comm, &known));
        }
    }
    Ok(())
}

/// What is counted, for the head of an answer.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) total: Cost,
    pub(crate) unit: WeightUnit,
    event: Option<String>,
    /// Samples with a complete stack, if they were counted.
    complete: Option<u64>,
}

impl Counted {
    pub(crate) fn of(profile: &Profile, selection: &Selection<'_>) -> Self {
        let complete = Some(selection.complete());
        Self { complete, ..Self::new(profile, selection.weights(), selection.total()) }
    }

    pub(crate) fn new(profile: &Profile, weights: &Weights, total: Cost) -> Self {
        let event = weights.event().map(|event| safe(event_name(profile, event)));
        Self { total, unit: weights.unit(), event, complete: None }
    }

    /// Returns an answer with the recording, the event, the unit and the total.
    pub(crate) fn answer(&self, recording: &str) -> Answer {
        let mut answer = Answer::default();
        answer.set("recording", recording);
        answer.set("unit", self.unit.as_str());
        answer.set("event", self.event.clone());
        answer.set("total", cost(self.total, self.unit));
        let event = self.event.as_ref().map_or(String::new(), |event| format!(" of {event}"));
        let mut line = format!("{recording}: {} samples{event}", self.total.samples);
        if self.unit != WeightUnit::Samples {
            line.push_str(&format!(", {} {}", self.total.weight, self.unit.as_str()));
        }
        if let Some(complete) = self.complete {
            let share = percent(complete as f64, self.total.samples as f64);
            answer.set("complete_stacks_percent", share);
            line.push_str(&format!("; {share} % of the stacks are complete"));
        }
        answer.line(line);
        if self.total.samples == 0 {
            answer.line("no sample passes the filter");
        }
        answer
    }
}
