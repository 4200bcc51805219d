//! The recording without the copies of its stacks: each sample has its callchain instead, as recorders write it.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comment on `PERF_RECORD_SAMPLE`: the fields in their order, and
//! `enum perf_callchain_context`.

use anyhow::{Context as _, bail};
use hashbrown::HashMap;
use host::Content;
use perf_data::{EventAttr, SampleType};
use pipeline::{Analysis, MapReplay};
use profile::{FoundBy, Profile, SampleId, SampleRow};

use crate::commands::inject::Layout;

/// `PERF_CONTEXT_USER`: what follows in a callchain is of user mode.
const CONTEXT_USER: u64 = -512_i64 as u64;
/// A word of a record.
const WORD: usize = 8;
/// Fields of eight bytes before the callchain, each there where its bit is set.
const BEFORE: [SampleType; 9] = [
    SampleType::IDENTIFIER,
    SampleType::IP,
    SampleType::TID,
    SampleType::TIME,
    SampleType::ADDR,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::PERIOD,
];

/// The recording with chains in the place of stacks and registers. `maps` is of the same recording, from its begin.
///
/// # Errors
/// Where it is of a form that cannot be rewritten.
pub(super) fn without_stacks(
    recording: &Content,
    analysis: &Analysis,
    maps: &mut MapReplay,
) -> anyhow::Result<Vec<u8>> {
    let layout = Layout::read(recording)?;
    if analysis.head.features().compressed.is_some() {
        bail!("compressed records cannot be rewritten");
    }
    let attr = common_attr(analysis)?;
    let rows = rows_by_position(&analysis.profile, maps)?;
    let mut data = Vec::with_capacity(recording.len() / 4);
    let mut at = layout.data().start;
    while at < layout.data().end {
        let end = layout.end_of(recording, at as u64).context("a record is damaged")?;
        let record = recording.get(at..end).context("a record is damaged")?;
        match rows.get(&(at as u64)) {
            Some(&row) => {
                let chain = chain(&analysis.profile, row);
                let sample = rewritten(record, attr, &chain).context("a sample is damaged")?;
                data.extend(sample);
            }
            None => data.extend(record),
        }
        at = end;
    }
    layout.with_data(recording, &data).context("its headers are damaged")
}

/// What samples carry: the same for all events.
fn common_attr(analysis: &Analysis) -> anyhow::Result<&EventAttr> {
    let mut attrs = analysis.head.events().iter().map(|event| &event.attr);
    let first = attrs.next().context("the recording has no events")?;
    let fields = |attr: &EventAttr| (attr.sample_type, attr.sample_regs_user);
    if !attrs.all(|attr| fields(attr) == fields(first)) {
        bail!("samples of several events carry different things, which cannot be rewritten");
    }
    if !first.sample_type.has(SampleType::CALLCHAIN) {
        bail!("samples carry no callchain, which the frames could go into");
    }
    if first.sample_type.has(SampleType::READ) || first.sample_type.has(SampleType::BRANCH_STACK) {
        bail!("samples carry counters or branches, which cannot be rewritten");
    }
    Ok(first)
}

/// The sample of each position in the file.
fn rows_by_position(
    profile: &Profile,
    maps: &mut MapReplay,
) -> anyhow::Result<HashMap<u64, SampleId>> {
    let mut rows = HashMap::new();
    let mut next = 0;
    while let Some(batch) = maps.next_batch() {
        for sample in batch.samples() {
            let row = SampleId::new(next);
            let time = profile.samples.get(row).map(|it| it.time.unwrap_or_default());
            if time != Some(sample.time) {
                bail!("its samples cannot be told apart");
            }
            rows.insert(sample.position, row);
            next += 1;
        }
    }
    if next as usize != profile.samples.len() {
        bail!("its samples cannot be told apart");
    }
    Ok(rows)
}

/// The user part of a sample's chain as a recorder writes it: the address of the innermost frame, then return addresses,
/// one above what was looked up. Frames that are known of other samples only are not of this one.
fn chain(profile: &Profile, sample: SampleId) -> Vec<u64> {
    let mut words = Vec::new();
    let Some(sample) = profile.samples.get(sample) else { return words };
    for (frame, address) in user_frames(profile, sample) {
        if matches!(frame, FoundBy::Joined | FoundBy::Gap) {
            break;
        }
        words.push(if words.is_empty() { address } else { address.wrapping_add(1) });
    }
    words
}

