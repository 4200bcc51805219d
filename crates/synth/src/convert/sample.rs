//! Fields of samples and trailers.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_RECORD_SAMPLE`; `kernel/events/core.c`, `perf_output_sample`.

use super::attr::Attr;
use super::fields::{Fields, Order, Unknown};
use crate::perf::attr::{branch_sample, read_format, sample_type as has};

const TRAILER: u64 = has::TID | has::TIME | has::ID | has::STREAM_ID | has::CPU | has::IDENTIFIER;

/// Returns the event of a sample that is not swapped yet.
pub(super) fn event<'a>(body: &[u8], attrs: &'a [Attr]) -> Result<&'a Attr, Unknown> {
    let [first, _, ..] = attrs else { return attrs.first().ok_or_else(|| "no events".into()) };
    let before = [has::IP, has::TID, has::TIME, has::ADDR];
    let words = if first.sample_type & has::IDENTIFIER != 0 {
        0
    } else {
        before.iter().filter(|&&bit| first.sample_type & bit != 0).count()
    };
    let id =
        body.get(words * 8..).and_then(|id| id.first_chunk()).map(|id| u64::from_le_bytes(*id));
    let of_id = attrs.iter().find(|attr| id.is_some_and(|id| attr.ids.contains(&id)));
    of_id.ok_or_else(|| format!("a sample of the event with the id {id:?}"))
}

/// Returns the size of the trailer, in bytes.
pub(super) fn trailer_len(attr: &Attr) -> usize {
    8 * (attr.sample_type & TRAILER).count_ones() as usize
}

/// Reads the fields of a trailer.
pub(super) fn trailer(it: &mut Fields<'_>, attr: &Attr) -> Result<(), Unknown> {
    for bit in [has::TID, has::TIME, has::ID, has::STREAM_ID, has::CPU, has::IDENTIFIER] {
        if attr.sample_type & bit != 0 {
            word(it, bit)?;
        }
    }
    Ok(())
}

/// Reads one word, or two halves.
fn word(it: &mut Fields<'_>, bit: u64) -> Result<(), Unknown> {
    if bit == has::TID || bit == has::CPU { it.u32s(2) } else { it.u64().map(drop) }
}

/// Reads the fields of a sample's body. Returns the offset of the user stack's valid size in the body, if the stack has
/// bytes.
pub(super) fn body(it: &mut Fields<'_>, attr: &Attr) -> Result<Option<usize>, Unknown> {
    let is = |bit: u64| attr.sample_type & bit != 0;
    let words = [
        has::IDENTIFIER,
        has::IP,
        has::TID,
        has::TIME,
        has::ADDR,
        has::ID,
        has::STREAM_ID,
        has::CPU,
        has::PERIOD,
    ];
    words.into_iter().filter(|&bit| is(bit)).try_for_each(|bit| word(it, bit))?;
    if is(has::READ) {
        read(it, attr.read_format)?;
    }
    if is(has::CALLCHAIN) {
        let count = it.size()?;
        it.u64s(count)?;
    }
    if is(has::RAW) {
        it.string()?;
    }
    if is(has::BRANCH_STACK) {
        branches(it, attr)?;
    }
    tail(it, attr)
}

/// Reads the fields after the branch stack.
fn tail(it: &mut Fields<'_>, attr: &Attr) -> Result<Option<usize>, Unknown> {
    let is = |bit: u64| attr.sample_type & bit != 0;
    if is(has::REGS_USER) {
        registers(it, attr.regs_user)?;
    }
    let mut valid = None;
    if is(has::STACK_USER) {
        let size = it.size()?;
        // A stack consists of words in the byte order of the machine.
        it.u64s(size / 8)?;
        if size > 0 {
            valid = Some(it.at());
            it.u64()?;
        }
    }
    for bit in [has::WEIGHT | has::WEIGHT_STRUCT, has::DATA_SRC, has::TRANSACTION] {
        if is(bit) {
            it.u64()?;
        }
    }
    if is(has::REGS_INTR) {
        registers(it, attr.regs_intr)?;
    }
    for bit in [has::PHYS_ADDR, has::CGROUP, has::DATA_PAGE_SIZE, has::CODE_PAGE_SIZE] {
        if is(bit) {
            it.u64()?;
        }
    }
    if is(has::AUX) {
        let size = it.size()?;
        it.skip(size)?;
    }
    it.end("sample")?;
    Ok(valid)
}

fn registers(it: &mut Fields<'_>, mask: u64) -> Result<(), Unknown> {
    if it.u64()? == 0 { Ok(()) } else { it.u64s(mask.count_ones() as usize) }
}

fn read(it: &mut Fields<'_>, format: u64) -> Result<(), Unknown> {
    let count = |bits: &[u64]| bits.iter().filter(|&&bit| format & bit != 0).count();
    let times = count(&[read_format::TOTAL_TIME_ENABLED, read_format::TOTAL_TIME_RUNNING]);
    let values = 1 + count(&[read_format::ID, read_format::LOST]);
    if format & read_format::GROUP == 0 {
        return it.u64s(times + values);
    }
    let members = it.size()?;
    it.u64s(times + members * values)
}

fn branches(it: &mut Fields<'_>, attr: &Attr) -> Result<(), Unknown> {
    let kind = attr.branch_sample_type;
    let count = it.size()?;
    if kind & branch_sample::HW_INDEX != 0 && (count > 0 || has_empty_index(it, attr)) {
        it.u64()?;
    }
    for _ in 0..count {
        it.u64s(2)?;
        it.bit_field()?;
    }
    if kind & branch_sample::COUNTERS != 0 {
        it.u64s(count)?;
    }
    Ok(())
}

/// Returns true if an index follows a zero count. The kernel omits it if there is no branch stack.
/// The two cases are told apart by whether the rest of the sample parses.
fn has_empty_index(it: &Fields<'_>, attr: &Attr) -> bool {
    let comes_out = |skipped: usize| {
        let mut rest = it.rest().get(skipped..).map(<[u8]>::to_vec);
        rest.as_mut()
            .is_some_and(|rest| tail(&mut Fields::new(rest, Order::Unchanged), attr).is_ok())
    };
    !comes_out(0) && comes_out(8)
}
