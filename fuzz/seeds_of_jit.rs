//! Seeds of the targets that read descriptions of code from JIT compilers and the kernel.

use synth::{CfiBuilder, CfiKind, CfiOps, Cie, Endian, Fde, eh_frame_hdr};

use crate::write;

pub fn write_all() {
    write("jitdump", "little", &dump(Endian::Little));
    write("jitdump", "big", &dump(Endian::Big));
    let map = "7f0010 10 py::f:/a b.py\n0x7f0020 0x8 *go x.js:1\r\n\nbad line\n";
    write("perf_map", "forms", &text(0x7f_0011, map));
    let map = "100 100 old\n140 20 new\n180 200 newest\n1f0 8 last";
    write("perf_map", "overlapping", &text(0x150, map));
    let list = "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81000010 t run\n\
                ffffffff81000040 W weak\nffffffff81000080 d data\nffffffff82000000 T _etext\n\
                ffffffffc0000000 t init_module\t[m]\nffffffffc0000020 T f\t[m]\nc000 b short\n";
    write("kallsyms", "kernel", &text(0xffff_ffff_8100_0012, list));
    write("kallsyms", "hidden", &text(0, "0000000000000000 T a\n0000000000000000 T b\n"));
}

fn text(address: u64, text: &str) -> Vec<u8> {
    [&address.to_le_bytes(), text.as_bytes()].concat()
}

/// Writer of numbers and bytes in the byte order of a dump.
struct Words(Endian, Vec<u8>);

impl Words {
    fn u32(mut self, words: &[u32]) -> Self {
        for word in words {
            let little = word.to_le_bytes();
            self.1.extend(if self.0 == Endian::Big { word.to_be_bytes() } else { little });
        }
        self
    }

    fn u64(mut self, words: &[u64]) -> Self {
        for word in words {
            let little = word.to_le_bytes();
            self.1.extend(if self.0 == Endian::Big { word.to_be_bytes() } else { little });
        }
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.1.extend(bytes);
        self
    }

    fn record(self, kind: u32, time: u64, body: Self) -> Self {
        self.u32(&[kind, body.1.len() as u32 + 16]).u64(&[time]).bytes(&body.1)
    }
}

/// Returns a dump of lines and call frame information, their function, a move of it, another function, the end.
///
/// Source: tools/perf/Documentation/jitdump-specification.txt.
fn dump(endian: Endian) -> Vec<u8> {
    let new = || Words(endian, Vec::new());
    let lines = new().u64(&[0x1000, 2]).u64(&[0x1000]).u32(&[7, 0]).bytes(b"a.js\0");
    let lines = lines.u64(&[0x1004]).u32(&[8, 0]).bytes(b"\xff\0");
    let (frames, header) = unwinding();
    let unwinding = new().u64(&[frames.len() as u64, header, 0]).bytes(&frames);
    let code = |address: u64, index: u64, name: &[u8]| {
        let body = new().u32(&[1, 1]).u64(&[address, address, 16, index]);
        body.bytes(name).bytes(&[0]).bytes(&[0x90; 16])
    };
    let moved = new().u32(&[1, 1]).u64(&[0x1000, 0x1000, 0x9000, 16, 1]);
    new()
        .u32(&[0x4a69_5444, 1, 40, 62, 0, 1])
        .u64(&[100, 0])
        .record(2, 101, lines)
        .record(4, 101, unwinding)
        .record(0, 102, code(0x1000, 1, b"first"))
        .record(1, 103, moved)
        .record(0, 104, code(0x1008, 2, b"second"))
        .record(3, 105, new())
        .1
}

/// Returns `.eh_frame` and `.eh_frame_hdr` for the 16 bytes of code before them, as in V8.
fn unwinding() -> (Vec<u8>, u64) {
    let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 16);
    let cie = cfi.cie(&Cie::x86_64());
    let ops = CfiOps::new(Endian::Little).advance(1).def_cfa_offset(16).into_bytes();
    cfi.fde(cie, &Fde { pc_begin: 0, pc_range: 16, lsda: 0, instructions: ops });
    let section = cfi.terminator().build();
    let mut frames = section.bytes;
    let at = 16 + frames.len() as u64;
    let header = eh_frame_hdr(Endian::Little, at, 16, &section.fdes);
    frames.extend(&header);
    (frames, header.len() as u64)
}
