//! The machine code of functions of a profile, as instructions.

mod compile_dirs;
mod targets;

use std::ops::Range;

use address::{ModuleId, Svma};
use hashbrown::HashMap;
use image_store::LoadedImage;
use symbolizer::{Instruction, NoInstructions, disassemble};
use unwinder::FunctionStarts;

use crate::runs::Analysis;

pub use targets::outside_targets;

/// The reason that the code of a function cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The module's file was not opened.
    #[error("the module's file was not opened")]
    NoFile,
    /// Nothing says how long the function is.
    #[error("the end of the function is unknown: it has no unwind information")]
    NoEnd,
    /// The bytes cannot be disassembled.
    #[error(transparent)]
    NoInstructions(#[from] NoInstructions),
}

/// Disassembler for functions of a profile, with cached function starts for each module.
#[derive(Debug)]
pub struct CodeReader<'a> {
    analysis: &'a Analysis,
    starts: HashMap<ModuleId, FunctionStarts>,
}

/// Addresses in the opened file of a module, sorted and distinct.
struct ModuleAddresses<'a> {
    module: ModuleId,
    file: &'a LoadedImage,
    addresses: Vec<Svma>,
}

impl Analysis {
    /// Returns file addresses by module, without those of modules whose file was not opened.
    fn by_module(&self, places: &[(ModuleId, Svma)]) -> Vec<ModuleAddresses<'_>> {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let of_file = |places: &[(ModuleId, Svma)]| {
            let module = places.first()?.0;
            let file = self.sources.file(self.sources.module(module)?)?;
            let addresses = places.iter().map(|place| place.1).collect();
            Some(ModuleAddresses { module, file, addresses })
        };
        sorted.chunk_by(|a, b| a.0 == b.0).filter_map(of_file).collect()
    }

    /// Returns a reader for the code of functions.
    #[must_use]
    pub fn code(&self) -> CodeReader<'_> {
        CodeReader { analysis: self, starts: HashMap::new() }
    }
}

impl<'a> CodeReader<'a> {
    /// Returns the instructions of the function that covers a file address of a module.
    ///
    /// # Errors
    /// If the file was not opened, if it does not state the bounds of the function, or if its code cannot be read.
    pub fn instructions(
        &mut self,
        module: ModuleId,
        address: Svma,
    ) -> Result<Vec<Instruction>, CodeError> {
        self.function(module, address)?.instructions()
    }

    /// Returns the function that covers a file address of a module, before its code is read.
    ///
    /// # Errors
    /// If the file was not opened, or if it does not state the bounds of the function.
    pub fn function(
        &mut self,
        module: ModuleId,
        address: Svma,
    ) -> Result<FunctionCode<'a>, CodeError> {
        let sources = &self.analysis.sources;
        let images = sources.images().ok_or(CodeError::NoFile)?;
        let file = sources.module(module).and_then(|it| sources.file(it));
        let file = file.ok_or(CodeError::NoFile)?;
        let starts = self.starts.entry(module).or_insert_with(|| FunctionStarts::new(file.clone()));
        let (start, end) = starts.range_of(address, images).ok_or(CodeError::NoEnd)?;
        Ok(FunctionCode { file, range: start..end })
    }
}

/// A function in the file of a module.
#[derive(Debug)]
pub struct FunctionCode<'a> {
    file: &'a LoadedImage,
    range: Range<Svma>,
}

impl FunctionCode<'_> {
    /// Size of its code in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.range.end.0.saturating_sub(self.range.start.0)
    }

    /// Returns its instructions.
    ///
    /// # Errors
    /// If its code cannot be read.
    pub fn instructions(&self) -> Result<Vec<Instruction>, CodeError> {
        Ok(disassemble(self.file.image(), self.range.start, self.range.end)?)
    }
}
