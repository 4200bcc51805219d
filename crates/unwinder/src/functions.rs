//! The functions of a file according to its call frame information, for queries outside walks.

use std::ops::Range;
use std::sync::Arc;

use address::Svma;
use image_store::{ImageStore, LoadedImage};

use crate::arch::{Arch, NARROW, Processor, WIDE};
use crate::cfi::{CfiScratch, FoundFde};
use crate::engine::Engine;
use crate::rule::{Cfa, Recovery, Rule, SimpleRule};

/// Addresses are those that the file states.
impl Engine {
    /// Returns the processor of a file's code; `None` if it is not supported.
    pub fn arch_of(&self, file: &Arc<LoadedImage>) -> Option<Arch> {
        self.unwind_info(file).arch().map(|arch| arch.arch)
    }

    /// Returns the index of the last description that begins at or before an address, in the file's lookup table.
    /// `None` without such a table. The description itself is not read.
    pub fn listed_description(&self, file: &Arc<LoadedImage>, svma: Svma) -> Option<usize> {
        self.unwind_info(file).sections.listed(svma)
    }

    /// Returns the range of the description that covers an address: a function, or a part of one that is placed
    /// elsewhere.
    pub fn described(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
    ) -> Option<Range<Svma>> {
        self.unwind_info(file).sections.described(svma, images, &mut scratch.last_cie)
    }

    /// Returns true if the frame at an address is as a call leaves it: nothing is saved yet, or everything is restored.
    pub fn is_at_entry(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
    ) -> bool {
        let Some(arch) = self.unwind_info(file).arch() else { return false };
        let rule = if arch.is_wide() {
            self.make_rule::<WIDE>(file, svma, images, scratch, None)
        } else {
            self.make_rule::<NARROW>(file, svma, images, scratch, None)
        };
        match rule {
            Rule::Simple(rule) => is_entry_rule(&rule, arch),
            Rule::Full { row, signal: false } => {
                let row = self.row_of(row, file, svma, images, scratch);
                row.is_some_and(|row| {
                    let Cfa::Register(register, offset) = row.cfa else { return false };
                    let is_same = |it: &(u8, Recovery)| matches!(it.1, Recovery::Same);
                    (register, offset) == (arch.sp, arch.conventions.cfa_above_sp.cast_signed())
                        && !arch.is_x86()
                        && row.registers.iter().all(is_same)
                })
            }
            _ => false,
        }
    }

    /// Returns true if a signal, not a call, entered the code at an address, according to its description or its
    /// instructions.
    pub fn is_entered_by_signal(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
    ) -> bool {
        let is_stated = match self.unwind_info(file).sections.find(svma, images) {
            Some(Ok(FoundFde::Eh(fde, _) | FoundFde::Debug(fde, ..))) => fde.is_signal_trampoline(),
            _ => false,
        };
        is_stated || self.is_signal_trampoline(file, svma)
    }

    /// Returns the address of the outermost frame of the stack that a file's code runs on, if the file proves it. That
    /// is the start of a goroutine or, on the first stack of a process, the call in the program's entry code.
    pub fn stack_begins(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        is_first_stack: bool,
    ) -> Option<Svma> {
        let (info, image) = (self.unwind_info(file), file.image());
        let of_program = || is_first_stack.then(|| info.program_begins(image)).flatten();
        info.goroutine_begins(image, svma).or_else(of_program)
    }
}

/// Returns true if a row describes a frame as a call leaves it.
fn is_entry_rule(rule: &SimpleRule, arch: Processor) -> bool {
    let mut n_saved = 0;
    rule.for_each_saved(|_, _| n_saved += 1);
    let (offset, return_address) =
        if arch.is_x86() { (arch.word, -1) } else { (arch.conventions.cfa_above_sp, 0) };
    (rule.cfa_register, i64::from(rule.cfa_offset)) == (arch.sp, offset.cast_signed())
        && rule.return_address() == return_address
        && n_saved == 0
        && !rule.signal
}
