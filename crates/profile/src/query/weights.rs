//! Weights of samples for sums over one event, since a sum over several events has no unit.

use crate::id::EventId;
use crate::profile::Profile;
use crate::query::engine::{EventChoice, SelectionError};
use crate::query::grouped::{event_name, period_units};
use crate::tables::{SampleRow, Table};

/// Weight of a sample: 1, its period in units of its event (1 if none was recorded), or the off-CPU time of its thread.
/// For off-CPU time, only samples of [`Profile::off_cpu`] are counted.
pub use options::Weight;

/// The unit of weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeightUnit {
    /// Number of samples.
    Samples,
    /// Nanoseconds: the event is a clock.
    Nanoseconds,
    /// Occurrences of the event.
    Events,
}

impl WeightUnit {
    /// Returns the keyword of the unit in output for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Nanoseconds => "nanoseconds",
            Self::Events => "events",
        }
    }
}

/// Number of samples of each event, and unit of their periods.
#[derive(Debug)]
pub struct EventSums {
    samples: Table<EventId, u64>,
    units: Table<EventId, Option<&'static str>>,
}

impl EventSums {
    /// Counts the samples of `profile`.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let mut samples = Table::from_vec(vec![0; profile.events.len()]);
        for sample in &profile.samples {
            if let Some(samples) = samples.get_mut(sample.event) {
                *samples += 1;
            }
        }
        Self { samples, units: period_units(profile) }
    }

    /// Returns the first recorded event with samples.
    fn first_recorded(&self, profile: &Profile) -> Option<EventId> {
        let with_samples = self.samples.entries().filter(|(_, samples)| **samples > 0);
        with_samples.map(|(event, _)| event).find(|event| profile.off_cpu != Some(*event))
    }
}

/// Selection of the counted samples, and the weight of each.
#[derive(Debug)]
pub struct Weights {
    weight: Weight,
    event: Option<EventId>,
    unit: WeightUnit,
    /// By event: number of its samples, and whether they are counted.
    events: Table<EventId, (u64, bool)>,
}

impl Weights {
    /// Returns the weights for samples of one event: the first in the recording with samples, or the off-CPU event.
    /// Events of the same name are merged.
    #[must_use]
    pub fn new(profile: &Profile, weight: Weight) -> Self {
        let sums = EventSums::new(profile);
        let event = match weight {
            Weight::OffCpu => profile.off_cpu,
            Weight::Samples | Weight::Period => sums.first_recorded(profile),
        };
        Self::of_event(profile, &sums, weight, event)
    }

    /// Returns the weights for samples of the chosen events.
    ///
    /// # Errors
    /// Returns an error if the profile has no such event, or an event is named together with off-CPU time.
    pub fn chosen(
        profile: &Profile,
        sums: &EventSums,
        weight: Weight,
        choice: &EventChoice,
    ) -> Result<Self, SelectionError> {
        let event = match (choice, weight) {
            (EventChoice::Every, _) => return Ok(Self::every(sums)),
            (EventChoice::Named(_), Weight::OffCpu) => return Err(SelectionError::EventOfOffCpu),
            (EventChoice::Named(name), _) => {
                let is_named = |&id: &EventId| event_name(profile, id) == name.as_bytes();
                let found = profile.events.ids().find(is_named);
                found.ok_or_else(|| SelectionError::NoEvent { name: name.clone() })?.into()
            }
            (EventChoice::First, Weight::OffCpu) => profile.off_cpu,
            (EventChoice::First, _) => sums.first_recorded(profile),
        };
        Ok(Self::of_event(profile, sums, weight, event))
    }

    /// Returns weights of 1 for the samples of all events.
    #[must_use]
    pub fn every(sums: &EventSums) -> Self {
        let events = sums.samples.iter().map(|&samples| (samples, true)).collect();
        Self { weight: Weight::Samples, event: None, unit: WeightUnit::Samples, events }
    }

    fn of_event(
        profile: &Profile,
        sums: &EventSums,
        weight: Weight,
        event: Option<EventId>,
    ) -> Self {
        let is_counted = |id: EventId| match event {
            Some(event) if weight == Weight::OffCpu => event == id,
            Some(event) => {
                event == id
                    || (profile.off_cpu != Some(id)
                        && event_name(profile, event) == event_name(profile, id))
            }
            None => false,
        };
        let events = sums.samples.entries().map(|(id, &samples)| (samples, is_counted(id)));
        let unit = match weight {
            Weight::Samples => WeightUnit::Samples,
            Weight::OffCpu => WeightUnit::Nanoseconds,
            Weight::Period => match event.and_then(|event| *sums.units.get(event)?) {
                Some("nanoseconds") => WeightUnit::Nanoseconds,
                Some(_) => WeightUnit::Events,
                None => WeightUnit::Samples,
            },
        };
        Self { weight, event, unit, events: events.collect() }
    }

