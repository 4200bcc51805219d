//! Checks on downloads: size, speed, ELF magic, completeness and build-id.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use address::BuildId;
use host::{Origin, RealHost};
use image_store::Image;

/// Bytes between two progress reports.
const REPORTED: u64 = 256 << 10;

/// Least number of bytes that a server has to send in each [`answer`](super::limits::DownloadLimits::answer) time.
///
/// Source: `debuginfod-client-config(7)`, `DEBUGINFOD_TIMEOUT`.
pub(crate) const LEAST: u64 = 100 << 10;

/// A response body; reading it fails if it arrives too slowly.
#[derive(Debug)]
pub(crate) struct TimedReader<R> {
    body: R,
    /// Time for each [`LEAST`] bytes; `None` is no limit.
    time: Option<Duration>,
    /// Start of the current period, and the bytes received since.
    since: Instant,
    bytes: u64,
}

impl<R> TimedReader<R> {
    pub(crate) fn new(body: R, time: Option<Duration>) -> Self {
        Self { body, time, since: Instant::now(), bytes: 0 }
    }
}

impl<R: Read> Read for TimedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.body.read(buffer)?;
        self.bytes += n as u64;
        if n > 0 && self.time.is_some_and(|time| self.since.elapsed() >= time) {
            if self.bytes < LEAST {
                return Err(io::Error::from(io::ErrorKind::TimedOut));
            }
            (self.since, self.bytes) = (Instant::now(), 0);
        }
        Ok(n)
    }
}

/// Size limits of a body, known before it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    /// Its size in bytes, if the server states it.
    pub(crate) size: Option<u64>,
    /// Largest accepted size, in bytes.
    pub(crate) most: u64,
}

impl BodyLimits {
    /// Copies the body and returns its size in bytes.
    /// `report` receives the number of bytes copied so far and returns whether to continue.
    ///
    /// # Errors
    /// If the body is not an ELF file, too large or not of the stated size, or if it cannot be read or written.
    pub(crate) fn copy(
        &self,
        body: &mut impl Read,
        out: &mut impl Write,
        report: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<u64> {
        const MAGIC: &[u8] = b"\x7fELF";
        let mut buffer = vec![0; 1 << 16];
        let (mut total, mut last_reported) = (0_u64, 0);
        // Reads the magic, which may arrive in several pieces.
        let mut first = buffer.get_mut(..MAGIC.len()).unwrap_or_default();
        while !first.is_empty() {
            let n = body.read(first)?;
            if n == 0 {
                break;
            }
            total += n as u64;
            first = first.get_mut(n..).unwrap_or_default();
        }
        let magic = buffer.get(..MAGIC.len()).unwrap_or_default();
        if magic != MAGIC || total != MAGIC.len() as u64 {
            return Err(io::Error::other("the response is not an ELF file"));
        }
        out.write_all(magic)?;
        loop {
            let n = body.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            total += n as u64;
            if total > self.size.unwrap_or(self.most).min(self.most) {
                return Err(io::Error::other("the response is larger than allowed"));
            }
            out.write_all(buffer.get(..n).unwrap_or_default())?;
            if total - last_reported >= REPORTED {
                if !report(total) {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                last_reported = total;
            }
        }
        report(total);
        match self.size {
            Some(size) if size != total => Err(io::Error::other("the response is truncated")),
            _ => Ok(total),
        }
    }
}

/// Checks that a fetched file is complete and has the wanted build-id.
///
/// # Errors
/// If it is not.
pub(crate) fn check(path: &Path, size: u64, id: BuildId) -> io::Result<()> {
    let image = Image::open(&RealHost, path, Origin::User);
    let image = image.map_err(|_| io::Error::other("the response is damaged or truncated"))?;
    if !image.build_id().is_some_and(|found| found.matches(&id)) {
        return Err(io::Error::other("the response has another build-id"));
    }
    if image.has_lost_sections() {
        return Err(io::Error::other("the response is damaged or truncated"));
    }
    let is_inside = |section: &image_store::Section| section.end().is_some_and(|end| end <= size);
    if image.sections().iter().filter(|section| section.has_bytes()).all(is_inside) {
        Ok(())
    } else {
        Err(io::Error::other("the response is truncated"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(download: BodyLimits, body: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let copied = download.copy(&mut &*body, &mut out, &mut |_| true);
        copied.map(|_| out).map_err(|error| error.to_string())
    }

    #[test]
    fn bodies_are_believed_no_further_than_they_fit() {
        let any = BodyLimits { size: None, most: 8 };
        let elf = b"\x7fELF1234";
        assert_eq!(copied(any, elf), Ok(elf.to_vec()));
        assert_eq!(copied(BodyLimits { size: Some(8), ..any }, elf), Ok(elf.to_vec()));
        let cases: [(BodyLimits, &[u8], &str); 6] = [
            (any, b"", "the response is not an ELF file"),
            (any, b"\x7fEL", "the response is not an ELF file"),
            (any, b"<html>login please</html>", "the response is not an ELF file"),
            (any, b"\x7fELF12345", "the response is larger than allowed"),
            (BodyLimits { size: Some(9), most: 100 }, elf, "the response is truncated"),
            (BodyLimits { size: Some(7), most: 100 }, elf, "the response is larger than allowed"),
        ];
        for (download, body, error) in cases {
            assert_eq!(copied(download, body), Err(error.to_owned()));
        }
    }
}
