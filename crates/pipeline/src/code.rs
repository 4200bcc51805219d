//! The machine code of functions of a profile, as instructions.

use address::{ById as _, ModuleId, Svma};
use hashbrown::HashMap;
use symbolizer::{Instruction, NoInstructions, disassemble};
use unwinder::FunctionStarts;

use crate::runs::Analysis;

/// Why the code of a function cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCode {
    /// The module's file was not opened.
    #[error("the module's file was not opened")]
    NoFile,
    /// Nothing says how long the function is.
    #[error("the end of the function is unknown: it has no unwind information")]
    NoEnd,
    /// There are no instructions.
    #[error(transparent)]
    NoInstructions(#[from] NoInstructions),
}

/// Reads the code of many functions: what is known of a module is found out once.
#[derive(Debug)]
pub struct CodeReader<'a> {
    analysis: &'a Analysis,
    starts: HashMap<ModuleId, FunctionStarts>,
}

impl Analysis {
    /// Reads the code of functions.
    #[must_use]
    pub fn code(&self) -> CodeReader<'_> {
        CodeReader { analysis: self, starts: HashMap::new() }
    }
}

impl CodeReader<'_> {
    /// The instructions of the function that covers an address of a module, as the file states it.
    ///
    /// # Errors
    /// Where the file was not opened, or does not say where the function is, or its code cannot be read.
    pub fn instructions(
        &mut self,
        module: ModuleId,
        address: Svma,
    ) -> Result<Vec<Instruction>, NoCode> {
        let sources = &self.analysis.sources;
        let images = &sources.files.images;
        let row = sources.timeline.modules().by_id(module).ok_or(NoCode::NoFile)?;
        let file = images.outcome(row).and_then(Result::ok).ok_or(NoCode::NoFile)?;
        let starts = self.starts.entry(module).or_insert_with(|| FunctionStarts::new(file.clone()));
        let (start, end) = starts.range_of(address, images).ok_or(NoCode::NoEnd)?;
        Ok(disassemble(file.image(), start, end)?)
    }
}
