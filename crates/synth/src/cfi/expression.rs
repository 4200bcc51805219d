//! DWARF expressions: the operations that call frame information uses.

use crate::bytes::{ByteWriter, Endian};

/// A sequence of operations.
///
/// Source: DWARF 5, 2.5 and 7.7.1.
///
/// ```
/// use synth::{DwarfExpr, Endian};
/// // The word at rbp - 8.
/// let expression = DwarfExpr::new(Endian::Little).breg(6, -8).deref();
/// assert_eq!(expression.as_bytes(), [0x76, 0x78, 0x06]);
/// ```
#[derive(Clone, Debug)]
pub struct DwarfExpr {
    writer: ByteWriter,
}

impl DwarfExpr {
    /// Creates an empty expression.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        Self { writer: ByteWriter::new(endian) }
    }

    /// Bytes of the operations.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.writer.as_bytes()
    }

    /// Returns the x86-64 CFA of a lazy PLT entry: rsp + 8 + 8 x ((rip & 15) >= `push_end`).
    #[must_use]
    pub fn plt_x86_64(push_end: u8) -> Self {
        Self::new(Endian::Little)
            .breg(7, 8)
            .breg(16, 0)
            .lit(15)
            .op(0x1a)
            .lit(push_end)
            .op(0x2a)
            .lit(3)
            .op(0x24)
            .plus()
    }

    /// `DW_OP_bregN`, or `DW_OP_bregx` above 31: register plus offset.
    #[must_use]
    pub fn breg(mut self, register: u64, offset: i64) -> Self {
        if register < 32 {
            self.writer.u8(0x70 + register as u8).sleb(offset);
        } else {
            self.writer.u8(0x92).uleb(register).sleb(offset);
        }
        self
    }

    /// `DW_OP_litN`, 0 to 31.
    #[must_use]
    pub fn lit(self, value: u8) -> Self {
        self.op(0x30 + (value & 31))
    }

    /// `DW_OP_constu`.
    #[must_use]
    pub fn constu(mut self, value: u64) -> Self {
        self.writer.u8(0x10).uleb(value);
        self
    }

    /// `DW_OP_consts`.
    #[must_use]
    pub fn consts(mut self, value: i64) -> Self {
        self.writer.u8(0x11).sleb(value);
        self
    }

    /// `DW_OP_deref`.
    #[must_use]
    pub fn deref(self) -> Self {
        self.op(0x06)
    }

    /// `DW_OP_plus`.
    #[must_use]
    pub fn plus(self) -> Self {
        self.op(0x22)
    }

    /// `DW_OP_plus_uconst`.
    #[must_use]
    pub fn plus_uconst(mut self, value: u64) -> Self {
        self.writer.u8(0x23).uleb(value);
        self
    }

    /// `DW_OP_and`.
    #[must_use]
    pub fn and(self) -> Self {
        self.op(0x1a)
    }

    /// `DW_OP_skip`: relative to the next operation.
    #[must_use]
    pub fn skip(mut self, delta: i16) -> Self {
        self.writer.u8(0x2f).u16(delta as u16);
        self
    }

    /// Any operation without operands.
    #[must_use]
    pub fn op(mut self, opcode: u8) -> Self {
        self.writer.u8(opcode);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plt_expression_is_the_linkers() {
        // Expression that bfd and lld write for `.plt`.
        assert_eq!(
            DwarfExpr::plt_x86_64(11).as_bytes(),
            [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22]
        );
    }

    #[test]
    fn operands() {
        let expression = DwarfExpr::new(Endian::Big)
            .breg(40, -1)
            .constu(300)
            .consts(-2)
            .plus_uconst(8)
            .and()
            .skip(-3);
        assert_eq!(
            expression.as_bytes(),
            [0x92, 40, 0x7f, 0x10, 0xac, 2, 0x11, 0x7e, 0x23, 8, 0x1a, 0x2f, 0xff, 0xfd]
        );
    }
}
