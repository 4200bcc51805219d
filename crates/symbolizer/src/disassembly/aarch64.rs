//! Disassembly of aarch64 code, by yaxpeax.

use address::Svma;
use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction as Decoded, Opcode, Operand};

use super::Instruction;

/// Length of an instruction in bytes.
const LEN: u8 = 4;

/// Returns the instructions of code at an address. Bytes after the last whole word are omitted.
pub(super) fn instructions(bytes: &[u8], start: Svma) -> impl Iterator<Item = Instruction> {
    let (words, _) = bytes.as_chunks::<4>();
    let addresses = (start.0..).step_by(LEN.into());
    addresses.zip(words).map(|(address, word)| instruction(*word, address))
}

fn instruction(word: [u8; 4], address: u64) -> Instruction {
    let decoded = InstDecoder::default().decode(&mut U8Reader::new(&word));
    let Ok(decoded) = decoded else {
        let text = format!(".word {:#010x}", u32::from_le_bytes(word));
        return Instruction { address: Svma(address), len: LEN, text, target: None };
    };
    let stated = stated_address(&decoded, address);
    let text = match stated {
        Some(stated) => with_address(&decoded.to_string(), stated),
        None => decoded.to_string(),
    };
    let target = stated.filter(|_| is_branch(decoded.opcode)).map(Svma);
    Instruction { address: Svma(address), len: LEN, text, target }
}

/// Returns the address that an operand states relative to the instruction.
fn stated_address(decoded: &Decoded, address: u64) -> Option<u64> {
    let offset = decoded.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(offset) => Some(*offset),
        _ => None,
    })?;
    // Source: Arm ARM, `ADRP`: relative to the page of the instruction.
    let base = if decoded.opcode == Opcode::ADRP { address & !0xfff } else { address };
    Some(base.wrapping_add_signed(offset))
}

fn is_branch(opcode: Opcode) -> bool {
    use Opcode::{B, BL, Bcc, CBNZ, CBZ, TBNZ, TBZ};
    matches!(opcode, B | BL | Bcc(_) | CBNZ | CBZ | TBNZ | TBZ)
}

/// Replaces a relative address, such as `$+0x10`, which is the last operand.
fn with_address(text: &str, stated: u64) -> String {
    let relative = text.rfind('$').unwrap_or(text.len());
    format!("{}{stated:#x}", text.get(..relative).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of words at 0x1000, with their targets.
    fn texts(words: &[u32]) -> Vec<(String, Option<u64>)> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let found = instructions(&bytes, Svma(0x1000));
        found.map(|it| (it.text, it.target.map(|target| target.0))).collect()
    }

    #[test]
    fn branches_have_targets() {
        // Checked with `objdump -d` of binutils 2.40.
        let words = [
            0x9400_00fe,
            0x1400_0001,
            0x17ff_fffe,
            0x5400_0043,
            0xb400_0040,
            0x3518_0013,
            0x3618_0040,
            0x3727_fff3,
        ];
        let expected = [
            ("bl 0x13f8", Some(0x13f8)),
            ("b 0x1008", Some(0x1008)),
            ("b 0x1000", Some(0x1000)),
            ("b.lo 0x1014", Some(0x1014)),
            ("cbz x0, 0x1018", Some(0x1018)),
            ("cbnz w19, 0x31014", Some(0x31014)),
            ("tbz w0, #0x3, 0x1020", Some(0x1020)),
            ("tbnz w19, #0x4, 0x1018", Some(0x1018)),
        ];
        assert_eq!(texts(&words), expected.map(|(text, target)| (text.to_owned(), target)));
    }

    #[test]
    fn other_instructions_have_none() {
        let words = [0x9000_0490, 0x1000_0000, 0xf940_0a11, 0xd65f_03c0, 0xaa15_03e2, 0xd63f_0020];
        let expected = [
            "adrp x16, 0x91000",
            "adr x0, 0x1004",
            "ldr x17, [x16, #0x10]",
            "ret",
            "mov x2, x21",
            "blr x1",
        ];
        assert_eq!(texts(&words), expected.map(|text| (text.to_owned(), None)));
    }

    #[test]
    fn invalid_words_are_shown() {
        // The last one is of an extension that the decoder does not know.
        let invalid = [0x0000_0000, 0xffff_ffff, 0xe400_e000];
        let expected = ["udf #0x0", ".word 0xffffffff", ".word 0xe400e000"];
        assert_eq!(texts(&invalid), expected.map(|text| (text.to_owned(), None)));
        assert_eq!(instructions(&[0xc0, 0x03, 0x5f, 0xd6, 1, 2, 3], Svma(0)).count(), 1);
        // Any word has a text: these are spread over all of them.
        let words: Vec<u32> = (0..1 << 20).map(|at: u32| at.wrapping_mul(0x9e37_79b1)).collect();
        assert!(texts(&words).iter().all(|(text, _)| !text.is_empty()));
    }
}
