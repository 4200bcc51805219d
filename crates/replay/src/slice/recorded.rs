//! User chains that a sample contains besides its stack:
//! the user part of its callchain, a separate callchain record, and branch records.
//! Separate records are deferred callchains and those of simpleperf;
//! branch records can hold the processor's call stack.
//! One of them replaces a walk without frames, or continues a walk that ended with the dump.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_SAMPLE_BRANCH_CALL_STACK`; `tools/perf/util/recording.c`,
//! `resolve_lbr_callchain_sample`.

use address::Avma;
use module_map::Space;
use perf_data::{CallchainContext, CpuMode, Head, Sample};
use profile::{EndReason, FoundBy};
use unwinder::{Frame, Walker};

/// Possible distances from the first byte of a call to its last.
/// Calls on x86-64 have 2 bytes (`call *%rax`) to 8 (to `__tls_get_addr`, with three prefixes), on aarch64 4.
const IN_CALL: std::ops::RangeInclusive<u64> = 1..=7;

/// A sample, with the context for its recorded chains.
#[derive(Clone, Copy)]
pub(crate) struct RecordedChains<'s> {
    pub(crate) sample: &'s Sample<'s>,
    /// Describes the branch stacks of the sample's event.
    pub(crate) head: &'s Head,
    /// Mappings of the sample's process.
    pub(crate) space: &'s Space,
}

/// Meaning of a chain's addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addresses {
    /// The last bytes of calls (return address - 1), except the first address, which was running.
    CallEnds,
    /// The first bytes of calls. The running address is not included.
    CallStarts,
}

impl Addresses {
    /// Evidence for the frames of such a chain, except the innermost.
    const fn found_by(self) -> FoundBy {
        match self {
            Self::CallEnds => FoundBy::Callchain,
            Self::CallStarts => FoundBy::CallStack,
        }
    }
}

/// A recorded chain of user frames.
struct RecordedChain {
    kind: Addresses,
    /// Lookup addresses, innermost first.
    lookups: Vec<Avma>,
}

impl RecordedChain {
    /// Returns true if an address of the chain is in the call of a walked frame.
    fn shows(&self, address: Avma, frame: &Frame, is_leaf: bool) -> bool {
        let lookup = frame.in_process();
        match self.kind {
            Addresses::CallEnds => address == lookup,
            Addresses::CallStarts => {
                !is_leaf && IN_CALL.contains(&lookup.0.wrapping_sub(address.0))
            }
        }
    }

    /// Returns the addresses outside of the last walked frame, if the chain has that frame.
    /// Recursion can repeat it: then the occurrence with the fewest differing inner frames is chosen.
    /// Returns `None` if several are equally good.
    fn outside_of(&self, walked: &[Frame]) -> Option<Callers<'_>> {
        if self.lookups.is_empty() {
            return None;
        }
        let (last, inner) = walked.split_last()?;
        let is_last = |address: Avma| self.shows(address, last, inner.is_empty());
        let positions = (0..).zip(&self.lookups).filter(|(_, address)| is_last(**address));
        let positions: Vec<usize> = positions.map(|(position, _)| position).collect();
        let position = match positions.as_slice() {
            [only] => *only,
            several => {
                let shared = self.shared_inside(inner);
                let differing = |position: usize| {
                    let shared = shared.get(position).copied().unwrap_or(0);
                    position.abs_diff(shared) + inner.len().abs_diff(shared)
                };
                let fewest = several.iter().map(|position| differing(*position)).min()?;
                let mut best = several.iter().filter(|position| differing(**position) == fewest);
                match (best.next(), best.next()) {
                    (Some(position), None) => *position,
                    _ => return None,
                }
            }
        };
        let lookups = self.lookups.get(position + 1..).filter(|outer| !outer.is_empty())?;
        Some(Callers { lookups, found_by: self.kind.found_by() })
    }

    /// Returns for each address of the chain the length of the longest
    /// common subsequence of the inner addresses and the walked frames.
    fn shared_inside(&self, walked: &[Frame]) -> Vec<usize> {
        // For each walked frame: the length for the frames up to it and the addresses so far.
        let mut row = vec![0; walked.len()];
        let mut shared = Vec::with_capacity(self.lookups.len());
        for address in &self.lookups {
            shared.push(row.last().copied().unwrap_or(0));
            let (mut before, mut inside) = (0, 0);
            for ((index, frame), cell) in walked.iter().enumerate().zip(&mut row) {
                let without = *cell;
                *cell = match self.shows(*address, frame, index == 0) {
                    true => before + 1,
                    false => without.max(inside),
                };
                (before, inside) = (without, *cell);
            }
        }
        shared
    }
}

/// Outer frames of a recorded chain.
#[derive(Clone, Copy)]
struct Callers<'c> {
    lookups: &'c [Avma],
    found_by: FoundBy,
}

impl Callers<'_> {
    fn push(self, walker: &mut Walker<'_>, space: &Space, frames: &mut Vec<Frame>) {
        let frame = |lookup: &Avma| walker.frame_at(*lookup, space, self.found_by);
        frames.extend(self.lookups.iter().map(frame));
    }
}

