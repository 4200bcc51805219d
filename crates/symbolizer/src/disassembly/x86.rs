//! Disassembly of x86 code, 64 and 32 bits, by iced.

use address::Svma;
use iced_x86::{
    Decoder, DecoderOptions, Formatter as _, GasFormatter, Instruction as Decoded, OpKind,
};

use super::Instruction;

/// Disassembles the code at an address, of a processor with that number of bits.
pub(super) fn disassemble(bytes: &[u8], start: Svma, bits: u32) -> Vec<Instruction> {
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
        let states_target = matches!(
            decoded.op0_kind(),
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64
        );
        let target = states_target.then(|| Svma(decoded.near_branch_target()));
        instructions.push(Instruction { address: Svma(decoded.ip()), len, text, target });
    }
    instructions
}
