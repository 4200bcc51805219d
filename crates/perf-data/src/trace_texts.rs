//! Texts of the samples of tracepoints and probes, as the kernel prints them: one printer for each event.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::container::Head;
use crate::event::SampleType;
use crate::record::Sample;
use crate::tracing::{PrintFormat, TracingData};

/// Printers of the events of a recording.
#[derive(Clone, Debug, Default)]
pub struct TraceTexts {
    of_event: Vec<EventText>,
}

/// Text of the samples of an event.
#[derive(Clone, Debug, Default)]
enum EventText {
    /// The event has no format: it is no tracepoint, or its format was not recorded.
    #[default]
    None,
    /// The format is not supported.
    Unsupported,
    Printed(Arc<PrintFormat>),
}

impl TraceTexts {
    /// Returns the printers by the formats of a header. Events of the same tracepoint share one.
    #[must_use]
    pub fn of(head: &Head) -> Self {
        let Some(data) = head.features().tracing_data.and_then(TracingData::parse) else {
            return Self::default();
        };
        let setting = data.print_setting();
        let mut known: BTreeMap<u64, EventText> = BTreeMap::new();
        let of_event = head.events().iter().map(|event| {
            let attr = &event.attr;
            if !attr.is_tracepoint() || !attr.sample_type.has(SampleType::RAW) {
                return EventText::None;
            }
            let Some(format) = data.format(attr.config) else { return EventText::None };
            let text = known.entry(attr.config).or_insert_with(|| {
                match PrintFormat::parse(format, &setting) {
                    Some(printer) => EventText::Printed(Arc::new(printer)),
                    None => EventText::Unsupported,
                }
            });
            text.clone()
        });
        Self { of_event: of_event.collect() }
    }

    /// Returns true if the event has a format that is not supported.
    #[must_use]
    pub fn is_unsupported(&self, event: u16) -> bool {
        matches!(self.of_event.get(usize::from(event)), Some(EventText::Unsupported))
    }

    /// Number of events with a format that is not supported.
    #[must_use]
    pub fn unsupported(&self) -> u64 {
        let unsupported = |text: &&EventText| matches!(text, EventText::Unsupported);
        self.of_event.iter().filter(unsupported).count() as u64
    }

    /// Returns the text of a sample. `None` if its event has no printer, and `Some(None)` if the printer cannot print it:
    /// the data are too short, or the text exceeds a limit.
    #[must_use]
    pub fn text(&self, sample: &Sample<'_>) -> Option<Option<Vec<u8>>> {
        match self.of_event.get(usize::from(sample.event))? {
            EventText::Printed(printer) => Some(sample.raw.and_then(|raw| printer.print(raw))),
            EventText::None | EventText::Unsupported => None,
        }
    }
}
