//! Analysis of the instructions around a pc by framehop: it recognizes prologues and epilogues, and locates the return
//! address in them.

use std::ops::{Deref, Range};
use std::sync::Arc;

use address::Svma;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{
    ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, Unwinder as _,
};
use image_store::{LoadedImage, Segment};

use crate::state::SampleMemory;

/// The code of a file's segment in framehop's form.
pub(super) struct Analyser {
    unwinder: UnwinderX86_64<SegmentBytes, MayAllocateDuringUnwind>,
    cache: CacheX86_64<MayAllocateDuringUnwind>,
}

/// Bytes of a file, or a few synthesized bytes.
#[derive(Clone, Default)]
enum SegmentBytes {
    #[default]
    Nothing,
    File(Arc<LoadedImage>, Range<usize>),
    Synthesized(Arc<[u8]>),
}

impl Deref for SegmentBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Nothing => &[],
            Self::File(file, range) => file.image().bytes().get(range.clone()).unwrap_or_default(),
            Self::Synthesized(bytes) => bytes,
        }
    }
}

impl Analyser {
    /// Returns the executable segment of an address.
    pub(super) fn segment(file: &LoadedImage, svma: Svma) -> Option<&Segment> {
        let is_in = |segment: &&Segment| {
            svma.0.checked_sub(segment.svma.0).is_some_and(|at| at < segment.file_size)
        };
        file.image().segments().iter().filter(|segment| segment.executable).find(is_in)
    }

    pub(super) fn new(file: &Arc<LoadedImage>, segment: &Segment) -> Option<Self> {
        let start = usize::try_from(segment.offset.0).ok()?;
        let end = start.checked_add(usize::try_from(segment.file_size).ok()?)?;
        let base = segment.svma.0;
        let limit = base.checked_add(segment.file_size)?;
        let section = ExplicitModuleSectionInfo {
            base_svma: base,
            text_svma: Some(base..limit),
            text: Some(SegmentBytes::File(file.clone(), start..end)),
            unwind_info: Some(SegmentBytes::Synthesized(
                one_function(u32::try_from(segment.file_size).ok()?).into(),
            )),
            ..ExplicitModuleSectionInfo::default()
        };
        let mut unwinder = UnwinderX86_64::new();
        unwinder.add_module(Module::new(String::new(), base..limit, base, section));
        Some(Self { unwinder, cache: CacheX86_64::new_in() })
    }

    /// Returns the caller's pc, stack pointer and frame pointer according to the instructions around `svma`.
    pub(super) fn step(
        &mut self,
        svma: Svma,
        sp: u64,
        fp: u64,
        memory: &SampleMemory<'_>,
    ) -> Option<(u64, u64, u64)> {
        let mut registers = UnwindRegsX86_64::new(svma.0, sp, fp);
        let mut read = |address| memory.read(address).map_err(|_| ());
        let address = FrameAddress::from_instruction_pointer(svma.0);
        let pc = self
            .unwinder
            .unwind_frame(address, &mut registers, &mut self.cache, &mut read)
            .ok()??;
        Some((pc, registers.sp(), registers.bp()))
    }
}

/// Returns compact unwind information with one function of `len` bytes and no description. It makes framehop analyse
/// the instructions.
///
/// Source: mach-o/compact_unwind_encoding.h, `unwind_info_section_header` and regular second-level pages.
fn one_function(len: u32) -> Vec<u8> {
    const HEADER: u32 = 28;
    const FIRST_LEVEL: u32 = 12;
    const PAGE: u32 = HEADER + 2 * FIRST_LEVEL;
    const REGULAR: u32 = 2;
    let words = [
        1,
        HEADER,
        0,
        HEADER,
        0,
        HEADER,
        2, // version, no encodings, no personalities, two index entries
        0,
        PAGE,
        0,
        len,
        0,
        0, // the page of the function, the sentinel past its end
        REGULAR,
        8 | 1 << 16, // entries begin after this, one of them
        0,
        0, // from the start: no encoding
    ];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}
