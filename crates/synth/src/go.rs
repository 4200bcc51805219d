//! The function table of Go's linker (`.gopclntab`), and the module description with the address of the code.
//!
//! Source: src/runtime/symtab.go, runtime2.go and src/cmd/link/internal/ld/pcln.go of Go.

use crate::bytes::{ByteWriter, Endian};

/// A function of the table.
#[derive(Clone, Debug, Default)]
pub struct GoFunctionSpec {
    /// Its name.
    pub name: String,
    /// Offset of its first byte in the code.
    pub start: u32,
    /// Flags: 1 stacks begin with it; 2 it writes the stack pointer; 4 assembly.
    pub flags: u8,
    /// Bytes of code, and their frame size.
    pub frame_sizes: Vec<(u32, i32)>,
    /// Source file of all its code.
    pub file: String,
    /// Bytes of code, and their source line.
    pub lines: Vec<(u32, i32)>,
    /// Bytes of code, and the index of their call in `calls`; -1 for none.
    pub inlined: Vec<(u32, i32)>,
    /// Inlined calls: name of the callee, and offset in the function of an instruction at the call's line.
    pub calls: Vec<(String, u32)>,
}

/// A function table, sorted by address.
#[derive(Clone, Debug)]
pub struct GoTableBuilder {
    /// `0xffff_fffa` (1.16), `0xffff_fff0` (1.18) or `0xffff_fff1` (1.20 and later).
    pub magic: u32,
    /// Address of the first byte of the code.
    pub text: u64,
    /// Address of the code that the header states.
    pub stated_text: u64,
    /// Size of the code, in bytes.
    pub text_size: u32,
    /// The functions.
    pub functions: Vec<GoFunctionSpec>,
}

/// Built sections.
#[derive(Clone, Debug)]
pub struct GoTableBytes {
    /// `.gopclntab`.
    pub table: Vec<u8>,
    /// Trees of inlined calls.
    pub trees: Vec<u8>,
    /// Module description.
    pub module: Vec<u8>,
}

const NAMES: usize = 0;
const UNITS: usize = 1;
const FILES: usize = 2;
const VALUES: usize = 3;

/// Parts of a table that function records refer to.
struct GoTableParts([ByteWriter; 4]);

impl GoTableParts {
    fn string(&mut self, part: usize, text: &str) -> u32 {
        let at = self.0[part].len() as u32;
        self.0[part].bytes(text.as_bytes()).u8(0);
        at
    }

    /// Appends a table of values and returns its offset; 0 for none.
    fn values(&mut self, pieces: &[(u32, i32)], quantum: u32) -> u32 {
        if pieces.is_empty() {
            return 0;
        }
        let at = self.0[VALUES].len() as u32;
        let mut last = -1_i32;
        for &(code, value) in pieces {
            let change = value.wrapping_sub(last);
            let zigzag = (change.wrapping_shl(1) ^ (change >> 31)).cast_unsigned();
            self.0[VALUES].uleb(zigzag.into()).uleb((code / quantum).into());
            last = value;
        }
        self.0[VALUES].u8(0);
        at
    }
}

impl GoTableBuilder {
    /// Creates a table of Go 1.20 or later, which states the address of the code.
    #[must_use]
    pub fn new(text: u64, text_size: u32) -> Self {
        let (magic, functions) = (0xffff_fff1, Vec::new());
        Self { magic, text, stated_text: text, text_size, functions }
    }

    /// Adds a function.
    #[must_use]
    pub fn function(mut self, function: GoFunctionSpec) -> Self {
        self.functions.push(function);
        self
    }

