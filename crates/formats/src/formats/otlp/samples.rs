//! Profiles: the samples of an event in a process.
//!
//! Receivers support different shapes of samples. For a clock with one period, samples consist only of their times;
//! each time counts as one sample. Pyroscope and Parca convert these to CPU time. Other samples have one value, the sum
//! of their periods, and no times, because Pyroscope rejects several values with times.

use hashbrown::HashMap;
use profile::query::{event_name, period_units};
use profile::{
    EndReason, EventId, FieldValue, Profile, SampleId, SampleRow, StackId, Strings, Table,
    ThreadId, WallClock,
};

use super::dictionary::{AttributeValue, Dictionary};
use super::locations::LocationEncoder;
use crate::render::encoding::protobuf::ProtoMessage;
use crate::render::field_value::DistinctValues;

/// Fields of `Profile`.
mod field {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLES: u32 = 2;
    pub(super) const TIME_UNIX_NANO: u32 = 3;
    pub(super) const DURATION_NANO: u32 = 4;
    pub(super) const PERIOD_TYPE: u32 = 5;
    pub(super) const PERIOD: u32 = 6;
    pub(super) const PROFILE_ID: u32 = 7;
    pub(super) const ATTRIBUTE_INDICES: u32 = 11;
}

/// Data shared by all profiles of a recording.
#[derive(Debug)]
pub(super) struct ProfileSamples<'a> {
    profile: &'a Profile,
    shapes: Table<EventId, ValueShape>,
    clock: Option<WallClock>,
    /// Times of the first and the last sample, in nanoseconds since 1970.
    /// If the time of day is unknown, the first one is 0.
    span: Option<(u64, u64)>,
    values: DistinctValues,
}

/// Shape of a sample's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueShape {
    /// A list of times; each counts one sample and represents `period` nanoseconds of CPU time.
    Times { period: u64 },
    /// The number of samples.
    Count,
    /// The sum of the periods.
    Sum { unit: &'static str },
}

/// Key of samples with equal attributes. Samples of different keys are merged if their encodings are equal.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct SampleKey {
    stack: Option<StackId>,
    thread: ThreadId,
    cpu: Option<u32>,
    end: EndReason,
    /// Number of the combination of its values.
    values: u32,
}

/// Samples with the same identity: encoded fields before the values, the values, and the times.
#[derive(Debug, Default)]
struct GroupedSamples {
    identity: ProtoMessage,
    count: u64,
    sum: u64,
    times: Vec<u64>,
}

/// Returns the shape of each event's samples. It is the same in all processes.
fn shapes(profile: &Profile, has_clock: bool) -> Table<EventId, ValueShape> {
    let units = period_units(profile);
    let of_unit = |(event, unit): (EventId, &Option<&'static str>)| match *unit {
        None => ValueShape::Count,
        Some("nanoseconds") if has_clock && profile.off_cpu != Some(event) => {
            let mut samples = profile.samples.iter().filter(|sample| sample.event == event);
            let period = samples.clone().next().and_then(|sample| sample.period()).unwrap_or(0);
            let are_equal = samples.all(|it| it.time().is_some() && it.period() == Some(period));
            if are_equal {
                ValueShape::Times { period }
            } else {
                ValueShape::Sum { unit: "nanoseconds" }
            }
        }
        Some(unit) => ValueShape::Sum { unit },
    };
    units.entries().map(of_unit).collect()
}

