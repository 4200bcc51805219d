//! A recording without compressed records: the records in them take their places.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use host::ByteStream;
use perf_data::{Feature, Findings, RecordKind, Severity, visit_records};
use pipeline::{ResolvedSource, Source};

use super::container::FileLayout;
use crate::args::source;

/// Expands the records of a file; `None` if none is compressed.
///
/// # Errors
/// If the recording is damaged.
pub(super) fn expanded(
    recording: &ResolvedSource,
    bytes: &[u8],
    layout: &FileLayout,
) -> anyhow::Result<Option<Arc<[u8]>>> {
    if !layout.kinds(bytes).any(is_compressed) {
        return Ok(None);
    }
    let (input, watch) = recording.pipeline.open(source(recording.source.name()))?;
    let (mut findings, mut data) = (Findings::default(), Vec::new());
    visit_records(input, &mut findings, &mut |_, record| {
        if !is_compressed(record.header.kind) {
            data.extend_from_slice(record.bytes);
        }
        ControlFlow::Continue(())
    })?;
    watch.check()?;
    if findings.severity() == Some(Severity::Damage) {
        bail!("it is damaged");
    }
    let file = layout.with_data(bytes, &data);
    let file = file.and_then(|file| FileLayout::without_feature(&file, Feature::Compressed));
    Ok(Some(file.context("its headers are damaged")?.into()))
}

const fn is_compressed(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::COMPRESSED | RecordKind::COMPRESSED2)
}

/// Returns the recording to replay: the expanded one under the same name, if there is one.
pub(super) fn replayed(recording: &ResolvedSource, expanded: Option<&Arc<[u8]>>) -> Source {
    let name = recording.source.name();
    match expanded {
        None => source(name),
        Some(bytes) => Source::Stream {
            name: name.to_owned(),
            bytes: ByteStream::of_reader(Cursor::new(Arc::clone(bytes))),
        },
    }
}
