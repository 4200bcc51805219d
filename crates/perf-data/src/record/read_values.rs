//! Counter values in the format of `read(2)` on an event.
//!
//! Source: `include/uapi/linux/perf_event.h`, `struct read_format`. The format is respected: `perf` assumes an id.

use crate::bytes::{FieldReader, Words};
use crate::event::ReadFormat;

/// Value of one counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadValue {
    /// Count.
    pub value: u64,
    /// Id of its event.
    pub id: Option<u64>,
    /// Number of its samples that were lost.
    pub lost: Option<u64>,
}

/// Counters of an event or of its group.
#[derive(Clone, Copy, Debug)]
pub struct ReadValues<'d> {
    format: ReadFormat,
    /// Time that the event was enabled, in nanoseconds.
    pub time_enabled: Option<u64>,
    /// Time that it counted, in nanoseconds.
    pub time_running: Option<u64>,
    words: Words<'d>,
}

impl<'d> ReadValues<'d> {
    /// Reads values in a format; `None` if they are truncated.
    pub(crate) fn read(cursor: &mut FieldReader<'d>, format: ReadFormat) -> Option<Self> {
        let entry = entry_len(format);
        if format.has(ReadFormat::GROUP) {
            let count = cursor.u64()?;
            let (time_enabled, time_running) = times(cursor, format)?;
            let words = cursor.words(count.checked_mul(entry)?)?;
            return Some(Self { format, time_enabled, time_running, words });
        }
        // The times are between the value and its id, so the times are read with a second cursor.
        let mut values = *cursor;
        let n_times = u64::from(format.has(ReadFormat::TIME_ENABLED))
            + u64::from(format.has(ReadFormat::TIME_RUNNING));
        let words = cursor.words(entry + n_times)?;
        values.u64()?;
        let (time_enabled, time_running) = times(&mut values, format)?;
        Some(Self { format, time_enabled, time_running, words })
    }

    /// Returns the counters; one unless the event is in a group.
    pub fn iter(&self) -> impl Iterator<Item = ReadValue> + use<'d> {
        let (format, words) = (self.format, self.words);
        let entry = entry_len(format) as usize;
        let group = format.has(ReadFormat::GROUP);
        let n_times =
            usize::from(self.time_enabled.is_some()) + usize::from(self.time_running.is_some());
        // Without a group the times separate the value from its id.
        let (count, gap) = if group { (words.len() / entry, 0) } else { (1, n_times) };
        (0..count).filter_map(move |index| {
            let base = index * entry;
            let value = words.get(base)?;
            let mut next = base + 1 + gap;
            let mut field = |bit| {
                let at = next;
                format.has(bit).then(|| next += 1).and_then(|()| words.get(at))
            };
            Some(ReadValue { value, id: field(ReadFormat::ID), lost: field(ReadFormat::LOST) })
        })
    }
}

/// Returns the number of words of one counter.
fn entry_len(format: ReadFormat) -> u64 {
    1 + u64::from(format.has(ReadFormat::ID)) + u64::from(format.has(ReadFormat::LOST))
}

fn times(cursor: &mut FieldReader<'_>, format: ReadFormat) -> Option<(Option<u64>, Option<u64>)> {
    let mut time = |bit| if format.has(bit) { cursor.u64().map(Some) } else { Some(None) };
    Some((time(ReadFormat::TIME_ENABLED)?, time(ReadFormat::TIME_RUNNING)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;

    type DecodedValues = (Option<u64>, Option<u64>, Vec<ReadValue>, usize);

    fn read(words: &[u64], format: u64) -> Option<DecodedValues> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut cursor = FieldReader::new(&bytes, Endian::Little);
        let values = ReadValues::read(&mut cursor, ReadFormat(format))?;
        Some((
            values.time_enabled,
            values.time_running,
            values.iter().collect(),
            cursor.remaining(),
        ))
    }

    #[test]
    fn single() {
        let value = ReadValue { value: 1, id: Some(4), lost: Some(5) };
        assert_eq!(
            read(&[1, 2, 3, 4, 5, 6], 1 | 2 | 4 | 16),
            Some((Some(2), Some(3), vec![value], 8))
        );
        let value = ReadValue { value: 1, id: None, lost: Some(3) };
        assert_eq!(read(&[1, 2, 3], 2 | 16), Some((None, Some(2), vec![value], 0)));
        assert_eq!(
            read(&[1], 0),
            Some((None, None, vec![ReadValue { value: 1, id: None, lost: None }], 0))
        );
        assert_eq!(read(&[1], 4), None);
    }

    #[test]
    fn group() {
        let values = vec![
            ReadValue { value: 10, id: Some(11), lost: None },
            ReadValue { value: 20, id: Some(21), lost: None },
        ];
        assert_eq!(
            read(&[2, 5, 6, 10, 11, 20, 21], 1 | 2 | 4 | 8),
            Some((Some(5), Some(6), values, 0))
        );
        assert_eq!(read(&[3, 10, 20], 8), None);
        assert_eq!(read(&[u64::MAX, 10, 20], 8), None);
    }
}
