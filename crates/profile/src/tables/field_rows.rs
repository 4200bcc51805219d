//! A column of values of samples, and the reasons of samples that have none.

use address::FieldKind;

use crate::id::{EventId, SampleId, StringId};

/// The values of one field of one event, or of one label.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldRows {
    /// Event whose samples have the field; `None` for a label or a variable, which samples of all events can have.
    pub event: Option<EventId>,
    /// Name, unique among the fields of the event.
    pub name: StringId,
    /// Type of the values.
    pub kind: FieldKind,
    /// Samples with a value, ascending.
    pub(super) samples: Vec<SampleId>,
    /// Their values.
    pub(super) values: Vec<FieldValue>,
    /// Samples without the label, ascending, with the reason.
    pub(super) unlabelled: Vec<(SampleId, NoLabel)>,
}

/// Reason that a sample has no label. The keywords are interface: they do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoLabel {
    /// No event of its thread began the label before.
    BeforeFirst,
    /// An event of its thread ended the label.
    Ended,
    /// Events were not recorded.
    Unknown,
    /// The value of a function's variable is not there: the reason as a keyword.
    Absent(&'static str),
}

impl NoLabel {
    /// The keyword.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeFirst => "before-first",
            Self::Ended => "ended",
            Self::Unknown => "unknown",
            Self::Absent(reason) => reason,
        }
    }
}

/// Value of a field in one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldValue {
    /// A signed number.
    Signed(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// Bytes that are usually UTF-8.
    Text(StringId),
    /// Numbers in decimal, as a JSON array.
    List(StringId),
}

impl FieldRows {
    /// Returns a column without values.
    pub(super) fn new(event: Option<EventId>, name: StringId, kind: FieldKind) -> Self {
        let (samples, values, unlabelled) = (Vec::new(), Vec::new(), Vec::new());
        Self { event, name, kind, samples, values, unlabelled }
    }

    /// Returns the value of a sample.
    #[must_use]
    pub fn of_sample(&self, sample: SampleId) -> Option<FieldValue> {
        let at = self.samples.binary_search(&sample).ok()?;
        self.values.get(at).copied()
    }

    /// Returns the label of a sample, or the reason that it has none; `None` if the column does not cover the sample.
    #[must_use]
    pub fn label(&self, sample: SampleId) -> Option<Result<FieldValue, NoLabel>> {
        if let Some(value) = self.of_sample(sample) {
            return Some(Ok(value));
        }
        let at = self.unlabelled.binary_search_by_key(&sample, |(sample, _)| *sample).ok()?;
        self.unlabelled.get(at).map(|(_, reason)| Err(*reason))
    }

    /// Iterates over the labels of all samples, ascending.
    pub(super) fn labels(&self) -> impl Iterator<Item = (SampleId, Result<FieldValue, NoLabel>)> {
        let mut known = self.samples.iter().copied().zip(self.values.iter().copied()).peekable();
        let mut unlabelled = self.unlabelled.iter().copied().peekable();
        std::iter::from_fn(move || {
            let is_known = match (known.peek(), unlabelled.peek()) {
                (Some((one, _)), Some((other, _))) => one < other,
                (known, _) => known.is_some(),
            };
            match is_known {
                true => known.next().map(|(sample, value)| (sample, Ok(value))),
                false => unlabelled.next().map(|(sample, reason)| (sample, Err(reason))),
            }
        })
    }

    /// Replaces the labels of all samples, ascending.
    pub(super) fn set_labels(
        &mut self,
        labels: impl Iterator<Item = (SampleId, Result<FieldValue, NoLabel>)>,
    ) {
        (self.samples, self.values, self.unlabelled) = Default::default();
        for (sample, label) in labels {
            match label {
                Ok(value) => {
                    self.samples.push(sample);
                    self.values.push(value);
                }
                Err(reason) => self.unlabelled.push((sample, reason)),
            }
        }
    }

    /// The samples with a value, ascending.
    #[must_use]
    pub fn samples(&self) -> &[SampleId] {
        &self.samples
    }

    /// The values of [`Self::samples`].
    #[must_use]
    pub fn values(&self) -> &[FieldValue] {
        &self.values
    }
}