    /// Returns true if the samples of an event are counted.
    #[inline]
    #[must_use]
    pub fn counts(&self, event: EventId) -> bool {
        self.events.get(event).is_some_and(|(_, counted)| *counted)
    }

    /// Returns the weight of a sample; `None` if it is not counted.
    #[inline]
    #[must_use]
    pub fn of(&self, sample: &SampleRow) -> Option<u64> {
        self.counts(sample.event).then(|| self.sum(1, sample.period().unwrap_or(1)))
    }

    /// Returns the weight of counted samples, given their number and the sum of their periods.
    #[inline]
    #[must_use]
    pub const fn sum(&self, samples: u64, period: u64) -> u64 {
        match self.weight {
            Weight::Samples => samples,
            Weight::Period | Weight::OffCpu => period,
        }
    }

    /// Unit of the weights.
    #[must_use]
    pub const fn unit(&self) -> WeightUnit {
        self.unit
    }

    /// The counted event; `None` if there are no samples, or all events are counted.
    #[must_use]
    pub const fn event(&self) -> Option<EventId> {
        self.event
    }

    /// Iterates over the events that have samples but are not counted, with their numbers of samples.
    pub fn uncounted_events(&self) -> impl Iterator<Item = (EventId, u64)> {
        let uncounted =
            self.events.entries().filter(|(_, (samples, counted))| *samples > 0 && !counted);
        uncounted.map(|(event, &(samples, _))| (event, samples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{LayoutId, ThreadId};
    use crate::reason::EndReason;
    use crate::tables::EventRow;

    fn sample(event: u16, period: u64) -> SampleRow {
        SampleRow::new(
            ThreadId::new(0),
            EventId::new(event),
            EndReason::Root,
            None,
            LayoutId::new(0),
        )
        .with_period(Some(period))
    }

    fn sum(profile: &Profile, weight: Weight) -> (u64, WeightUnit) {
        let weights = Weights::new(profile, weight);
        let counted = profile.samples.iter().filter_map(|row| weights.of(row));
        (counted.sum::<u64>(), weights.unit())
    }

    #[test]
    fn events_are_not_added_together() {
        let mut profile = Profile::default();
        for name in ["dummy:u", "cpu-clock:u", "page-faults", "cpu-clock:u"] {
            let name = profile.strings.intern(name.as_bytes());
            let event = EventRow { name, kind: 1, config: 0, frequency: true, rate: 9 };
            profile.events.push(event);
        }
        for (event, period) in [(2, 7), (1, 250), (3, 50), (1, 250), (2, 1)] {
            profile.samples.push(sample(event, period));
        }
        assert_eq!(sum(&profile, Weight::Samples), (3, WeightUnit::Samples));
        assert_eq!(sum(&profile, Weight::Period), (550, WeightUnit::Nanoseconds));
        let weights = Weights::new(&profile, Weight::Period);
        assert_eq!(weights.event(), Some(EventId::new(1)));
        assert_eq!(weights.uncounted_events().collect::<Vec<_>>(), [(EventId::new(2), 2)]);
        assert_eq!(Weights::new(&Profile::default(), Weight::Period).event(), None);
    }

    #[test]
    fn times_off_the_processor_are_counted_alone() {
        let mut profile = Profile::default();
        for name in ["sched:sched_switch", "off-cpu"] {
            let name = profile.strings.intern(name.as_bytes());
            profile.events.push(EventRow { name, kind: 2, config: 0, frequency: false, rate: 1 });
        }
        profile.off_cpu = Some(EventId::new(1));
        for (event, period) in [(1, 4_000), (0, 1), (1, 2_500), (0, 1), (0, 1)] {
            profile.samples.push(sample(event, period));
        }
        assert_eq!(sum(&profile, Weight::OffCpu), (6_500, WeightUnit::Nanoseconds));
        assert_eq!(sum(&profile, Weight::Period), (3, WeightUnit::Events));
        let weights = Weights::new(&profile, Weight::OffCpu);
        assert_eq!(weights.uncounted_events().collect::<Vec<_>>(), [(EventId::new(0), 3)]);
    }
}
