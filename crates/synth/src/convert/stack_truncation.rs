//! A recording with shorter copies of the user stack, as with a smaller dump size.

use super::attr::attributes;
use super::fields::{Fields, Order, Unknown};
use super::header::{header, part, range};
use super::sample;

const SAMPLE: u32 = 9;
const AUXTRACE: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];
const DIR_FORMAT: u16 = 24;

/// Truncates each sample's user stack to at most `keep` valid bytes; returns the number of samples that had more.
/// Only the valid size changes; the bytes after it stay. The recording is a little-endian file of `perf record`.
///
/// Source: `PERF_SAMPLE_STACK_USER`, `include/uapi/linux/perf_event.h`: `size`, the bytes, `dyn_size`.
///
/// # Errors
/// If it has another form (a stream, compressed, of a directory, not finished) or contains something unsupported.
/// It may then be truncated in part.
pub fn truncate_stacks(recording: &mut [u8], keep: u64) -> Result<usize, String> {
    let header = header(recording, Order::Unchanged)?;
    if header.features.contains(&DIR_FORMAT) {
        return Err("a file of a recording in a directory".into());
    }
    if header.data.is_empty() {
        return Err("a recording that was not finished".into());
    }
    let attrs = attributes(recording, header.attrs, header.entry, Order::Unchanged)?;
    let data =
        part(recording, header.data).map_err(|_| "a file that ends before its records do")?;
    let mut cut = 0;
    let mut at = 0;
    while at < data.len() {
        let it = &mut Fields::new(part(data, range(at, 8))?, Order::Unchanged);
        let (kind, _misc, size) = (it.u32()?, it.u16()?, usize::from(it.u16()?));
        let placed = |why: Unknown| format!("{why}, in the record {at:#x} bytes into the data");
        let body_size = size.checked_sub(8).ok_or_else(|| placed(format!("{size} bytes")))?;
        let body = part(data, range(at + 8, body_size)).map_err(placed)?;
        let mut trace = 0;
        match kind {
            SAMPLE => {
                let attr = sample::event(body, &attrs).map_err(placed)?;
                let valid = sample::body(&mut Fields::new(body, Order::Unchanged), attr);
                if let Some(valid) = valid.map_err(placed)? {
                    cut += usize::from(shorten(part(body, range(valid, 8))?, keep));
                }
            }
            // The trace follows its record.
            AUXTRACE => trace = Fields::new(body, Order::Unchanged).size().map_err(placed)?,
            _ if COMPRESSED.contains(&kind) => {
                return Err("a recording with compressed records".into());
            }
            _ => {}
        }
        at = at.saturating_add(size).saturating_add(trace);
    }
    Ok(cut)
}

