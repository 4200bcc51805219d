//! Selected fields of samples: those that tracepoints and probes have in their raw data, and numbers of the sample.

use std::collections::BTreeSet;

use address::FieldKind;

use crate::bytes::Endian;
use crate::container::Head;
use crate::event::{Event, SampleType};
use crate::record::{Sample, Weight};
use crate::trace_texts::TraceTexts;
use crate::tracing::{TraceField, TraceKind, TraceValue, TracingData};

/// Maximum number of fields of a recording. All tracepoints of a kernel have half of it; a hostile recording repeats one
/// format with thousands of fields in thousands of events.
const MOST_FIELDS: usize = 1 << 16;

/// A field that samples of an event have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldColumn {
    /// Index of the event.
    pub event: u16,
    /// Name, from the format of the tracepoint, or as `perf script` names the field of a sample.
    pub name: Box<[u8]>,
    /// Type of its values.
    pub kind: FieldKind,
    source: FieldSource,
    /// Field with the length of the text, in bytes.
    length: Option<TraceField<'static>>,
}

/// Suffix of the field with the length of a text that has no end of its own, as the probes of `unwind-perf record` have.
const LENGTH: &[u8] = b"__len";

#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldSource {
    Raw(TraceField<'static>, Endian),
    Sample(SampleNumber),
}

/// A number of a sample that the kernel or the processor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleNumber {
    Addr,
    Weight,
    InstructionWeight,
    DataSource,
    PhysicalAddr,
}

impl SampleNumber {
    /// The numbers with their names in `perf script -F`, and the bit of the event that records them.
    ///
    /// Source: `all_output_options` in `tools/perf/builtin-script.c`; `ins_lat` is the second part of a split weight.
    const ALL: [(Self, &'static str, SampleType); 5] = [
        (Self::Addr, "addr", SampleType::ADDR),
        (Self::Weight, "weight", SampleType::WEIGHT),
        (Self::InstructionWeight, "ins_lat", SampleType::WEIGHT_STRUCT),
        (Self::DataSource, "data_src", SampleType::DATA_SRC),
        (Self::PhysicalAddr, "phys_addr", SampleType::PHYS_ADDR),
    ];

    fn is_recorded(self, bit: SampleType, event: &Event) -> bool {
        let sample_type = event.attr.sample_type;
        sample_type.has(bit) || (self == Self::Weight && sample_type.has(SampleType::WEIGHT_STRUCT))
    }

    fn of(self, sample: &Sample<'_>) -> Option<u64> {
        match self {
            Self::Addr => sample.addr.map(|addr| addr.0),
            Self::Weight => sample.weight.map(|weight| match weight {
                Weight::Full(weight) => weight,
                Weight::Split { var1, .. } => var1.into(),
            }),
            Self::InstructionWeight => match sample.weight? {
                Weight::Split { var2, .. } => Some(var2.into()),
                Weight::Full(_) => None,
            },
            Self::DataSource => sample.data_src,
            Self::PhysicalAddr => sample.phys_addr,
        }
    }
}

/// The fields that samples of a recording have, in the order of events and of their formats.
#[derive(Clone, Debug, Default)]
pub struct RecordedFields {
    columns: Vec<FieldColumn>,
    omitted: u64,
}

impl RecordedFields {
    /// Returns the fields by the events and formats of a header.
    #[must_use]
    pub fn of(head: &Head) -> Self {
        let tracing = head.features().tracing_data.and_then(TracingData::parse);
        let mut fields = Self::default();
        for (event, index) in head.events().iter().zip(0..) {
            if let Some(data) = &tracing
                && event.attr.is_tracepoint()
                && event.attr.sample_type.has(SampleType::RAW)
                && let Some(format) = data.format(event.attr.config)
            {
                let room = MOST_FIELDS.saturating_sub(fields.columns.len());
                fields.omitted += format.fields.len().saturating_sub(room) as u64;
                let known = format.fields.iter().take(room);
                let column = |field| FieldColumn::of_format(index, field, data.endian());
                let first = fields.columns.len();
                fields.columns.extend(known.map(column));
                fields.add_lengths(first);
            }
            for (number, name, bit) in SampleNumber::ALL {
                if number.is_recorded(bit, event) {
                    fields.add_number(index, number, name);
                }
            }
        }
        fields
    }

