//! Disassembly of x86 code, 64 and 32 bits, by iced.

use address::{Arch, Svma};
use iced_x86::{Decoder, DecoderOptions, Formatter as _, GasFormatter, Instruction as Decoded};
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
}

/// The reason that code cannot be disassembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoInstructions {
    /// Code of another processor.
    #[error("instructions are shown for x86-64 and i386 only")]
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

/// Disassembles a range of a file's code. An invalid byte becomes `(bad)`.
///
/// # Errors
/// If the code is for another processor, not in the file, or too long.
pub fn disassemble(
    image: &Image,
    start: Svma,
    end: Svma,
) -> Result<Vec<Instruction>, NoInstructions> {
    let arch = image.arch().filter(|arch| matches!(arch, Arch::X86_64 | Arch::X86));
    let bits = arch.and_then(Arch::bits).ok_or(NoInstructions::Processor)?;
    let len = end.0.saturating_sub(start.0);
    if len > LONGEST {
        return Err(NoInstructions::TooLong);
    }
    let len = usize::try_from(len).map_err(|_| NoInstructions::TooLong)?;
    let bytes = image.read_only_bytes(start, len).ok_or(NoInstructions::NoBytes)?;
    let mut decoder = Decoder::with_ip(bits, bytes, start.0, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_uppercase_hex(false);
    formatter.options_mut().set_branch_leading_zeros(false);
    let mut decoded = Decoded::default();
    let mut instructions = Vec::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut decoded);
        let mut text = String::new();
        formatter.format(&decoded, &mut text);
        let len = decoded.len() as u8;
        instructions.push(Instruction { address: Svma(decoded.ip()), len, text });
    }
    Ok(instructions)
}
