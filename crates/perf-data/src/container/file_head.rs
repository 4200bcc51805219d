//! Contents of a file other than its records: header, events, and the ranges of the feature sections.

use std::ops::Range;

use super::attr_section::read_events;
use super::features::{Features, feature_sections};
use super::header::FileHeader;
use super::name_events::name_events;
use crate::error::Error;
use crate::event::Identity;
use crate::finding::{Finding, Findings};
use crate::record::Schema;

/// Data around the records of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileHead {
    pub(crate) container: FileHeader,
    /// Bits of features and their ranges in the file.
    pub(crate) sections: Vec<(u16, Range<usize>)>,
    pub(crate) schema: Schema,
}

impl FileHead {
    pub(crate) fn read(bytes: &[u8], findings: &mut Findings) -> Result<Self, Error> {
        let container = FileHeader::parse(bytes, findings)?;
        let mut events = read_events(bytes, &container, findings)?;
        let sections = feature_sections(bytes, &container, findings);
        let payloads = sections.iter().map(|(bit, range)| (*bit, &bytes[range.clone()]));
        let features = Features::decode_all(payloads, container.endian, &mut |feature| {
            let range = sections.iter().find(|section| section.0 == feature);
            let range = range.map_or(0..0, |section| section.1.clone());
            let (offset, size) = (range.start as u64, range.len() as u64);
            findings.push(Finding::FeatureIgnored { feature, offset, size });
        });
        name_events(&mut events, &features);
        let simpleperf = features.is_simpleperf();
        if simpleperf {
            findings.push(Finding::Simpleperf);
            events.iter_mut().for_each(|event| event.layout.whole_stacks = true);
        }
        let (identity, differing) = Identity::new(&events);
        if let Some(event) = differing {
            findings.push(Finding::IdOffsetsDiffer { event });
        }
        let schema = Schema { endian: container.endian, simpleperf, pipe: false, events, identity };
        Ok(Self { container, sections, schema })
    }
}
