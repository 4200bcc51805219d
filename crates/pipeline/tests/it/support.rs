//! Recordings that several tests start from.

use synth::{Endian, EventAttr, PerfDataBuilder, attr_flag, sample_type};

/// A recording with one event, number 7, that has samples with callchains.
pub(crate) fn with_callchains() -> PerfDataBuilder {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IDENTIFIER
        | sample_type::IP
        | sample_type::TID
        | sample_type::TIME
        | sample_type::CALLCHAIN;
    let attr = EventAttr { sample_type, flags: attr_flag::SAMPLE_ID_ALL, ..EventAttr::default() };
    data.event("cycles", attr, &[7]);
    data.describe_events();
    data
}