    /// Joins texts and arrays with the fields of their lengths, among the columns of one event. Such arrays are texts.
    fn add_lengths(&mut self, first: usize) {
        let of_event = self.columns.get_mut(first..).unwrap_or_default();
        let length = |it: &FieldColumn| match it.source {
            FieldSource::Raw(field, _) if it.kind.is_number() => {
                Some((it.name.strip_suffix(LENGTH)?.into(), field))
            }
            _ => None,
        };
        let lengths: Vec<(Box<[u8]>, _)> = of_event.iter().filter_map(length).collect();
        for (name, length) in lengths {
            if let Some(text) = of_event.iter_mut().find(|it| it.name == name && it.can_be_text()) {
                text.kind = FieldKind::Text;
                text.length = Some(length);
            }
        }
    }

    fn add_number(&mut self, event: u16, number: SampleNumber, name: &str) {
        if self.columns.len() == MOST_FIELDS {
            self.omitted += 1;
            return;
        }
        let (kind, source) = (FieldKind::Unsigned, FieldSource::Sample(number));
        let name = name.as_bytes().into();
        self.columns.push(FieldColumn { event, name, kind, source, length: None });
    }

    /// The fields.
    #[must_use]
    pub fn columns(&self) -> &[FieldColumn] {
        &self.columns
    }

    /// Returns the fields of an event.
    #[must_use]
    pub fn of_event(&self, event: u16) -> &[FieldColumn] {
        let first = self.columns.partition_point(|column| column.event < event);
        let end = self.columns.partition_point(|column| column.event <= event);
        self.columns.get(first..end).unwrap_or_default()
    }

    /// Number of further fields, which are omitted since there are too many.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }
}

impl FieldColumn {
    fn of_format(event: u16, field: &TraceField<'_>, endian: Endian) -> Self {
        let kind = match field.kind {
            TraceKind::Text | TraceKind::Located(true) | TraceKind::Relative(true) => {
                FieldKind::Text
            }
            TraceKind::Array | TraceKind::Located(false) | TraceKind::Relative(false) => {
                FieldKind::List
            }
            TraceKind::Number if field.signed => FieldKind::Signed,
            TraceKind::Number => FieldKind::Unsigned,
        };
        let source = FieldSource::Raw(TraceField { name: &[], ..*field }, endian);
        Self { event, name: field.name.into(), kind, source, length: None }
    }

    /// Returns true for texts, and for arrays in the data of samples.
    const fn can_be_text(&self) -> bool {
        matches!(self.source, FieldSource::Raw(TraceField { kind: TraceKind::Array, .. }, _))
            || matches!(self.kind, FieldKind::Text)
    }

    /// Returns true if the raw data of samples have the field.
    const fn is_raw(&self) -> bool {
        matches!(self.source, FieldSource::Raw(..))
    }

    /// Returns the size of a value that other fields can share, in bytes.
    const fn shared_bytes(&self, value: &TraceValue<'_>) -> usize {
        match &self.source {
            FieldSource::Raw(field, _) if field.is_located() => value.bytes(field.element),
            FieldSource::Raw(..) | FieldSource::Sample(_) => 0,
        }
    }

    /// Returns the value in a sample of the event; `None` if the sample does not have it.
    ///
    /// Text ends at its first NUL byte, or has the length that another field states: it has no value if the data have
    /// fewer bytes. A text that the kernel could not read has not even the NUL byte.
    #[must_use]
    pub fn value<'s>(&self, sample: &Sample<'s>) -> Option<TraceValue<'s>> {
        let (field, endian) = match &self.source {
            FieldSource::Raw(field, endian) => (field, *endian),
            FieldSource::Sample(number) => {
                return number.of(sample).map(|number| TraceValue::Unsigned(number, 8));
            }
        };
        let raw = sample.raw?;
        if let Some(length) = &self.length {
            let Some(TraceValue::Unsigned(length, _)) = length.value(raw, endian) else {
                return None;
            };
            let text = field.bytes(raw, endian)?.get(..usize::try_from(length).ok()?)?;
            // The kernel could not read all of a text with a NUL byte.
            return (!text.contains(&0)).then_some(TraceValue::Text(text));
        }
        Some(match field.value(raw, endian)? {
            TraceValue::Text([]) if field.is_located() => return None,
            TraceValue::Text(text) => TraceValue::Text(text.split(|&byte| byte == 0).next()?),
            value => value,
        })
    }
}

