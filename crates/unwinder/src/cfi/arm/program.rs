//! The instructions of an entry of the exception tables: the effects of a function's prologue, in reverse order.
//!
//! Source: Exception Handling ABI for the Arm Architecture (EHABI32), section 10.3, table 4.

use crate::arch::arm::SP;
use crate::cfi::arm::layout::FrameLayout;

/// The reason why a program describes no frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgramError {
    /// It states that the frame cannot be unwound.
    Refused,
    /// It is damaged, or uses a reserved encoding.
    Bad,
}

/// Returns the frame that a program describes.
///
/// # Errors
/// If it describes none.
pub(super) fn run(program: &[u8]) -> Result<FrameLayout, ProgramError> {
    let mut machine =
        ProgramMachine { bytes: program, base: SP, at: 0, saved: Vec::new(), ended: false };
    while let Some(op) = machine.next() {
        if op == FINISH {
            break;
        }
        // After the stack pointer is restored, later instructions would read another stack.
        if machine.ended {
            return Err(ProgramError::Bad);
        }
        machine.step(op)?;
    }
    let ProgramMachine { base, at: size, saved, .. } = machine;
    let saved = saved.into_iter().map(|(register, slot)| (register, slot - size)).collect();
    Ok(FrameLayout { base, size, saved })
}

const FINISH: u8 = 0xb0;

struct ProgramMachine<'p> {
    bytes: &'p [u8],
    /// Base register of the virtual stack pointer, which is `at` bytes above its value.
    base: u8,
    at: i64,
    /// Saved registers, with their positions from the base.
    saved: Vec<(u8, i64)>,
    /// True if the stack pointer was restored.
    ended: bool,
}

impl ProgramMachine<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn operand(&mut self) -> Result<u8, ProgramError> {
        self.next().ok_or(ProgramError::Bad)
    }

    /// Runs one instruction that does not end the program.
    fn step(&mut self, op: u8) -> Result<(), ProgramError> {
        let low = op & 0xf;
        match op {
            0x00..=0x3f => self.at += 4 * i64::from(op & 0x3f) + 4,
            0x40..=0x7f => self.at -= 4 * i64::from(op & 0x3f) + 4,
            0x80..=0x8f => {
                let mask = u16::from(low) << 8 | u16::from(self.operand()?);
                if mask == 0 {
                    return Err(ProgramError::Refused);
                }
                self.pop(mask << 4);
            }
            0x90..=0x9f => {
                // The popped registers are at the old stack pointer.
                if matches!(low, 13 | 15) || !self.saved.is_empty() {
                    return Err(ProgramError::Bad);
                }
                (self.base, self.at) = (low, 0);
            }
            0xa0..=0xa7 => self.pop(registers(low & 7)),
            0xa8..=0xaf => self.pop(registers(low & 7) | 1 << 14),
            0xb1 => {
                let mask = self.operand()?;
                if mask == 0 || mask > 0xf {
                    return Err(ProgramError::Bad);
                }
                self.pop(mask.into());
            }
            0xb2 => self.at += 0x204 + 4 * self.uleb()?,
            // The return address authentication code occupies a word; using it occupies none.
            0xb4 => self.at += 4,
            0xb5 => {}
            _ => self.vectors(op)?,
        }
        Ok(())
    }

    /// Skips vector registers.
    fn vectors(&mut self, op: u8) -> Result<(), ProgramError> {
        let count = i64::from(op & 7) + 1;
        self.at += match op {
            0xb3 => 8 * (i64::from(self.operand()? & 0xf) + 1) + 4,
            0xb8..=0xbf => 8 * count + 4,
            0xc0..=0xc5 | 0xd0..=0xd7 => 8 * count,
            0xc6 | 0xc8 | 0xc9 => 8 * (i64::from(self.operand()? & 0xf) + 1),
            0xc7 => match self.operand()? {
                mask @ 1..=0xf => 4 * i64::from(mask.count_ones()),
                _ => return Err(ProgramError::Bad),
            },
            _ => return Err(ProgramError::Bad),
        };
        Ok(())
    }

    /// Pops registers at the virtual stack pointer, lowest first.
    fn pop(&mut self, mask: u16) {
        for register in (0..16).filter(|register| mask >> register & 1 != 0) {
            self.saved.retain(|&(known, _)| known != register);
            self.saved.push((register, self.at));
            self.at += 4;
            self.ended |= register == SP;
        }
    }

    fn uleb(&mut self) -> Result<i64, ProgramError> {
        let mut value = 0;
        for shift in (0..28).step_by(7) {
            let byte = self.operand()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProgramError::Bad)
    }
}

/// Bit set of r4 and the next `more` registers.
const fn registers(more: u8) -> u16 {
    ((1 << (more + 1)) - 1) << 4
}
