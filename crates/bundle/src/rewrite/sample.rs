//! Sample with a callchain, without registers and stack.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comment on `PERF_RECORD_SAMPLE`: the fields in their order, and
//! `enum perf_callchain_context`.

use perf_data::{
    BranchFlags, BranchStack, CpuMode, EventAttr, ReadFormat, ReadValues, RecordKind, Sample,
    SampleType, Weight,
};

use super::fields::Fields;

/// `PERF_CONTEXT_USER`: the following entries of a callchain are in user mode.
const CONTEXT_USER: u64 = -512_i64 as u64;
/// `PERF_CONTEXT_MAX`: higher entries are contexts.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
/// `PERF_SAMPLE_BRANCH_HW_INDEX` and `PERF_SAMPLE_BRANCH_COUNTERS`.
const BRANCH_HW_INDEX: u64 = 1 << 17;
const BRANCH_COUNTERS: u64 = 1 << 19;

/// Encodes a sample with the fields of an attribute; `None` if it is damaged or too long. `chain` replaces the user part
/// of the callchain; without one, the recorded part stays. `anonymous` omits raw data.
pub(super) fn sample(
    sample: &Sample<'_>,
    attr: &EventAttr,
    chain: Option<&[u64]>,
    anonymous: bool,
) -> Option<Vec<u8>> {
    SampleParts::of(sample, attr, anonymous)?.with_chain(chain)
}

/// An encoded sample whose callchain is not yet known.
#[derive(Debug)]
pub(super) struct SampleParts {
    /// Fields before the callchain, with the record's header.
    before: Fields,
    /// `None` if the sample has no callchain.
    chain: Option<RecordedChain>,
    /// Fields after the callchain.
    after: Vec<u8>,
}

impl SampleParts {
    /// Encodes a sample with the fields of an attribute; `None` if it is damaged. `anonymous` omits raw data.
    pub(super) fn of(sample: &Sample<'_>, attr: &EventAttr, anonymous: bool) -> Option<Self> {
        if sample.damage.is_some() {
            return None;
        }
        let has = |field| attr.sample_type.has(field);
        let mut before = Fields::record(RecordKind::SAMPLE, sample.misc);
        words_before(&mut before, sample, has);
        if has(SampleType::READ) {
            read(&mut before, sample.read.as_ref()?, attr.read_format);
        }
        let chain = has(SampleType::CALLCHAIN).then(|| RecordedChain::of(sample));
        let mut after = Fields::section();
        if has(SampleType::RAW) {
            raw(&mut after, sample.raw.filter(|_| !anonymous).unwrap_or_default());
        }
        if has(SampleType::BRANCH_STACK) {
            branches(&mut after, sample.branch_stack.as_ref(), attr.branch_sample_type);
        }
        // No registers, and an empty stack.
        for field in [SampleType::REGS_USER, SampleType::STACK_USER] {
            if has(field) {
                after.u64(0);
            }
        }
        if has(SampleType::WEIGHT) || has(SampleType::WEIGHT_STRUCT) {
            after.u64(sample.weight.map_or(0, weight));
        }
        words_after(&mut after, sample, has);
        Some(Self { before, chain, after: after.take() })
    }

    /// Returns the record, with `user` in place of the user part of its callchain; `None` if it is too long.
    pub(super) fn with_chain(&self, user: Option<&[u64]>) -> Option<Vec<u8>> {
        let mut out = self.before.clone();
        if let Some(chain) = &self.chain {
            let words = match user {
                Some(user) => chain.with_user(user),
                None => chain.words.clone(),
            };
            out.u64(words.len() as u64).u64s(words);
        }
        out.bytes(&self.after);
        out.finish()
    }
}

/// Appends the one-word fields that precede the counters.
fn words_before(out: &mut Fields, sample: &Sample<'_>, has: impl Fn(SampleType) -> bool) {
    let id = sample.id.unwrap_or_default();
    let task = [sample.pid.map(|pid| pid.0), sample.tid.map(|tid| tid.0)];
    for (field, word) in [
        (SampleType::IDENTIFIER, id),
        (SampleType::IP, sample.ip.unwrap_or_default().0),
        (SampleType::TID, halves(task.map(|id| id.unwrap_or_default().cast_unsigned()))),
        (SampleType::TIME, sample.time.0),
        (SampleType::ADDR, sample.addr.unwrap_or_default().0),
        (SampleType::ID, id),
        (SampleType::STREAM_ID, sample.stream_id.unwrap_or_default()),
        (SampleType::CPU, sample.cpu.unwrap_or_default().into()),
        (SampleType::PERIOD, sample.period.unwrap_or_default()),
    ] {
        if has(field) {
            out.u64(word);
        }
    }
}

