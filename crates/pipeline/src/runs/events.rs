//! The filter of the options as the replay knows it: events by their indexes in the recording.

use perf_data::Event;
use unwinder::Filter;

use crate::error::Error;
use crate::options::SampleFilter;

/// The filter for a recording with these events.
pub(crate) fn filter(wanted: &SampleFilter, events: &[Event]) -> Result<Filter, Error> {
    let mut indexes = Vec::new();
    for name in &wanted.events {
        let before = indexes.len();
        let known = events.iter().zip(0..).filter(|(event, _)| event.name == *name);
        indexes.extend(known.map(|(_, index)| index));
        if indexes.len() == before {
            let recorded = events.iter().map(|event| event.name.clone()).collect();
            return Err(Error::UnknownEvent { name: name.clone(), recorded });
        }
    }
    Ok(Filter {
        pids: wanted.pids.clone(),
        tids: wanted.tids.clone(),
        comms: wanted.comms.clone(),
        events: indexes,
        from: wanted.from,
        to: wanted.to,
    })
}