    /// Returns the bytes of a table at address `table`, with the trees of inlined calls at address `trees`.
    #[must_use]
    pub fn build(&self, table: u64, trees: u64) -> GoTableBytes {
        let new = || ByteWriter::new(Endian::Little);
        let mut parts = GoTableParts([new(), new(), new(), new()]);
        parts.0[VALUES].u8(0);
        let (mut records, mut tree_bytes) = (new(), new());
        let word = if self.is_first() { 8 } else { 4 };
        let list = (2 * self.functions.len() + 1) * word;
        let mut places = Vec::new();
        for function in &self.functions {
            places.push((list + records.len()) as u64);
            self.record(function, &mut parts, &mut records, &mut tree_bytes);
        }
        let mut functions = new();
        for (function, place) in self.functions.iter().zip(places) {
            functions.uint(self.entry(function.start), word).uint(place, word);
        }
        functions.uint(self.entry(self.text_size), word);
        functions.bytes(records.as_bytes());
        let (bytes, offsets) = self.head(&parts, functions.as_bytes());
        let module = self.module(table, trees, offsets);
        GoTableBytes { table: bytes, trees: tree_bytes.into_bytes(), module }
    }

    const fn is_first(&self) -> bool {
        self.magic == 0xffff_fffa
    }

    fn entry(&self, start: u32) -> u64 {
        if self.is_first() { self.text + u64::from(start) } else { start.into() }
    }

    fn record(
        &self,
        function: &GoFunctionSpec,
        parts: &mut GoTableParts,
        out: &mut ByteWriter,
        trees: &mut ByteWriter,
    ) {
        let is_newest = self.magic == 0xffff_fff1;
        let name = parts.string(NAMES, &function.name);
        let file = parts.string(FILES, &function.file);
        let unit = parts.0[UNITS].len() as u32 / 4;
        parts.0[UNITS].u32(file);
        let tree = trees.len() as u32;
        for (called, place) in &function.calls {
            let called = parts.string(NAMES, called);
            if is_newest {
                trees.u32(0).u32(called).u32(*place).u32(0);
            } else {
                trees.u32(0).u32(0).u32(0).u32(called).u32(*place);
            }
        }
        let tables = [&function.frame_sizes, &vec![(self.text_size, 0)], &function.lines];
        let [sizes, files, lines] = tables.map(|pieces| parts.values(pieces, 1));
        let inlined = parts.values(&function.inlined, 1);
        out.uint(self.entry(function.start), if self.is_first() { 8 } else { 4 });
        out.u32(name).u32(0).u32(0).u32(sizes).u32(files).u32(lines).u32(3).u32(unit);
        if is_newest {
            out.u32(1);
        }
        // Function id, flags, and number of tables of the other kind; the last one is the tree.
        out.u8(0).u8(function.flags).u8(0).u8(4);
        out.u32(0).u32(0).u32(inlined);
        out.u32(u32::MAX).u32(u32::MAX).u32(u32::MAX);
        out.u32(if function.calls.is_empty() { u32::MAX } else { tree });
        while self.is_first() && !out.len().is_multiple_of(8) {
            out.u8(0);
        }
    }

    /// Returns the complete table, and the offsets of its parts.
    fn head(&self, parts: &GoTableParts, functions: &[u8]) -> (Vec<u8>, [u64; 5]) {
        let mut out = ByteWriter::new(Endian::Little);
        out.u32(self.magic).bytes(&[0, 0, 1, 8]);
        out.u64(self.functions.len() as u64).u64(1);
        if !self.is_first() {
            out.u64(self.stated_text);
        }
        let mut at = out.len() as u64 + 40;
        let mut offsets = [0; 5];
        for (offset, part) in offsets.iter_mut().zip(parts.0.iter().map(ByteWriter::len)) {
            *offset = at;
            out.u64(at);
            at = (at + part as u64).next_multiple_of(8);
        }
        offsets[4] = at;
        out.u64(at);
        for part in &parts.0 {
            out.bytes(part.as_bytes()).align(8);
        }
        out.bytes(functions);
        (out.into_bytes(), offsets)
    }

    /// Returns the module description; words that readers ignore are zero.
    fn module(&self, table: u64, trees: u64, offsets: [u64; 5]) -> Vec<u8> {
        let mut words = [0; 48];
        words[0] = table;
        words[1] = table + offsets[0];
        words[13] = table + offsets[4];
        words[22] = self.text;
        words[23] = self.text + u64::from(self.text_size);
        words[if self.magic == 0xffff_fff1 { 40 } else { 38 }] = trees;
        let mut out = ByteWriter::new(Endian::Little);
        for word in words {
            out.u64(word);
        }
        out.into_bytes()
    }
}
