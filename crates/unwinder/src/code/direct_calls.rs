//! Direct calls of a function within its file. A thread begins in a function without calls.

use address::Svma;

use crate::arch::{CallTarget, Processor};
use crate::code::called::{FunctionAnalyses, ImageAddress};
use crate::code::paths::Reach;

/// Maximum distance from an address to the start of its function, in bytes.
const LONGEST: u64 = 1 << 16;
/// Call targets before an address that are examined, nearest first.
const MOST_TARGETS: usize = 8;
/// Number of bytes searched at the cost of one decoded instruction.
const BYTES: usize = 4;

impl FunctionAnalyses {
    /// Returns whether a direct call of the file leads to the function that begins at an address; `None` if the code
    /// cannot be read or the budget is exhausted.
    pub(crate) fn is_called_directly(
        &mut self,
        function: ImageAddress<'_>,
        arch: Processor,
    ) -> Option<bool> {
        if arch.is_x86() {
            return Some(!self.references(function)?.calls.is_empty());
        }
        let targets = self.targets_in(function, arch, function.svma.0, function.svma.0)?;
        Some(!targets.is_empty())
    }

    /// As [`Self::is_called_directly`], for the function that contains an address, if its start is not stated.
    pub(crate) fn is_in_called_function(
        &mut self,
        at: ImageAddress<'_>,
        arch: Processor,
    ) -> Option<bool> {
        let first = at.svma.0.saturating_sub(LONGEST);
        let targets = self.targets_in(at, arch, first, at.svma.0)?;
        for &target in targets.iter().take(MOST_TARGETS) {
            let function = ImageAddress { svma: Svma(target), ..at };
            if self.extent(function)?.reaches(at.svma) == Reach::Yes {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns the targets of direct calls in the segment of an address that lie in a range, both ends included; the
    /// last first.
    fn targets_in(
        &mut self,
        at: ImageAddress<'_>,
        arch: Processor,
        first: u64,
        last: u64,
    ) -> Option<Vec<u64>> {
        if !self.allowance.has_left(at.file) {
            return None;
        }
        let image = at.file.image();
        let segments = image.segments().iter().filter(|segment| segment.executable);
        let segment =
            segments.into_iter().find(|it| at.svma.since(it.svma) < it.file_size).copied()?;
        let code = image.read_only_bytes(segment.svma, usize::try_from(segment.file_size).ok()?)?;
        self.allowance.used(at.file, code.len() / BYTES);
        let longest = arch.longest_call();
        let mut targets: Vec<u64> = (longest..=code.len())
            .step_by(arch.code_alignment())
            .filter_map(|end| {
                let call = code.get(end - longest..end)?;
                let next = segment.svma.0.wrapping_add(end as u64);
                match arch.call_target(call, next)? {
                    CallTarget::Address(target) => Some(target),
                    CallTarget::Indirect => None,
                }
            })
            .filter(|target| (first..=last).contains(target))
            .collect();
        targets.sort_unstable_by_key(|&target| std::cmp::Reverse(target));
        targets.dedup();
        Some(targets)
    }
}
