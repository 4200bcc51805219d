//! Files as answers: with their length, in byte ranges, compressed or not.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::read::MultiGzDecoder;
use tokio::sync::mpsc::channel;

use super::received::Received;
use crate::problem::{Problem, ProblemKind};

/// Bytes per read.
const CHUNK: usize = 64 << 10;

/// Maximum number of chunks buffered for the client.
const WAITING: usize = 4;

/// Returns a reader's bytes as a body, read at the speed of the client. `keep` lives until the end of the read.
fn body(mut reader: impl Read + Send + 'static, keep: impl Send + 'static) -> Body {
    let (sender, receiver) = channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let _keep = keep;
        loop {
            let mut chunk = vec![0; CHUNK];
            let sent = match reader.read(&mut chunk) {
                Ok(0) => return,
                Ok(got) => {
                    chunk.truncate(got);
                    sender.blocking_send(Ok(Bytes::from(chunk)))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                Err(error) => {
                    let _ = sender.blocking_send(Err(error));
                    return;
                }
            };
            // The client is gone.
            if sent.is_err() {
                return;
            }
        }
    });
    Body::from_stream(Received(receiver))
}

/// Returns a file that was written for one answer.
pub(super) fn whole(
    mut file: File,
    kind: &'static str,
    name: &str,
    keep: impl Send + 'static,
) -> Result<Response, Problem> {
    let failed = |error: io::Error| Problem::new(ProblemKind::Internal).detail(error.to_string());
    let size = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut response = body(file, keep).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    // Names of recordings are untrusted; only their plain characters go into a header.
    let plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    let name: String = name.chars().map(|it| if plain(it) { it } else { '_' }).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Returns the gzip tables of a result: compressed and in the requested range if the client accepts gzip, else
/// uncompressed.
pub(super) fn tables(
    mut file: File,
    size: u64,
    tag: &str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    const KIND: &str = "application/vnd.unwind-perf.columns;v=1";
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let tag = format!("\"{tag}\"");
    let mut response = if text(header::IF_NONE_MATCH).split(',').any(|it| it.trim() == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else if !takes_gzip(text(header::ACCEPT_ENCODING)) {
        body(MultiGzDecoder::new(file), ()).into_response()
    } else {
        let part = part(text(header::RANGE), size);
        let Ok(part) = part else { return Ok(outside(size)) };
        let Range { start, end } = part.clone().unwrap_or(0..size);
        let failed =
            |error: io::Error| Problem::new(ProblemKind::Internal).detail(error.to_string());
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut response = body(file.take(end - start), ()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - start));
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Some(part) = part {
            mark_part(&mut response, part, size);
        }
        response
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(KIND));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.extend(HeaderValue::from_str(&tag).map(|it| (header::ETAG, it)));
    Ok(response)
}

/// Returns the requested range of a part of an existing file.
pub(super) fn partly(
    mut file: File,
    within: Range<u64>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let failed = |error: io::Error| Problem::new(ProblemKind::Internal).detail(error.to_string());
    let size = within.end.saturating_sub(within.start);
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let Ok(part) = part(range.unwrap_or_default(), size) else { return Ok(outside(size)) };
    let Range { start, end } = part.clone().unwrap_or(0..size);
    file.seek(SeekFrom::Start(within.start + start)).map_err(failed)?;
    let mut response = body(file.take(end - start), ()).into_response();
    if let Some(part) = part {
        mark_part(&mut response, part, size);
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - start));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    Ok(response)
}

/// Returns the answer for a range outside the file.
fn outside(size: u64) -> Response {
    let mut response = Problem::new(ProblemKind::WrongRange).into_response();
    let range = HeaderValue::from_str(&format!("bytes */{size}"));
    response.headers_mut().extend(range.map(|it| (header::CONTENT_RANGE, it)));
    response
}

fn mark_part(response: &mut Response, part: Range<u64>, size: u64) {
    let range = format!("bytes {}-{}/{size}", part.start, part.end.saturating_sub(1));
    let range = HeaderValue::from_str(&range).map(|it| (header::CONTENT_RANGE, it));
    response.headers_mut().extend(range);
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
}

/// Source: RFC 9110, "Accept-Encoding".
fn takes_gzip(text: &str) -> bool {
    text.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = weight
            .trim()
            .strip_prefix("q=")
            .is_some_and(|q| q.trim().parse::<f32>().is_ok_and(|q| q == 0.0));
        matches!(name.trim(), "gzip" | "x-gzip" | "*") && !refused
    })
}

/// Returns the single requested range; `None`, for the whole file, if the header is not such a range. `Err` if it lies
/// outside.
/// Source: RFC 9110, "Range".
fn part(text: &str, size: u64) -> Result<Option<Range<u64>>, ()> {
    let Some(range) = text.strip_prefix("bytes=") else { return Ok(None) };
    let Some((from, to)) = range.split_once('-') else { return Ok(None) };
    let number = |text: &str| text.parse::<u64>().ok();
    let (from, to) = match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => (from, to.saturating_add(1).min(size)),
        (Some(from), None) if to.is_empty() => (from, size),
        (None, Some(last)) if from.is_empty() => (size.saturating_sub(last), size),
        _ => return Ok(None),
    };
    if from < to { Ok(Some(from..to)) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        assert_eq!(part("", 10), Ok(None));
        assert_eq!(part("bytes=2-4", 10), Ok(Some(2..5)));
        assert_eq!(part("bytes=2-", 10), Ok(Some(2..10)));
        assert_eq!(part("bytes=-3", 10), Ok(Some(7..10)));
        assert_eq!(part("bytes=-30", 10), Ok(Some(0..10)));
        assert_eq!(part("bytes=8-99", 10), Ok(Some(8..10)));
        for outside in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(part(outside, 10), Err(()), "{outside}");
        }
        for other in ["bytes=4-2", "bytes=a-b", "lines=1-2", "bytes=1-2,4-5", "bytes=5"] {
            assert_eq!(part(other, 10), Ok(None), "{other}");
        }
    }

    #[test]
    fn gzip_is_sent_to_who_takes_it() {
        for text in ["gzip", "br, gzip;q=0.5", "*", "deflate, gzip"] {
            assert!(takes_gzip(text), "{text}");
        }
        for text in ["", "br", "gzip;q=0", "identity", "gzip; q=0.0"] {
            assert!(!takes_gzip(text), "{text}");
        }
    }
}
