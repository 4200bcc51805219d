//! Disassembly of x86 code, 64 and 32 bits, by iced.

use std::iter;

use address::Svma;
use iced_x86::{
    Decoder, DecoderOptions, Formatter as _, GasFormatter, Instruction as Decoded, OpKind,
};

use super::Instruction;

/// Returns the instructions of code at an address, of a processor with that number of bits.
pub(super) fn instructions(
    bytes: &[u8],
    start: Svma,
    bits: u32,
) -> impl Iterator<Item = Instruction> {
    let mut decoder = Decoder::with_ip(bits, bytes, start.0, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_uppercase_hex(false);
    formatter.options_mut().set_branch_leading_zeros(false);
    let mut decoded = Decoded::default();
    // A text that grows for each operand would take a third of the time.
    let mut text = String::new();
    iter::from_fn(move || {
        if !decoder.can_decode() {
            return None;
        }
        decoder.decode_out(&mut decoded);
        text.clear();
        formatter.format(&decoded, &mut text);
        let len = decoded.len() as u8;
        let states_target = matches!(
            decoded.op0_kind(),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        );
        let target = states_target.then(|| Svma(decoded.near_branch_target()));
        let (address, text) = (Svma(decoded.ip()), text.as_str().to_owned());
        Some(Instruction { address, len, text, target })
    })
}
