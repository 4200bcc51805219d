//! Code that a program copied from one of its files into its memory, recognized by the file's exports. These are the
//! trampolines of `CPython` (`-X perf`), one for each Python function. Frames of a copy are those of its original.
//!
//! ```text
//!   libpython  _Py_trampoline_func_start  sub $8,%rsp; call *%rcx; add $8,%rsp; ret  _Py_trampoline_func_end
//!   memory     copies of it, one after the other, from the start of the mapping
//! ```
//!
//! Source: `CPython`, `Python/perf_trampoline.c`, `new_code_arena`: 3.12 puts the copies next to each other, 3.13
//! starts each at a multiple of 16 bytes.

use std::sync::Arc;

use address::{Avma, Svma};
use hashbrown::HashMap;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use image_store::LoadedImage;

use crate::code::{ImageAddress, locate};
use crate::state::SampleMemory;

const START: &[u8] = b"_Py_trampoline_func_start";
const END: &[u8] = b"_Py_trampoline_func_end";
/// Limit above the length in any version.
const LONGEST: u64 = 64;
/// Alignment of copies, in versions that align them.
const ALIGNMENT: u64 = 16;
/// Bytes of the stack between the frame of a copy's callee and its return address.
const FRAME: u64 = 8;

/// Code that is copied, with one call in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CopyOriginal {
    start: Svma,
    len: u64,
    /// Offset from its start to the return address of its call.
    returns_to: u64,
}

/// The originals of the queried files, by the serial of the file.
#[derive(Default)]
pub(super) struct CopyOriginals(HashMap<u32, Option<CopyOriginal>>);

impl CopyOriginals {
    /// Returns the original of a frame in memory without a file: a call in it returns after `lookup`, its mapping
    /// starts at `mapping`, and `sp` is its stack pointer. The copy returns into the file that has the original.
    pub(super) fn of<'m>(
        &mut self,
        lookup: Avma,
        mapping: Avma,
        sp: u64,
        memory: &SampleMemory<'m>,
    ) -> Option<ImageAddress<'m>> {
        let caller = memory.recorded(sp.wrapping_add(FRAME))?;
        let file = locate(Avma(caller).sub(1), memory)?.file;
        let known = self.0.entry(file.serial).or_insert_with(|| CopyOriginal::of(file));
        let CopyOriginal { start, len, returns_to } = (*known)?;
        let distance = lookup.add(1).since(mapping);
        let is_copy = |stride: u64| distance % stride == returns_to;
        let strides = [len, len.next_multiple_of(ALIGNMENT)];
        strides
            .into_iter()
            .any(is_copy)
            .then(|| ImageAddress { file, svma: start.add(returns_to - 1) })
    }
}

impl CopyOriginal {
    fn of(file: &Arc<LoadedImage>) -> Option<Self> {
        let image = file.image();
        let (start, end) = (image.symbol_address(START)?, image.symbol_address(END)?);
        let len = end.0.checked_sub(start.0).filter(|len| (1..=LONGEST).contains(len))?;
        let code = image.read_only_bytes(start, usize::try_from(len).ok()?)?;
        let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let calls =
            decoder.into_iter().filter(|one| one.flow_control() == FlowControl::IndirectCall);
        let mut returns = calls.map(|call| call.next_ip());
        let returns_to = returns.next().filter(|_| returns.next().is_none())?;
        Some(Self { start, len, returns_to })
    }
}