/// The selected fields of a recording, by event.
#[derive(Clone, Debug, Default)]
pub struct SelectedFields {
    columns: Vec<FieldColumn>,
    /// Indexes of the columns of each event.
    of_event: Vec<Vec<usize>>,
    /// Field that is the weight of the samples of each event.
    weights: Vec<Option<FieldColumn>>,
    /// Texts of samples by the formats of their events; none if not requested.
    texts: TraceTexts,
    omitted: u64,
}

impl SelectedFields {
    /// Adds the fields of a header that are selected. Columns keep their indexes, so that later headers of a stream can
    /// add more.
    pub fn add(&mut self, head: &Head, is_selected: impl Fn(&Event, &[u8]) -> bool) {
        self.add_columns(head, |_, event, name| is_selected(event, name));
    }

    fn add_columns(&mut self, head: &Head, is_selected: impl Fn(u16, &Event, &[u8]) -> bool) {
        let fields = RecordedFields::of(head);
        self.omitted = fields.omitted;
        let known: BTreeSet<_> =
            self.columns.iter().map(|it| (it.event, it.name.clone())).collect();
        for column in fields.columns {
            let event = usize::from(column.event);
            let is_selected = head
                .events()
                .get(event)
                .is_some_and(|it| is_selected(column.event, it, &column.name));
            if !is_selected || known.contains(&(column.event, column.name.clone())) {
                continue;
            }
            if self.of_event.len() <= event {
                self.of_event.resize(event + 1, Vec::new());
            }
            if let Some(indexes) = self.of_event.get_mut(event) {
                indexes.push(self.columns.len());
            }
            self.columns.push(column);
        }
    }

    /// Requests the texts of samples by the formats of their events. Events whose format is not supported get all fields of
    /// it instead.
    pub fn print_texts(&mut self, head: &Head) {
        let texts = TraceTexts::of(head);
        if texts.unsupported() > 0 {
            let columns = RecordedFields::of(head).columns.into_iter();
            let replaced = columns.filter(|column| texts.is_unsupported(column.event));
            let names: BTreeSet<_> =
                replaced.filter(FieldColumn::is_raw).map(|it| (it.event, it.name)).collect();
            self.add_columns(head, |index, _, name| names.contains(&(index, name.into())));
        }
        self.texts = texts;
    }

    /// The requested texts of samples.
    #[must_use]
    pub const fn texts(&self) -> &TraceTexts {
        &self.texts
    }

    /// Makes the first selected field of numbers of each event the weight of its samples.
    pub fn weigh_by(&mut self, head: &Head, is_selected: impl Fn(&Event, &[u8]) -> bool) {
        let fields = RecordedFields::of(head);
        self.omitted = fields.omitted;
        self.weights = vec![None; head.events().len()];
        for column in fields.columns.into_iter().filter(|column| column.kind.is_number()) {
            let event = usize::from(column.event);
            let is_selected =
                head.events().get(event).is_some_and(|it| is_selected(it, &column.name));
            if let Some(weight @ None) = self.weights.get_mut(event).filter(|_| is_selected) {
                *weight = Some(column);
            }
        }
    }

    /// The fields that are weights, at most one for each event.
    pub fn weights(&self) -> impl Iterator<Item = &FieldColumn> {
        self.weights.iter().flatten()
    }

    /// Returns the weight of a sample by a field: `None` if its event is not weighed by one, and `Some(None)` if the
    /// sample does not have the field, or a negative number.
    #[must_use]
    pub fn weight(&self, sample: &Sample<'_>) -> Option<Option<u64>> {
        let column = self.weights.get(usize::from(sample.event))?.as_ref()?;
        Some(match column.value(sample) {
            Some(TraceValue::Unsigned(weight, _)) => Some(weight),
            Some(TraceValue::Signed(weight, _)) => u64::try_from(weight).ok(),
            _ => None,
        })
    }