/// How each user frame was found, and its looked-up address, innermost first.
fn user_frames<'p>(
    profile: &'p Profile,
    sample: &'p SampleRow,
) -> impl Iterator<Item = (FoundBy, u64)> + 'p {
    let nodes = std::iter::successors(sample.stack, |&node| {
        profile.stacks.get(node)?.parent.filter(|&parent| parent < node)
    });
    nodes.filter_map(|node| {
        let id = profile.stacks.get(node)?.frame;
        let frame = profile.frames.get(id).filter(|frame| !frame.kernel)?;
        Some((frame.found_by, profile.frame_address(sample, id)?.0))
    })
}

/// How many samples have other user frames than before, as far as those were their own.
pub(super) fn changed(before: &Profile, after: &Profile) -> usize {
    let own = |profile, sample| {
        let frames = user_frames(profile, sample);
        let own = frames.take_while(|(by, _)| !matches!(by, FoundBy::Joined | FoundBy::Gap));
        own.map(|(_, address)| address).collect::<Vec<_>>()
    };
    let samples = before.samples.iter().zip(after.samples.iter());
    samples.filter(|&(old, new)| own(before, old) != own(after, new)).count()
}

/// The sample with the chain, no registers and no stack. `None` where it is damaged.
fn rewritten(record: &[u8], attr: &EventAttr, chain: &[u64]) -> Option<Vec<u8>> {
    let fields = BEFORE.iter().filter(|&&field| attr.sample_type.has(field)).count();
    let mut at = WORD + fields * WORD;
    let mut out = record.get(..at)?.to_vec();
    let count = usize::try_from(word(record, at)?).ok()?;
    let recorded = record.get(at + WORD..)?.get(..count.checked_mul(WORD)?)?;
    at += WORD + recorded.len();
    let mut words: Vec<u64> = recorded.chunks_exact(WORD).filter_map(|it| word(it, 0)).collect();
    // What is of the kernel stays.
    let kernel = words.iter().position(|&word| word == CONTEXT_USER).unwrap_or(words.len());
    words.truncate(kernel);
    if !chain.is_empty() {
        words.push(CONTEXT_USER);
        words.extend(chain);
    }
    out.extend((words.len() as u64).to_le_bytes());
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    if attr.sample_type.has(SampleType::RAW) {
        let size = u32::from_le_bytes(*record.get(at..)?.first_chunk()?) as usize;
        out.extend(record.get(at..at + 4 + size)?);
        at += 4 + size;
    }
    if attr.sample_type.has(SampleType::REGS_USER) {
        let registers = if word(record, at)? == 0 { 0 } else { attr.sample_regs_user.count_ones() };
        at += WORD + registers as usize * WORD;
        out.extend([0; WORD]);
    }
    if attr.sample_type.has(SampleType::STACK_USER) {
        let size = usize::try_from(word(record, at)?).ok()?;
        at = at.checked_add(WORD)?.checked_add(if size == 0 { 0 } else { size + WORD })?;
        out.extend([0; WORD]);
    }
    out.extend(record.get(at..)?);
    let size = u16::try_from(out.len()).ok()?;
    out.get_mut(6..8)?.copy_from_slice(&size.to_le_bytes());
    Some(out)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_gets_its_chain_and_loses_its_stack() {
        let mut record = Vec::new();
        let push = |record: &mut Vec<u8>, words: &[u64]| {
            record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        };
        // Address, time; a chain of the kernel; two registers; eight bytes of stack; a weight.
        push(&mut record, &[0, 0x40_1000, 77, 2, -128_i64 as u64, 0xffff_8000]);
        push(&mut record, &[2, 0x5ec4e7, 0x5ec4e7, 8, 0x5ec4e7, 8, 99]);
        let kind = |bits: &[SampleType]| SampleType(bits.iter().fold(0, |all, bit| all | bit.0));
        let attr = EventAttr {
            sample_type: kind(&[
                SampleType::IP,
                SampleType::TIME,
                SampleType::CALLCHAIN,
                SampleType::REGS_USER,
                SampleType::STACK_USER,
                SampleType::WEIGHT,
            ]),
            sample_regs_user: 3 << 7,
            ..EventAttr::default()
        };
        let out = rewritten(&record, &attr, &[0x40_1000, 0x40_2001]).expect("a sample");
        let mut expected = Vec::new();
        push(&mut expected, &[(12 * 8) << 48, 0x40_1000, 77, 5, -128_i64 as u64, 0xffff_8000]);
        push(&mut expected, &[CONTEXT_USER, 0x40_1000, 0x40_2001, 0, 0, 99]);
        assert_eq!(out, expected);
        for len in 0..record.len() - WORD {
            assert!(rewritten(&record[..len], &attr, &[1]).is_none(), "{len}");
        }
    }
}