/// Lowers a byte count to `keep`; returns true if it was higher.
fn shorten(number: &mut [u8], keep: u64) -> bool {
    let Some(bytes) = number.first_chunk_mut() else { return false };
    let is_more = u64::from_le_bytes(*bytes) > keep;
    if is_more {
        *bytes = keep.to_le_bytes();
    }
    is_more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Branch, BranchStack, Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder,
        SampleId, SampleStack, UserRecord, branch_sample, read_format, sample_type as has,
    };

    const STACK: [u8; 32] = [0x5a; 32];

    /// Returns the attribute of an event with all fields before and after the stack.
    fn rich() -> EventAttr {
        EventAttr {
            sample_type: has::IDENTIFIER
                | has::IP
                | has::TID
                | has::TIME
                | has::READ
                | has::CALLCHAIN
                | has::RAW
                | has::BRANCH_STACK
                | has::REGS_USER
                | has::STACK_USER
                | has::WEIGHT_STRUCT
                | has::REGS_INTR
                | has::AUX,
            read_format: read_format::GROUP | read_format::ID | read_format::LOST,
            branch_sample_type: branch_sample::HW_INDEX | branch_sample::COUNTERS,
            sample_regs_intr: 1,
            ..EventAttr::dwarf(0b11)
        }
    }

    /// Returns another event of the same recording, with a plain sample.
    fn plain() -> EventAttr {
        let sample_type = has::IDENTIFIER | has::TID | has::REGS_USER | has::STACK_USER;
        EventAttr { sample_type, ..EventAttr::dwarf(0b1) }
    }

    fn two_events() -> PerfDataBuilder {
        let mut it = PerfDataBuilder::new(Endian::Little);
        it.event("cycles", rich(), &[7, 8]);
        it.event("faults", plain(), &[9]);
        it
    }

    fn rich_sample(branches: BranchStack) -> SampleBuilder {
        let raw = vec![1; 5];
        let sample = SampleBuilder { id: 8, raw, branches, aux: vec![2], ..Default::default() };
        sample.with_callchain(&[1, 2]).with_regs(&[3, 4]).with_stack(&STACK)
    }

    fn plain_sample() -> SampleBuilder {
        SampleBuilder { id: 9, ..Default::default() }.with_regs(&[3]).with_stack(&STACK)
    }

    /// Truncates the file, and expects these numbers at these offsets and every other byte unchanged.
    fn expect_changes(it: &PerfDataBuilder, keep: u64, changes: &[(usize, u64)]) {
        let mut expected = it.build();
        for &(place, number) in changes {
            expected[place..place + 8].copy_from_slice(&number.to_le_bytes());
        }
        let mut found = it.build();
        assert_eq!(truncate_stacks(&mut found, keep), Ok(changes.len()));
        assert!(found == expected, "other bytes than {changes:?}");
    }

    fn refusal(it: &PerfDataBuilder) -> String {
        truncate_stacks(&mut it.build(), 8).expect_err("what cannot be cut")
    }

    #[test]
    fn only_the_number_of_valid_bytes_changes() {
        let mut it = two_events();
        let comm = Record::Comm { pid: 1, tid: 1, comm: b"a", exec: true };
        it.record_at(&comm, SampleId::at(1, 1, 5));
        let branches = BranchStack {
            entries: vec![Branch::default(); 2],
            hw_idx: Some(1),
            counters: vec![2, 3],
        };
        it.sample(&rich_sample(branches)).sample_of(1, &plain_sample());
        it.feature(&Feature::Hostname("host"));
        let file = it.build_file();
        // After the valid size of the first: weight, the ABI "none" of the interrupted registers, size and bytes of
        // AUX.
        let (first, second) = (file.records[2] - 5 * 8, file.data.end - 8);
        for keep in [0, 16, 31] {
            expect_changes(&it, keep, &[(first, keep), (second, keep)]);
        }
        expect_changes(&it, 32, &[]);
    }

    #[test]
    fn a_branch_stack_without_entries_has_an_index_or_none() {
        for hw_idx in [None, Some(1)] {
            let mut it = two_events();
            it.sample(&rich_sample(BranchStack { hw_idx, ..Default::default() }));
            let place = it.build_file().data.end - 5 * 8;
            expect_changes(&it, 16, &[(place, 16)]);
        }
    }

    #[test]
    fn what_is_valid_counts_and_not_what_was_copied() {
        let mut it = two_events();
        let stack = SampleStack { bytes: STACK.to_vec(), dyn_size: Some(20), stated_size: None };
        it.sample_of(1, &SampleBuilder { stack_user: stack, ..plain_sample() });
        let place = it.build_file().data.end - 8;
        expect_changes(&it, 16, &[(place, 16)]);
        expect_changes(&it, 20, &[]);
    }

    #[test]
    fn samples_without_a_stack_stay() {
        let mut it = two_events();
        it.sample_of(1, &plain_sample().with_stack(&[]));
        it.sample_of(1, &SampleBuilder { id: 9, ..Default::default() });
        expect_changes(&it, 8, &[]);
    }

    #[test]
    fn a_trace_behind_its_record_is_passed_over() {
        let mut it = two_events();
        let data = &plain_sample().encode(&plain(), Endian::Little);
        let trace = UserRecord::Auxtrace { offset: 0, reference: 0, idx: 0, tid: 0, cpu: 0, data };
        it.user_record(&trace).sample_of(1, &plain_sample());
        let place = it.build_file().data.end - 8;
        expect_changes(&it, 16, &[(place, 16)]);
    }

    #[test]
    fn other_forms_are_refused_in_words() {
        let mut it = two_events();
        it.sample_of(1, &plain_sample());
        let mut pipe = it.build_pipe(&crate::PipeLayout::default());
        assert_eq!(truncate_stacks(&mut pipe, 8), Err("a recording in pipe form".into()));
        let mut short = it.build_file();
        short.bytes.truncate(short.data.end - 1);
        let refused = truncate_stacks(&mut short.bytes, 8);
        assert_eq!(refused, Err("a file that ends before its records do".into()));
        let mut other = it.clone();
        other.layout.finished = false;
        assert_eq!(refusal(&other), "a recording that was not finished");
        let mut other = it.clone();
        other.raw_feature(24, &1_u64.to_le_bytes());
        assert_eq!(refusal(&other), "a file of a recording in a directory");
        for kind in [81, 83] {
            let mut other = it.clone();
            other.raw_record(kind, 0, &[0; 16]);
            assert_eq!(refusal(&other), "a recording with compressed records");
        }
        let mut other = it.clone();
        other.sample_of(1, &SampleBuilder { id: 5, ..plain_sample() });
        let at = it.record_stream().len();
        let unknown = "a sample of the event with the id Some(5)";
        assert_eq!(
            refusal(&other),
            format!("{unknown}, in the record {at:#x} bytes into the data")
        );
    }
}