    /// All selected fields.
    #[must_use]
    pub fn columns(&self) -> &[FieldColumn] {
        &self.columns
    }

    /// Number of fields of the recording that are not among those to select from, since there are too many.
    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the selected fields of a sample with their indexes; `None` for a value that the sample does not have.
    /// Text and lists are omitted once their total size exceeds that of the data, since fields can share it.
    pub fn values<'a, 's>(
        &'a self,
        sample: &'a Sample<'s>,
    ) -> impl Iterator<Item = (usize, Option<TraceValue<'s>>)> + use<'a, 's> {
        let indexes = self.of_event.get(usize::from(sample.event)).map_or(&[][..], Vec::as_slice);
        let columns = indexes.iter().filter_map(|&index| Some((index, self.columns.get(index)?)));
        let mut room = sample.raw.map_or(0, <[u8]>::len);
        columns.map(move |(index, column)| {
            let value = column.value(sample).filter(|value| {
                let left = room.checked_sub(column.shared_bytes(value));
                room = left.unwrap_or(room);
                left.is_some()
            });
            (index, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use synth::{Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, sample_type};

    use super::*;
    use crate::{Findings, Input, Session, SessionOptions, SharedBytes};

    /// Returns tracing data with one format of that many fields, all of them the same text.
    fn tracing_data(fields: usize) -> Vec<u8> {
        let mut format = "name: many\nID: 77\nformat:\n".to_owned();
        for at in 0..fields {
            let offset = 8 + 4 * at;
            format += &format!(
                "\tfield:__data_loc char[] f{at};\toffset:{offset};\tsize:4;\tsigned:0;\n"
            );
        }
        let sized = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
        let mut data = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
        data.extend(sized(""));
        data.extend(b"header_event\0");
        data.extend(sized(""));
        data.extend([0_u32, 1].map(u32::to_le_bytes).concat());
        data.extend(b"made\0");
        data.extend(1_u32.to_le_bytes());
        data.extend(sized(&format));
        data
    }

    fn session(events: usize, fields: usize, samples: &[Vec<u8>]) -> Session {
        let mut recording = PerfDataBuilder::new(Endian::Little);
        let sample_type = EventAttr::dwarf(0).sample_type | sample_type::RAW;
        let attr = EventAttr { event_type: 2, config: 77, sample_type, ..EventAttr::dwarf(0) };
        for id in 0..events as u64 {
            recording.event("made:many", attr.clone(), &[id]);
        }
        recording.feature(&Feature::TracingData(&tracing_data(fields)));
        for raw in samples {
            recording.sample(&SampleBuilder { raw: raw.clone(), ..SampleBuilder::at(1, 7, 7, 20) });
        }
        let input = Input::File(SharedBytes::from(recording.build()));
        let (options, mut findings) = (SessionOptions::default(), Findings::default());
        Session::open(input, options, &mut findings).expect("a recording")
    }

    #[test]
    fn events_that_repeat_a_format_do_not_multiply_it() {
        let head = session(500, 1000, &[Vec::new()]).head().clone();
        let fields = RecordedFields::of(&head);
        assert_eq!((fields.columns().len(), fields.omitted()), (MOST_FIELDS, 500_000 - 65_536));
        let mut selected = SelectedFields::default();
        selected.add(&head, |_, name| name == b"f7");
        selected.add(&head, |_, name| name == b"f7");
        // 65 events are known in full, and the beginning of the next one.
        assert_eq!((selected.columns().len(), selected.omitted()), (66, 434_464));
    }

    #[test]
    fn fields_that_share_a_text_have_it_once() {
        let text = 8 + 4 * 100;
        let mut raw = vec![0; 8];
        for _ in 0..100 {
            raw.extend((200_u32 << 16 | text).to_le_bytes());
        }
        raw.extend([b'x'; 200]);
        let mut session = session(1, 100, &[raw]);
        let mut selected = SelectedFields::default();
        selected.add(session.head(), |_, _| true);
        let batch = session.next_batch(&mut Findings::default()).expect("a batch");
        let sample = batch.sample(&batch.samples()[0]).expect("a sample");
        let known = selected.values(&sample).filter(|(_, value)| value.is_some()).count();
        // The data have 608 bytes and their padding.
        assert_eq!(known, 3);
    }
}
