//! The machine code of a function of a profile, as instructions.

use address::{ModuleId, Svma};
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
    #[error("no unwind information says where the function ends")]
    NoEnd,
    /// There are no instructions.
    #[error(transparent)]
    NoInstructions(#[from] NoInstructions),
}

impl Analysis {
    /// The instructions of the function that covers an address of a module, as the file states it.
    ///
    /// # Errors
    /// Where the file was not opened, or does not say where the function is, or its code cannot be read.
    pub fn instructions(
        &self,
        module: ModuleId,
        address: Svma,
    ) -> Result<Vec<Instruction>, NoCode> {
        let images = &self.sources.files.images;
        let module = self.sources.timeline.modules().get(module.index()).ok_or(NoCode::NoFile)?;
        let file = images.outcome(module).and_then(Result::ok).ok_or(NoCode::NoFile)?;
        let starts = FunctionStarts::new(file.clone(), &images.options().budget);
        let (start, end) = starts.range_of(address, images).ok_or(NoCode::NoEnd)?;
        Ok(disassemble(file.image(), start, end)?)
    }
}
