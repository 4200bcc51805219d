//! Disassembly of x86 and aarch64 code.

mod aarch64;
mod x86;

use address::{Arch, Svma};
use image_store::Image;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// File address.
    pub address: Svma,
    /// Its length in bytes.
    pub len: u8,
    /// Its text, in the syntax of the GNU assembler.
    pub text: String,
    /// The file address that it jumps to or calls, if the instruction states it.
    pub target: Option<Svma>,
}

/// The reason that code cannot be disassembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoInstructions {
    /// Code of another processor.
    #[error("instructions are shown for x86-64, i386 and aarch64 only")]
    Processor,
    /// The file does not hold the bytes.
    #[error("the file does not hold the code")]
    NoBytes,
    /// The range is longer than any function that is shown.
    #[error("the function is too long")]
    TooLong,
}

/// Length of the longest function that is shown, in bytes.
const LONGEST: u64 = 1 << 20;

/// Disassembles a range of a file's code. An invalid byte of x86 becomes `(bad)`, an invalid word of aarch64
/// `.word 0x…`.
///
/// # Errors
/// If the code is for another processor, not in the file, or too long.
pub fn disassemble(
    image: &Image,
    start: Svma,
    end: Svma,
) -> Result<Vec<Instruction>, NoInstructions> {
    let arch = image.arch();
    if !matches!(arch, Some(Arch::X86_64 | Arch::X86 | Arch::Aarch64)) {
        return Err(NoInstructions::Processor);
    }
    let len = end.0.saturating_sub(start.0);
    if len > LONGEST {
        return Err(NoInstructions::TooLong);
    }
    let len = usize::try_from(len).map_err(|_| NoInstructions::TooLong)?;
    let bytes = image.read_only_bytes(start, len).ok_or(NoInstructions::NoBytes)?;
    Ok(match arch {
        Some(Arch::Aarch64) => aarch64::instructions(bytes, start).collect(),
        Some(Arch::X86) => x86::instructions(bytes, start, 32).collect(),
        _ => x86::instructions(bytes, start, 64).collect(),
    })
}
