//! The unwind information of one file: sections of call frame information, tables of 32-bit Arm and of Go.

use std::sync::Arc;

use address::Svma;
use budget::Budget;
use gimli::UnwindSection;
use image_store::{ImageStore, LoadedImage};

use crate::arch::{Arch, CallTarget, Processor};
use crate::cfi::arm::ArmTable;
use crate::cfi::beginnings::Beginnings;
use crate::cfi::compile::{CfiContext, CompiledRow, RowQuery, RowSource, compile_row};
use crate::cfi::consistency::contradiction_in;
use crate::cfi::fde::{CfiBytes, Fde};
use crate::cfi::function_ranges::FunctionRanges;
use crate::cfi::go::GoRules;
use crate::cfi::long::LongDescriptions;
use crate::cfi::sections::{CfiSections, FoundFde};
use crate::rule::Rule;

/// The unwind information of a file, read when the file is first unwound through.
#[derive(Debug)]
pub(crate) struct UnwindInfo {
    pub(crate) sections: CfiSections,
    arm: Option<ArmTable>,
    pub(crate) long: LongDescriptions,
    pub(crate) go: GoRules,
    /// The outermost addresses of its stacks, if the file is a program.
    pub(super) beginnings: Beginnings,
    pub(crate) functions: FunctionRanges,
    contradiction: Option<String>,
}

impl UnwindInfo {
    pub(crate) fn new(file: Arc<LoadedImage>, budget: &Budget) -> Self {
        let sections = CfiSections::new(file);
        let image = sections.file.image();
        let is_arm = sections.arch.is_some_and(|arch| arch.is(Arch::Arm));
        Self {
            arm: if is_arm { ArmTable::new(image) } else { None },
            long: LongDescriptions::new(budget, image.bytes().len() as u64),
            go: GoRules::new(budget, image.bytes().len() as u64),
            beginnings: Beginnings::default(),
            functions: FunctionRanges::default(),
            contradiction: contradiction_in(&sections),
            sections,
        }
    }

    /// The file.
    pub(crate) const fn file(&self) -> &Arc<LoadedImage> {
        &self.sections.file
    }

    /// The processor of the file; `None` if it is unknown.
    pub(crate) const fn arch(&self) -> Option<Processor> {
        self.sections.arch
    }

    /// Describes a contradiction in the file, between its layout, its call frame information and its code.
    pub(crate) fn contradiction(&self) -> Option<&str> {
        self.contradiction.as_deref()
    }

    /// Returns true if the file contradicts itself, or a part of it could not be read.
    pub(crate) fn is_damaged(&self) -> bool {
        let image = self.file().image();
        self.contradiction.is_some() || image.has_lost_sections() || image.was_truncated()
    }

    /// Runs the description's program up to the address and compiles the row.
    pub(crate) fn compile(
        &self,
        found: &FoundFde<'_>,
        svma: Svma,
        arch: Processor,
        context: &mut CfiContext,
    ) -> CompiledRow {
        let bases = self.sections.bases();
        let row = match found {
            FoundFde::Eh(fde, section) => {
                let query = RowQuery { section, bases, svma, arch };
                self.row_of(fde, &query, &self.sections.eh_source(), context)
            }
            FoundFde::Debug(fde, section, data) => {
                let query = RowQuery { section, bases, svma, arch };
                self.row_of(fde, &query, &self.sections.debug_source(data), context)
            }
        };
        row.unwrap_or(CompiledRow::Rule(Rule::Damaged))
    }

    fn row_of<'a, S: UnwindSection<CfiBytes<'a>>>(
        &self,
        fde: &Fde<'a>,
        query: &RowQuery<'_, S>,
        source: &RowSource,
        context: &mut CfiContext,
    ) -> Option<CompiledRow> {
        let RowQuery { section, bases, svma, arch } = *query;
        let run = |context: &mut CfiContext| {
            let row = fde.unwind_info_for_address(section, bases, context, svma.0);
            let row = row.inspect_err(|error| self.sections.note_unknown(error)).ok()?;
            compile_row(row, fde, section, arch, source)
        };
        self.long.compile(fde, query, context, source, run)
    }

    /// Returns true if the address is in the code at which a process begins, which has no caller. It is shortly after
    /// the entry point, without any description in between, and no call from the entry code leads to it. The dynamic
    /// loader has such code.
    pub(crate) fn is_entry_code(&self, svma: Svma, images: &ImageStore) -> bool {
        const LONGEST: u64 = 0x80;
        const STEP: usize = 4;
        let entry = self.file().image().entry();
        let way = svma.since(entry);
        entry.0 != 0
            && way < LONGEST
            && (0..way).step_by(STEP).all(|at| {
                let svma = entry.add(at);
                self.sections.find(svma, images).is_none() && !self.is_in_arm_table(svma)
            })
            && !self.is_called_from_entry(svma)
    }

    /// Returns true if the code from the entry point on calls a function between that and an address: the first C
    /// function.
    fn is_called_from_entry(&self, svma: Svma) -> bool {
        let image = self.file().image();
        let entry = image.entry();
        let len = usize::try_from(svma.since(entry)).ok();
        let (Some(arch), Some(code)) =
            (self.arch(), len.and_then(|len| image.read_only_bytes(entry, len)))
        else {
            return false;
        };
        let longest = arch.longest_call();
        (longest..=code.len()).step_by(arch.code_alignment()).any(|end| {
            let call = code.get(end - longest..end).unwrap_or_default();
            let target = arch.call_target(call, entry.add(end as u64).0);
            matches!(target, Some(CallTarget::Address(target)) if target > entry.0 && target <= svma.0)
        })
    }

    /// Returns true if the exception table of a 32-bit Arm file describes the frame of an address.
    fn is_in_arm_table(&self, svma: Svma) -> bool {
        self.arm.as_ref().is_some_and(|table| table.describes(self.file().image(), svma))
    }

    /// Returns the rule of an address by the exception table of a 32-bit Arm file.
    pub(crate) fn arm_rule(&self, svma: Svma) -> Option<CompiledRow> {
        self.arm.as_ref()?.rule(self.file(), svma)
    }

    /// Returns the start of the function at an address, by that table.
    pub(crate) fn arm_function_start(&self, svma: Svma) -> Option<u64> {
        self.arm.as_ref()?.start(self.file().image(), svma)
    }
}
