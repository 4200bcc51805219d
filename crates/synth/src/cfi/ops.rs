//! Call frame instructions.

use super::expression::DwarfExpr;
use crate::bytes::{ByteWriter, Endian};

/// A sequence of instructions. Register numbers are DWARF's; factored operands are in units of the CIE's alignment
/// factors.
///
/// Source: DWARF 5, 6.4.2 and 7.24.
///
/// ```
/// use synth::{CfiOps, Endian};
/// let ops = CfiOps::new(Endian::Little).advance(4).def_cfa_offset(16).offset(6, 2);
/// assert_eq!(ops.into_bytes(), [0x44, 0x0e, 16, 0x86, 2]);
/// ```
#[derive(Clone, Debug)]
pub struct CfiOps {
    writer: ByteWriter,
}

impl CfiOps {
    /// Creates an empty sequence.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        Self { writer: ByteWriter::new(endian) }
    }

    /// Bytes of the instructions.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.writer.into_bytes()
    }

    /// Arbitrary bytes.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.writer.bytes(bytes);
        self
    }

    /// `DW_CFA_advance_loc` or the shortest of its longer forms; in units of the code alignment.
    #[must_use]
    pub fn advance(mut self, delta: u32) -> Self {
        match delta {
            0..=0x3f => self.writer.u8(0x40 | delta as u8),
            0x40..=0xff => self.writer.u8(0x02).u8(delta as u8),
            0x100..=0xffff => self.writer.u8(0x03).u16(delta as u16),
            _ => self.writer.u8(0x04).u32(delta),
        };
        self
    }

    /// `DW_CFA_set_loc` with an absolute address of 8 bytes.
    #[must_use]
    pub fn set_loc(mut self, address: u64) -> Self {
        self.writer.u8(0x01).u64(address);
        self
    }

    /// `DW_CFA_def_cfa`: the offset in bytes.
    #[must_use]
    pub fn def_cfa(self, register: u64, offset: u64) -> Self {
        self.op(0x0c, &[register, offset])
    }

    /// `DW_CFA_def_cfa_register`.
    #[must_use]
    pub fn def_cfa_register(self, register: u64) -> Self {
        self.op(0x0d, &[register])
    }

    /// `DW_CFA_def_cfa_offset`: in bytes.
    #[must_use]
    pub fn def_cfa_offset(self, offset: u64) -> Self {
        self.op(0x0e, &[offset])
    }

    /// `DW_CFA_def_cfa_expression`.
    #[must_use]
    pub fn def_cfa_expression(self, expression: &DwarfExpr) -> Self {
        self.op(0x0f, &[]).block(expression)
    }

    /// Saved at CFA + `factored` x data alignment: `DW_CFA_offset`, or the extended form for
    /// registers above 63.
    #[must_use]
    pub fn offset(mut self, register: u64, factored: u64) -> Self {
        if register > 0x3f {
            return self.op(0x05, &[register, factored]);
        }
        self.writer.u8(0x80 | register as u8).uleb(factored);
        self
    }

    /// `DW_CFA_offset_extended_sf`: a signed factored offset.
    #[must_use]
    pub fn offset_sf(self, register: u64, factored: i64) -> Self {
        let mut ops = self.op(0x11, &[register]);
        ops.writer.sleb(factored);
        ops
    }

    /// `DW_CFA_val_offset`: the value is CFA + `factored` x data alignment.
    #[must_use]
    pub fn val_offset(self, register: u64, factored: u64) -> Self {
        self.op(0x14, &[register, factored])
    }

    /// `DW_CFA_register`: saved in another register.
    #[must_use]
    pub fn register(self, register: u64, holder: u64) -> Self {
        self.op(0x09, &[register, holder])
    }

    /// `DW_CFA_expression`: the address of the saved register.
    #[must_use]
    pub fn expression(self, register: u64, expression: &DwarfExpr) -> Self {
        self.op(0x10, &[register]).block(expression)
    }

    /// `DW_CFA_val_expression`: the value of the register.
    #[must_use]
    pub fn val_expression(self, register: u64, expression: &DwarfExpr) -> Self {
        self.op(0x16, &[register]).block(expression)
    }

    /// `DW_CFA_restore`, or its extended form for registers above 63.
    #[must_use]
    pub fn restore(mut self, register: u64) -> Self {
        if register > 0x3f {
            return self.op(0x06, &[register]);
        }
        self.writer.u8(0xc0 | register as u8);
        self
    }

    /// `DW_CFA_undefined`.
    #[must_use]
    pub fn undefined(self, register: u64) -> Self {
        self.op(0x07, &[register])
    }

    /// `DW_CFA_same_value`.
    #[must_use]
    pub fn same_value(self, register: u64) -> Self {
        self.op(0x08, &[register])
    }

    /// `DW_CFA_remember_state`.
    #[must_use]
    pub fn remember_state(self) -> Self {
        self.op(0x0a, &[])
    }

    /// `DW_CFA_restore_state`.
    #[must_use]
    pub fn restore_state(self) -> Self {
        self.op(0x0b, &[])
    }

    /// `DW_CFA_GNU_args_size`: in bytes.
    #[must_use]
    pub fn gnu_args_size(self, size: u64) -> Self {
        self.op(0x2e, &[size])
    }

    /// `DW_CFA_AARCH64_negate_ra_state`.
    #[must_use]
    pub fn negate_ra_state(self) -> Self {
        self.op(0x2d, &[])
    }

    /// `DW_CFA_AARCH64_negate_ra_state_with_pc`.
    #[must_use]
    pub fn negate_ra_state_with_pc(self) -> Self {
        self.op(0x2c, &[])
    }

    /// `DW_CFA_AARCH64_set_ra_state`: the state, and a distance from 0 to 63.
    #[must_use]
    pub fn set_ra_state(self, state: u64, distance: u64) -> Self {
        self.op(0x2b, &[state, distance])
    }

    /// An undefined instruction without operands.
    #[must_use]
    pub fn unknown(self) -> Self {
        self.op(0x3f, &[])
    }

    fn op(mut self, opcode: u8, operands: &[u64]) -> Self {
        self.writer.u8(opcode);
        for &operand in operands {
            self.writer.uleb(operand);
        }
        self
    }

    fn block(mut self, expression: &DwarfExpr) -> Self {
        let bytes = expression.as_bytes();
        self.writer.uleb(bytes.len() as u64).bytes(bytes);
        self
    }
}
