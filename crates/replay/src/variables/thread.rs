//! Thread-local variables of the sampled thread.
//!
//! perf records neither the thread pointer nor the memory of a thread. The stack of a thread that glibc made is in one
//! mapping with its thread-local memory, which follows the stack, so a dump of the whole stack contains both.

use std::sync::Arc;

use address::{Arch, ModuleId, Tid};
use budget::Meter;
use hashbrown::HashMap;
use unwinder::{Frame as WalkedFrame, UserState};
use values::{Frame, ThreadLocal, Value, Variables};

use super::CachedFile;

/// DWARF number of the stack pointer on x86-64.
const STACK_POINTER: u16 = 7;
/// Alignment of the thread control block in glibc, in bytes.
const ALIGNMENT: u64 = 64;
/// Offset of the second word in the block that has the block's address; the first is at its start.
const SECOND: usize = 16;
/// Offset of the thread's id in `struct pthread`, which the block begins.
const TID: usize = 720;

/// Requested thread-local variables of the files with a sample's frames.
#[derive(Default)]
pub(super) struct ThreadLocals<'f> {
    /// Of each request the first one, with its file and the bias of its mapping.
    found: Vec<(&'f ThreadLocal, u64, &'f CachedFile)>,
}

impl<'f> ThreadLocals<'f> {
    /// Finds the variables.
    pub(super) fn of(
        files: &'f HashMap<ModuleId, Option<Arc<CachedFile>>>,
        frames: &[WalkedFrame],
    ) -> Self {
        let mut found: Vec<(&ThreadLocal, u64, &CachedFile)> = Vec::new();
        let mut last = None;
        for frame in frames {
            if last == frame.module {
                continue;
            }
            last = frame.module;
            let file = frame.module.and_then(|module| files.get(&module)?.as_ref());
            let Some(file) = file else { continue };
            let variables = file.found.get().and_then(|it| it.variables.as_ref());
            for variable in variables.into_iter().flat_map(Variables::thread_locals) {
                if !found.iter().any(|(known, ..)| known.request() == variable.request()) {
                    found.push((variable, frame.location().bias, file));
                }
            }
        }
        Self { found }
    }

    /// Returns true if there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns for each request its index, and the value or the reason for none. `leaf` is the sample's
    /// innermost user frame.
    pub(super) fn values(
        &self,
        thread: (&UserState<'_>, Tid),
        leaf: Option<&dyn Frame>,
        meter: impl Fn() -> Meter,
    ) -> Vec<(usize, Result<Value, &'static str>)> {
        let value = |&(variable, bias, file): &(&ThreadLocal, u64, &CachedFile)| {
            let value = leaf.map_or(Err("frame"), |leaf| {
                let frame = ThreadFrame::new(thread, leaf, (bias, file));
                variable.value(&frame, &meter()).map_err(|why| why.code())
            });
            (variable.request(), value)
        };
        self.found.iter().map(value).collect()
    }
}

/// Memory of a sample, with the thread's block of a program.
struct ThreadFrame<'f> {
    leaf: &'f dyn Frame,
    bias: u64,
    /// Address of the program's block in the thread.
    block: Option<u64>,
}

impl<'f> ThreadFrame<'f> {
    /// Finds the block of a file that is mapped with a bias.
    fn new(
        (state, tid): (&UserState<'_>, Tid),
        leaf: &'f dyn Frame,
        (bias, file): (u64, &CachedFile),
    ) -> Self {
        let size = file.image.image().thread_block_size();
        let pointer = leaf
            .register(STACK_POINTER)
            .filter(|_| state.arch == Arch::X86_64)
            .and_then(|start| thread_pointer(state.stack, start, tid));
        let block = pointer.zip(size).and_then(|(pointer, size)| pointer.checked_sub(size));
        Self { leaf, bias, block }
    }
}

/// Returns the thread pointer; `None` if the dump does not have exactly one control block of the thread. The mapping
/// after a stack can have the block of another thread, so the id must be that of the sample.
///
/// Source: glibc, `tcbhead_t` (`sysdeps/x86_64/nptl/tls.h`): `tcb` at offset 0 and `self` at 16 are its address; `tid`
/// of `struct pthread` (`nptl/descr.h`).
fn thread_pointer(stack: &[u8], start: u64, tid: Tid) -> Option<u64> {
    let first = start.checked_next_multiple_of(ALIGNMENT)?;
    let skipped = usize::try_from(first - start).ok()?;
    let stack = stack.get(skipped..)?;
    let word = |at: usize| Some(u64::from_le_bytes(*stack.get(at..)?.first_chunk::<8>()?));
    let is_block = |at: usize| {
        let address = Some(first.checked_add(at as u64)?);
        let id = word(at.checked_add(TID)?)? as u32;
        (word(at) == address && word(at + SECOND) == address && id == tid.0.cast_unsigned())
            .then_some(address?)
    };
    let mut found = (0..stack.len()).step_by(ALIGNMENT as usize).filter_map(is_block);
    let pointer = found.next()?;
    found.next().is_none().then_some(pointer)
}

impl Frame for ThreadFrame<'_> {
    fn register(&self, _: u16) -> Option<u64> {
        None
    }

    fn cfa(&self) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.leaf.read(address, bytes)
    }

    fn bias(&self) -> u64 {
        self.bias
    }

    fn thread_local(&self, offset: u64) -> Option<u64> {
        self.block?.checked_add(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the control block of a thread at an address.
    fn add_block(stack: &mut [u8], start: u64, address: u64, tid: u32) {
        let at = (address - start) as usize;
        stack[at..at + 8].copy_from_slice(&address.to_le_bytes());
        stack[at + SECOND..at + SECOND + 8].copy_from_slice(&address.to_le_bytes());
        stack[at + TID..at + TID + 4].copy_from_slice(&tid.to_le_bytes());
    }

    #[test]
    fn the_block_of_the_thread_is_found() {
        let start = 0x7f00_0000_0010;
        let (own, next) = (0x7f00_0000_06c0, 0x7f00_0000_1740);
        let mut stack = vec![0; 0x2000];
        assert_eq!(thread_pointer(&stack, start, Tid(7)), None);
        add_block(&mut stack, start, next, 6);
        assert_eq!(thread_pointer(&stack, start, Tid(7)), None, "of another thread");
        add_block(&mut stack, start, own, 7);
        assert_eq!(thread_pointer(&stack, start, Tid(7)), Some(own));
        let cut = (own - start) as usize + TID + 2;
        assert_eq!(thread_pointer(&stack[..cut], start, Tid(7)), None, "cut before the id");
        add_block(&mut stack, start, next, 7);
        assert_eq!(thread_pointer(&stack, start, Tid(7)), None, "two");
        assert_eq!(thread_pointer(&stack, u64::MAX - 8, Tid(7)), None);
    }
}