impl RecordedChains<'_> {
    /// Replaces the walked user frames, which begin at `first` and are at most one, with a longer recorded chain.
    /// Returns whether there was one.
    /// As in perf, the processor's call stack takes precedence over a callchain.
    /// An event with call stacks also has a callchain by frame pointers, which programs need not maintain.
    pub(crate) fn replace(
        self,
        walker: &mut Walker<'_>,
        first: usize,
        frames: &mut Vec<Frame>,
    ) -> bool {
        let Self { sample, space, .. } = self;
        let n_walked = frames.len() - first;
        let (chain, calls) = (self.callchain(), self.call_stack());
        let innermost = chain.lookups.first().copied();
        let of_calls = !calls.lookups.is_empty();
        let walked = frames.get(first).copied().filter(|_| of_calls);
        // Address of the thread in user mode: sampled, or at the entry to the kernel.
        let sampled = sample.ip.filter(|_| of_calls && sample.cpu_mode == CpuMode::User);
        let leaf = || sampled.or(innermost).map(|ip| walker.frame_at(ip, space, FoundBy::Sampled));
        let callers = if of_calls { &calls.lookups } else { chain.lookups.get(1..).unwrap_or(&[]) };
        let leaf = walked.or_else(leaf).filter(|_| callers.len() >= n_walked);
        let Some(leaf) = leaf else { return false };
        frames.truncate(first);
        frames.push(leaf);
        let kind = if of_calls { calls.kind } else { chain.kind };
        Callers { lookups: callers, found_by: kind.found_by() }.push(walker, space, frames);
        true
    }

    /// Continues truncated user frames, which begin at `first`,
    /// with the outer frames of a recorded chain that has the last of them.
    /// The recorded chain with the most outer frames is chosen.
    /// Returns the new end reason; `None` if no recorded chain continues it.
    pub(crate) fn continue_walk(
        self,
        walker: &mut Walker<'_>,
        first: usize,
        frames: &mut Vec<Frame>,
    ) -> Option<EndReason> {
        let walked = frames.get(first..)?;
        let room = walker.max_frames().saturating_sub(walked.len());
        let (chain, calls) = (self.callchain(), self.call_stack());
        let outer = [&calls, &chain].into_iter().filter_map(|chain| chain.outside_of(walked));
        let outer = outer.max_by_key(|outer| outer.lookups.len())?;
        let lookups = outer.lookups.get(..room).unwrap_or(outer.lookups);
        Callers { lookups, ..outer }.push(walker, self.space, frames);
        let all = lookups.len() == outer.lookups.len();
        Some(if all { EndReason::Recorded } else { EndReason::MaxFrames })
    }

    /// Returns the user part of the recorded callchain: from the sample, or from a separate record.
    /// simpleperf may write both; the longer one was completed with frames of other samples.
    fn callchain(self) -> RecordedChain {
        let Self { sample, .. } = self;
        let is_user = |context: CallchainContext| match context {
            CallchainContext::User => true,
            CallchainContext::Unmarked => sample.cpu_mode == CpuMode::User,
            _ => false,
        };
        let own = sample.callchain.into_iter().flat_map(|chain| chain.frames());
        let own = own.filter(|(context, _)| is_user(*context)).map(|(_, ip)| ip);
        let other = sample.user_callchain.into_iter().flat_map(|chain| chain.frames());
        let [mut addresses, other]: [Vec<Avma>; 2] =
            [own.collect(), other.map(|it| it.1).collect()];
        if other.len() > addresses.len() {
            addresses = other;
        }
        // A wrong frame pointer can lead to values that are not addresses.
        let n_callers = addresses.iter().skip(1).take_while(|it| can_be_code(**it)).count();
        addresses.truncate(1 + n_callers);
        let lookup = |(index, ip): (usize, Avma)| if index == 0 { ip } else { ip.sub(1) };
        let lookups = addresses.into_iter().enumerate().map(lookup).collect();
        RecordedChain { kind: Addresses::CallEnds, lookups }
    }

    /// Returns the user part of the call stack from the processor's branch records, if the event asked for one.
    /// Branches from addresses that are not executable are left over from other threads and omitted.
    fn call_stack(self) -> RecordedChain {
        let event = self.head.events().get(usize::from(self.sample.event));
        let is_call_stack = event.is_some_and(|event| event.attr.has_call_stacks());
        let branches = self.sample.branch_stack.filter(|_| is_call_stack);
        let branches = branches.into_iter().flat_map(|stack| stack.iter());
        let of_user =
            branches.filter(|it| it.from.0 != 0 && !is_kernel(it.from) && !is_kernel(it.to));
        let is_executable =
            |from: &Avma| self.space.lookup(*from).is_some_and(|mapping| mapping.executable);
        let lookups = of_user.map(|it| it.from).filter(is_executable).collect();
        RecordedChain { kind: Addresses::CallStarts, lookups }
    }
}

/// Returns true if user code is possible at an address.
/// The first page is unmapped by default, and five levels of page tables cover 56 bits.
///
/// Source: `Documentation/arch/x86/x86_64/5level-paging.rst`; `vm.mmap_min_addr`.
const fn can_be_code(address: Avma) -> bool {
    address.0 >= 0x1000 && address.0 >> 56 == 0
}

/// Returns true if an address is in the upper half, which belongs to the kernel.
const fn is_kernel(address: Avma) -> bool {
    address.0 >> 63 == 1
}
