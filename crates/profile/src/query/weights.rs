//! What samples weigh where they are added up: those of one event, since sums over several mean nothing.

use crate::id::{EventId, SampleId};
use crate::profile::Profile;
use crate::query::grouped::{event_name, period_units};
use crate::tables::{SampleRow, Table};

/// Weight of a sample: 1, its period in units of its event (1 if none was recorded), or the time that its thread was off
/// the processor, for which only samples of [`Profile::off_cpu`] are counted.
pub use options::Weight;

/// In what weights are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeightUnit {
    /// Samples.
    Samples,
    /// Nanoseconds: the event is a clock.
    Nanoseconds,
    /// What the event counts.
    Events,
}

/// Which samples are added up, and what each of them weighs.
#[derive(Debug)]
pub struct Weights {
    weight: Weight,
    event: Option<EventId>,
    unit: WeightUnit,
    /// By event: its samples, and whether they are counted.
    events: Table<EventId, (u64, bool)>,
}

impl Weights {
    /// The weights of the samples of one event: the first of the recording that has samples, or the one that stands for
    /// times off the processor. Events of the same name are one.
    #[must_use]
    pub fn new(profile: &Profile, weight: Weight) -> Self {
        let mut events = Table::from_vec(vec![(0, false); profile.events.len()]);
        for sample in &profile.samples {
            if let Some((samples, _)) = events.get_mut(sample.event) {
                *samples += 1;
            }
        }
        let event = match weight {
            Weight::OffCpu => profile.off_cpu,
            Weight::Samples | Weight::Period => first_recorded(profile, &events),
        };
        for (id, (_, counted)) in events.ids().zip(events.iter_mut()) {
            let same = |it| event_name(profile, it) == event_name(profile, id);
            *counted = match weight {
                Weight::OffCpu => event == Some(id),
                _ => event.is_some_and(same) && profile.off_cpu != Some(id),
            };
        }
        let period = || event.and_then(|event| *period_units(profile).get(event)?);
        let unit = match weight {
            Weight::Samples => WeightUnit::Samples,
            Weight::OffCpu => WeightUnit::Nanoseconds,
            Weight::Period => match period() {
                Some("nanoseconds") => WeightUnit::Nanoseconds,
                Some(_) => WeightUnit::Events,
                None => WeightUnit::Samples,
            },
        };
        Self { weight, event, unit, events }
    }

    /// What a sample weighs; `None` where it is not counted.
    #[inline]
    #[must_use]
    pub fn of(&self, _id: SampleId, sample: &SampleRow) -> Option<u64> {
        let counted = self.events.get(sample.event).is_none_or(|(_, counted)| *counted);
        counted.then(|| match self.weight {
            Weight::Samples => 1,
            Weight::Period | Weight::OffCpu => sample.period().unwrap_or(1),
        })
    }

    /// In what they are counted.
    #[must_use]
    pub const fn unit(&self) -> WeightUnit {
        self.unit
    }

    /// The event whose samples are counted; `None` where there are no samples.
    #[must_use]
    pub const fn event(&self) -> Option<EventId> {
        self.event
    }

    /// The events whose samples are not counted, with the number of these, those without samples left out.
    pub fn others(&self) -> impl Iterator<Item = (EventId, u64)> {
        let left_out =
            self.events.entries().filter(|(_, (samples, counted))| *samples > 0 && !counted);
        left_out.map(|(event, &(samples, _))| (event, samples))
    }
}

/// The first event that was recorded and has samples.
fn first_recorded(profile: &Profile, events: &Table<EventId, (u64, bool)>) -> Option<EventId> {
    let with_samples = events.entries().filter(|(_, (samples, _))| *samples > 0);
    with_samples.map(|(event, _)| event).find(|event| profile.off_cpu != Some(*event))
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
        let counted = profile.samples.entries().filter_map(|(id, row)| weights.of(id, row));
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
        assert_eq!(weights.others().collect::<Vec<_>>(), [(EventId::new(2), 2)]);
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
        assert_eq!(weights.others().collect::<Vec<_>>(), [(EventId::new(0), 3)]);
    }
}
