//! Selected fields of samples: those that tracepoints and probes have in their raw data, and numbers of the sample.

use crate::bytes::Endian;
use crate::container::Head;
use crate::event::{Event, SampleType};
use crate::record::{Sample, Weight};
use crate::tracing::{TraceField, TraceKind, TraceValue, TracingData};

/// `PERF_TYPE_TRACEPOINT`: the number of the event is the id of its tracepoint.
const TRACEPOINT: u32 = 2;

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
}

/// Type of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// Signed numbers.
    Signed,
    /// Unsigned numbers.
    Unsigned,
    /// Text.
    Text,
    /// Several numbers.
    List,
}

impl FieldKind {
    /// Returns true for single numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Signed | Self::Unsigned)
    }
}

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

impl FieldColumn {
    /// Returns the fields that samples of each event have, in the order of events and of their formats.
    #[must_use]
    pub fn all(head: &Head) -> Vec<Self> {
        let features = head.features();
        let tracing = features.tracing_data.and_then(TracingData::parse);
        let mut columns = Vec::new();
        for (event, index) in head.events().iter().zip(0..) {
            let format = tracing.as_ref().filter(|_| event.attr.kind == TRACEPOINT);
            let format =
                format.and_then(|data| Some((data.format(event.attr.config)?, data.endian())));
            if let Some((format, endian)) =
                format.filter(|_| event.attr.sample_type.has(SampleType::RAW))
            {
                columns.extend(
                    format.fields.iter().map(|field| Self::of_format(index, field, endian)),
                );
            }
            for (number, name, bit) in SampleNumber::ALL {
                if number.is_recorded(bit, event) {
                    columns.push(Self {
                        event: index,
                        name: name.as_bytes().into(),
                        kind: FieldKind::Unsigned,
                        source: FieldSource::Sample(number),
                    });
                }
            }
        }
        columns
    }

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
        Self { event, name: field.name.into(), kind, source }
    }

    /// Returns the value in a sample of the event; `None` if the sample does not have it.
    ///
    /// Text ends at its first NUL byte.
    #[must_use]
    pub fn value<'s>(&self, sample: &Sample<'s>) -> Option<TraceValue<'s>> {
        let (field, endian) = match &self.source {
            FieldSource::Raw(field, endian) => (field, *endian),
            FieldSource::Sample(number) => {
                return number.of(sample).map(|number| TraceValue::Unsigned(number, 8));
            }
        };
        Some(match field.value(sample.raw?, endian)? {
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
}

impl SelectedFields {
    /// Adds the fields of a header that are selected. Columns keep their indexes, so that later headers of a stream can
    /// add more.
    pub fn add(&mut self, head: &Head, is_selected: impl Fn(&Event, &[u8]) -> bool) {
        for column in FieldColumn::all(head) {
            let event = usize::from(column.event);
            let is_new = !self.columns.contains(&column);
            let of = head.events().get(event);
            if is_new && of.is_some_and(|event| is_selected(event, &column.name)) {
                if self.of_event.len() <= event {
                    self.of_event.resize(event + 1, Vec::new());
                }
                if let Some(indexes) = self.of_event.get_mut(event) {
                    indexes.push(self.columns.len());
                }
                self.columns.push(column);
            }
        }
    }

    /// Makes the first selected field of numbers of each event the weight of its samples.
    pub fn weigh_by(&mut self, head: &Head, is_selected: impl Fn(&Event, &[u8]) -> bool) {
        self.weights = vec![None; head.events().len()];
        for column in FieldColumn::all(head) {
            let place = usize::from(column.event);
            let is_selected =
                head.events().get(place).is_some_and(|it| is_selected(it, &column.name));
            if let Some(weight @ None) = self.weights.get_mut(place)
                && is_selected
                && column.kind.is_number()
            {
                *weight = Some(column);
            }
        }
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

    /// Returns the selected fields of a sample with their indexes; `None` for a value that the sample does not have.
    pub fn values<'a, 's>(
        &'a self,
        sample: &'a Sample<'s>,
    ) -> impl Iterator<Item = (usize, Option<TraceValue<'s>>)> + use<'a, 's> {
        let indexes = self.of_event.get(usize::from(sample.event)).map_or(&[][..], Vec::as_slice);
        let columns = indexes.iter().filter_map(|&index| Some((index, self.columns.get(index)?)));
        columns.map(|(index, column)| (index, column.value(sample)))
    }
}
