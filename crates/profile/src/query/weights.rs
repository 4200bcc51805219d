//! What samples weigh where they are added up: those of one event, since sums over several mean nothing.

use crate::id::{EventId, SampleId};
use crate::profile::Profile;
use crate::query::grouped::{event_name, period_units};
use crate::tables::{SampleRow, Table};

/// What a sample counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// 1.
    Samples,
    /// Its period, in units of its event; 1 where none was recorded.
    Period,
}

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
    /// The weights of the samples of one event: the first of the recording that has samples. Events of the same name
    /// are one.
    #[must_use]
    pub fn new(profile: &Profile, weight: Weight) -> Self {
        let mut events = Table::from_vec(vec![(0, false); profile.events.len()]);
        for sample in &profile.samples {
            if let Some((samples, _)) = events.get_mut(sample.event) {
                *samples += 1;
            }
        }
        let event = events.entries().find(|(_, (samples, _))| *samples > 0).map(|(event, _)| event);
        for (id, (_, counted)) in events.ids().zip(events.iter_mut()) {
            *counted = event.is_some_and(|it| event_name(profile, it) == event_name(profile, id));
        }
        let period = || event.and_then(|event| *period_units(profile).get(event)?);
        let unit = match weight {
            Weight::Samples => WeightUnit::Samples,
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
            Weight::Period => sample.period.unwrap_or(1),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{LayoutId, ThreadId};
    use crate::reason::EndReason;
    use crate::tables::EventRow;

    #[test]
    fn events_are_not_added_together() {
        let mut profile = Profile::default();
        for name in ["dummy:u", "cpu-clock:u", "page-faults", "cpu-clock:u"] {
            let name = profile.strings.intern(name.as_bytes());
            let event = EventRow { name, kind: 1, config: 0, frequency: true, rate: 9 };
            profile.events.push(event);
        }
        for (event, period) in [(2, 7), (1, 250), (3, 50), (1, 250), (2, 1)] {
            profile.samples.push(SampleRow {
                time: None,
                thread: ThreadId::new(0),
                event: EventId::new(event),
                end: EndReason::Root,
                cpu: None,
                period: Some(period),
                stack: None,
                layout: LayoutId::new(0),
            });
        }
        let sum = |weight| {
            let weights = Weights::new(&profile, weight);
            let counted = profile.samples.entries().filter_map(|(id, row)| weights.of(id, row));
            (counted.sum::<u64>(), weights.unit())
        };
        assert_eq!(sum(Weight::Samples), (3, WeightUnit::Samples));
        assert_eq!(sum(Weight::Period), (550, WeightUnit::Nanoseconds));
        let weights = Weights::new(&profile, Weight::Period);
        assert_eq!(weights.event(), Some(EventId::new(1)));
        assert_eq!(weights.others().collect::<Vec<_>>(), [(EventId::new(2), 2)]);
        assert_eq!(Weights::new(&Profile::default(), Weight::Period).event(), None);
    }
}