/// Appends the one-word fields that follow the stack.
fn words_after(out: &mut Fields, sample: &Sample<'_>, has: impl Fn(SampleType) -> bool) {
    for (field, word) in [
        (SampleType::DATA_SRC, sample.data_src),
        (SampleType::TRANSACTION, sample.transaction),
        (SampleType::REGS_INTR, None),
        (SampleType::PHYS_ADDR, sample.phys_addr),
        (SampleType::CGROUP, sample.cgroup),
        (SampleType::DATA_PAGE_SIZE, sample.data_page_size),
        (SampleType::CODE_PAGE_SIZE, sample.code_page_size),
        // Empty part of an AUX trace.
        (SampleType::AUX, None),
    ] {
        if has(field) {
            out.u64(word.unwrap_or_default());
        }
    }
}

/// Combines two 32-bit numbers; the first one is at the lower address.
fn halves([first, second]: [u32; 2]) -> u64 {
    u64::from(second) << 32 | u64::from(first)
}

/// A recorded callchain: words with contexts.
#[derive(Debug)]
struct RecordedChain {
    words: Vec<u64>,
    /// Index of the user part; the number of words if there is none.
    user: usize,
}

impl RecordedChain {
    fn of(sample: &Sample<'_>) -> Self {
        let words: Vec<u64> = sample.callchain.iter().flat_map(|it| it.entries()).collect();
        // Addresses before the first context are in the mode of the sample.
        let is_unmarked = words.first().is_some_and(|&word| word < CONTEXT_MAX);
        let user = match is_unmarked && sample.cpu_mode == CpuMode::User {
            true => 0,
            false => words.iter().position(|&word| word == CONTEXT_USER).unwrap_or(words.len()),
        };
        Self { words, user }
    }

    /// Returns the words with another user part.
    fn with_user(&self, user: &[u64]) -> Vec<u64> {
        let mut words: Vec<u64> = self.words.iter().take(self.user).copied().collect();
        if !user.is_empty() {
            words.push(CONTEXT_USER);
            words.extend(user);
        }
        words
    }
}

/// Appends counter values, in the layout of `read_format`.
fn read(out: &mut Fields, values: &ReadValues<'_>, format: ReadFormat) {
    let times = [values.time_enabled, values.time_running].into_iter().flatten();
    let is_group = format.has(ReadFormat::GROUP);
    if is_group {
        out.u64(values.iter().count() as u64).u64s(times.clone());
    }
    for value in values.iter() {
        out.u64(value.value);
        if !is_group {
            out.u64s(times.clone());
        }
        out.u64s([value.id, value.lost].into_iter().flatten());
    }
}

/// Appends raw data: its size, and bytes padded so that both fill whole words.
fn raw(out: &mut Fields, data: &[u8]) {
    const WORD: usize = 8;
    let padding = (data.len() + 4).next_multiple_of(WORD) - 4 - data.len();
    out.u32((data.len() + padding) as u32).bytes(data);
    out.bytes(&[0; WORD][..padding.min(WORD)]);
}

/// Appends the last branches, which consist of addresses only.
fn branches(out: &mut Fields, stack: Option<&BranchStack<'_>>, kind: u64) {
    let entries: Vec<_> = stack.iter().flat_map(|it| it.iter()).collect();
    out.u64(entries.len() as u64);
    if kind & BRANCH_HW_INDEX != 0 {
        out.u64(stack.and_then(|it| it.hw_index).unwrap_or(u64::MAX));
    }
    for branch in &entries {
        out.u64s([branch.from.0, branch.to.0, flags(branch.flags)]);
    }
    if kind & BRANCH_COUNTERS != 0 {
        out.u64s(entries.iter().map(|branch| branch.counters.unwrap_or_default()));
    }
}

/// Encodes the flags of a branch, from the lowest bit up. Source: `struct perf_branch_entry`.
fn flags(flags: BranchFlags) -> u64 {
    [
        (flags.mispredicted(), 0),
        (flags.predicted(), 1),
        (flags.in_transaction(), 2),
        (flags.abort(), 3),
        (flags.cycles(), 4),
        (flags.kind(), 20),
        (flags.speculation(), 24),
        (flags.new_kind(), 26),
        (flags.privilege(), 30),
    ]
    .iter()
    .fold(0, |word, &(value, at)| word | u64::from(value) << at)
}

/// Encodes a weight as a word. Source: `union perf_sample_weight`.
fn weight(weight: Weight) -> u64 {
    match weight {
        Weight::Full(word) => word,
        Weight::Split { var1, var2, var3 } => {
            u64::from(var1) | u64::from(var2) << 32 | u64::from(var3) << 48
        }
    }
}
