//! Instructions that the kernel can replace by a probe.

use address::{Arch, Svma};
use image_store::Image;

/// Prefixes with which x86-64 has no probes: segments, and `lock`. The kernel then sets none, without an error.
///
/// Source: the kernel's `arch/x86/kernel/uprobes.c`, `is_prefix_bad`.
const REFUSED: [u8; 5] = [0x26, 0x2e, 0x36, 0x3e, 0xf0];
/// Further prefixes.
const PREFIXES: [u8; 5] = [0x64, 0x65, 0x66, 0xf2, 0xf3];
/// Maximum number of instructions that do nothing in a row.
const MOST: usize = 4;

/// Returns the address at which a probe works: that of the instruction, or of the next one if neither has an effect.
/// `None` if the kernel refuses the instruction.
///
/// An instruction with an effect can be the start of a loop, and a probe there would count its rounds.
pub(super) fn probed_instruction(image: &Image, address: u64) -> Option<u64> {
    if image.arch() != Some(Arch::X86_64) {
        return Some(address);
    }
    let mut at = address;
    for _ in 0..MOST {
        let bytes = image.read_only_from(Svma(at))?;
        let is_prefix = |byte: &u8| REFUSED.contains(byte) || PREFIXES.contains(byte);
        let prefixes = bytes.iter().take(14).take_while(|byte| is_prefix(byte)).count();
        let (head, opcode) = bytes.split_at_checked(prefixes)?;
        let is_refused = head.iter().any(|byte| REFUSED.contains(byte));
        let idle = idle_length(opcode);
        if !is_refused && (at == address || idle.is_some()) {
            return Some(at);
        }
        at = at.checked_add(prefixes as u64)?.checked_add(idle.filter(|_| is_refused)?)?;
    }
    None
}

/// Returns the length of an instruction without effect (`nop`) from its opcode on.
///
/// Source: Intel's manual, volume 2, `NOP` and table 2-2.
fn idle_length(opcode: &[u8]) -> Option<u64> {
    match *opcode {
        [0x90, ..] => Some(1),
        [0x0f, 0x1f, form, ..] => {
            let scaled = u64::from(form & 7 == 4 && form >> 6 != 3);
            let offset = match form >> 6 {
                1 => 1,
                2 => 4,
                _ => 0,
            };
            Some(3 + scaled + offset)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_without_effect_have_a_length() {
        assert_eq!(idle_length(&[0x90]), Some(1));
        assert_eq!(idle_length(&[0x0f, 0x1f, 0x00]), Some(3));
        assert_eq!(idle_length(&[0x0f, 0x1f, 0x44, 0, 0]), Some(5));
        assert_eq!(idle_length(&[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]), Some(8));
        assert_eq!(idle_length(&[0x55]), None);
    }
}
