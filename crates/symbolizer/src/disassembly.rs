//! Machine code as text: of x86, of 64 and of 32 bits, by the decoder of iced.

use address::{Arch, Svma};
use iced_x86::{Decoder, DecoderOptions, Formatter as _, GasFormatter, Instruction as Decoded};
use image_store::Image;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it is, as the file states it.
    pub address: Svma,
    /// Its length in bytes.
    pub len: u8,
    /// Its text, in the syntax of the GNU assembler.
    pub text: String,
}

/// Why there are no instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoInstructions {
    /// Code of another processor.
    #[error("instructions are shown for x86-64 and i386 only")]
    Processor,
    /// The file does not hold the bytes.
    #[error("the file does not hold the code")]
    NoBytes,
    /// There is more than a function has.
    #[error("the function is too long")]
    TooLong,
}

/// The longest function that is shown, in bytes.
const LONGEST: u64 = 1 << 20;

/// The instructions of a range of a file's code. What is none is `(bad)`, a byte of it.
///
/// # Errors
/// Where the code is of another processor, not in the file, or longer than a function.
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