impl<'a> ProfileSamples<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let clock = profile.recording.wall_clock;
        let times = || profile.samples.iter().filter_map(|sample| sample.time());
        let utc = |time| clock.map_or(Some(0), |clock: WallClock| clock.utc(time));
        let span = times().min().zip(times().max()).and_then(|(first, last)| {
            let start = utc(first)?;
            Some((start, start.checked_add(last.0.saturating_sub(first.0))?))
        });
        let clock = clock.filter(|_| span.is_some());
        let values = DistinctValues::new(profile);
        Self { profile, shapes: shapes(profile, clock.is_some()), clock, span, values }
    }

    /// Returns the profile of some samples of one event.
    pub(super) fn profile(
        &self,
        event: EventId,
        ids: &[SampleId],
        locations: &mut LocationEncoder<'_>,
        to: &mut Dictionary,
    ) -> ProfileMessage {
        let shape = self.shapes.get(event).copied().unwrap_or(ValueShape::Count);
        let mut message = ProtoMessage::default();
        self.head(event, shape, to, &mut message);
        for group in self.groups(ids, locations, to) {
            let mut sample = group.identity;
            match shape {
                ValueShape::Times { .. } => sample.packed_fixed64(5, &group.times),
                ValueShape::Count => sample.packed(4, [group.count].into_iter()),
                ValueShape::Sum { .. } => {
                    sample.packed(4, [group.sum.min(i64::MAX as u64)].into_iter());
                }
            }
            message.message(field::SAMPLES, &sample);
        }
        ProfileMessage { message }
    }

    /// Writes the fields before the samples.
    fn head(
        &self,
        event: EventId,
        shape: ValueShape,
        to: &mut Dictionary,
        message: &mut ProtoMessage,
    ) {
        let name = event_name(self.profile, event);
        let (counted, period_type, period) = match shape {
            ValueShape::Times { period } => {
                ((b"samples".as_slice(), "count"), (b"cpu".as_slice(), "nanoseconds"), period)
            }
            ValueShape::Count => ((b"samples".as_slice(), "count"), (name, "count"), 0),
            ValueShape::Sum { unit } => ((name, unit), (name, unit), 0),
        };
        let fixed = self.profile.events.get(event).filter(|event| !event.frequency);
        let period = if period == 0 { fixed.map_or(0, |event| event.rate) } else { period };
        let mut value_type = |field, (kind, unit): (&[u8], &str)| {
            let mut row = ProtoMessage::default();
            row.number(1, to.string(kind));
            row.number(2, to.string(unit.as_bytes()));
            message.message(field, &row);
        };
        value_type(field::SAMPLE_TYPE, counted);
        value_type(field::PERIOD_TYPE, period_type);
        if let Some((start, end)) = self.span {
            message.fixed64(field::TIME_UNIX_NANO, self.clock.map_or(0, |_| start));
            message.number(field::DURATION_NANO, (end - start).saturating_add(1));
        }
        message.number(field::PERIOD, period.min(i64::MAX as u64));
        let mut attributes = vec![to.attribute("unwind_perf.event", AttributeValue::Text(name))];
        if self.clock.is_some_and(|clock| clock.guessed) {
            attributes.push(to.attribute("unwind_perf.time", AttributeValue::Text(b"guessed")));
        }
        message.packed(field::ATTRIBUTE_INDICES, attributes.into_iter());
    }

    /// Returns the samples grouped by stack and attributes, in the order of their first samples.
    fn groups(
        &self,
        ids: &[SampleId],
        locations: &mut LocationEncoder<'_>,
        to: &mut Dictionary,
    ) -> Vec<GroupedSamples> {
        let mut known: HashMap<SampleKey, usize> = HashMap::new();
        let mut identities = Strings::default();
        let mut groups: Vec<GroupedSamples> = Vec::new();
        for &id in ids {
            let Some(row) = self.profile.samples.get(id) else { continue };
            let &SampleRow { stack, thread, end, .. } = row;
            let values = self.values.of_sample(id);
            let key = SampleKey { stack, thread, cpu: row.cpu(), end, values };
            let at = *known.entry(key).or_insert_with(|| {
                let identity = self.identity(key, locations, to);
                let at = identities.intern(identity.bytes()).index();
                if at == groups.len() {
                    groups.push(GroupedSamples { identity, ..GroupedSamples::default() });
                }
                at
            });
            let Some(group) = groups.get_mut(at) else { continue };
            group.count += 1;
            group.sum = group.sum.saturating_add(row.period().unwrap_or(1));
            let time = row.time().and_then(|time| self.clock?.utc(time));
            group.times.extend(time);
        }
        groups
    }

    /// Returns the encoded stack and attributes of a sample.
    fn identity(
        &self,
        key: SampleKey,
        locations: &mut LocationEncoder<'_>,
        to: &mut Dictionary,
    ) -> ProtoMessage {
        let mut attributes = Vec::new();
        if let Some(thread) = self.profile.threads.get(key.thread) {
            let strings = &self.profile.strings;
            let name = AttributeValue::Text(strings.get(thread.comm));
            attributes.push(to.attribute("thread.name", name));
            attributes.push(to.attribute("thread.id", AttributeValue::Number(thread.tid.0.into())));
            let path = thread.cgroup.map(|path| AttributeValue::Text(strings.get(path)));
            attributes.extend(path.map(|path| to.attribute("process.linux.cgroup", path)));
        }
        let cpu = key.cpu.map(|cpu| AttributeValue::Number(cpu.into()));
        attributes.extend(cpu.map(|cpu| to.attribute("cpu.logical_number", cpu)));
        let end = AttributeValue::Text(key.end.as_str().as_bytes());
        attributes.push(to.attribute("unwind_perf.end", end));
        let strings = &self.profile.strings;
        for &(name, value) in self.values.get(key.values) {
            let value = match value {
                FieldValue::Signed(number) => AttributeValue::Number(number),
                FieldValue::Unsigned(number) => AttributeValue::Number(number.cast_signed()),
                FieldValue::Text(id) | FieldValue::List(id) => {
                    AttributeValue::Text(strings.get(id))
                }
            };
            attributes.push(to.attribute(&String::from_utf8_lossy(strings.get(name)), value));
        }
        let mut identity = ProtoMessage::default();
        identity.number(1, locations.stack(key.stack, to));
        identity.packed(2, attributes.into_iter());
        identity
    }
}

/// A profile without its id.
#[derive(Debug)]
pub(super) struct ProfileMessage {
    message: ProtoMessage,
}

impl ProfileMessage {
    /// Returns the profile with an id that is a hash of its contents and its resource.
    pub(super) fn identified(self, resource: &ProtoMessage) -> ProtoMessage {
        let Self { mut message } = self;
        let id = fnv_128([resource.bytes(), message.bytes()].into_iter().flatten());
        message.string(field::PROFILE_ID, &id.to_be_bytes());
        message
    }
}

/// Returns the 128-bit FNV-1a hash.
///
/// Source: <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn fnv_128<'b>(bytes: impl Iterator<Item = &'b u8>) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    bytes.fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_specification() {
        assert_eq!(fnv_128(b"".iter()), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv_128(b"a".iter()), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
