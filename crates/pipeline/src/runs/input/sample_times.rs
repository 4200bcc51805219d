//! The times of the first and last sample of a recording.

use std::ops::ControlFlow;
use std::path::Path;

use address::Timestamp;
use host::Host;
use perf_data::{Findings, RawBody, visit_records};

use super::{check_whole, open};
use crate::error::Error;
use crate::source::Source;

/// Returns the times from the samples of a file; `None` if no sample has a time.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn sample_times(
    host: &dyn Host,
    path: &Path,
) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let opened = open(host, Source::Path(path.to_owned()))?;
    // Damage is reported when the samples themselves are read.
    let mut found = Findings::default();
    let mut times: Option<(Timestamp, Timestamp)> = None;
    visit_records(opened.input, &mut found, &mut |_, record| {
        if let RawBody::Sample(sample) = &record.body
            && sample.time.0 > 0
        {
            let (first, last) = times.unwrap_or((sample.time, sample.time));
            times = Some((first.min(sample.time), last.max(sample.time)));
        }
        ControlFlow::Continue(())
    })
    .map_err(|source| Error::Recording { path: path.to_owned(), source })?;
    check_whole(path, &opened.damage)?;
    Ok(times)
}
