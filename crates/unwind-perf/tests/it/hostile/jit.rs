//! Jitdumps: code that is moved over itself many times, lines that repeat a name.

use synth::{ByteWriter, Endian};

use super::Input;
use super::program::{chains, map, recorder, touch};

const CODE: u64 = 0x7000_0000;

/// Writes a record of a jitdump.
///
/// Source: tools/perf/Documentation/jitdump-specification.txt.
fn record(out: &mut ByteWriter, id: u32, time: u64, body: &[u8]) {
    out.u32(id).u32(16 + body.len() as u32).u64(time).bytes(body);
}

fn bytes(parts: impl FnOnce(&mut ByteWriter)) -> Vec<u8> {
    let mut out = ByteWriter::new(Endian::Little);
    parts(&mut out);
    out.into_bytes()
}

fn load(out: &mut ByteWriter, time: u64, address: u64, index: u64, code: &[u8]) {
    let body = bytes(|out| {
        out.u32(1).u32(1).u64(address).u64(address).u64(code.len() as u64).u64(index);
        out.bytes(b"f\0").bytes(code);
    });
    record(out, 0, time, &body);
}

/// Checks a recording that maps the dump, with samples all over its code.
fn withstand(name: &str, records: impl FnOnce(&mut ByteWriter)) {
    let dump = bytes(|out| {
        out.u32(0x4a69_5444).u32(1).u32(40).u32(62).u32(0).u32(1).u64(0).u64(0);
        records(out);
    });
    let mut data = recorder(chains());
    map(&mut data, 0x1000_0000, 0x1000, 0, b"/tmp/jit-1.dump");
    map(&mut data, CODE, 0x100_0000, 0, b"//anon");
    let addresses: Vec<u64> = (0..20_000).map(|at| CODE + at * 16 + 8).collect();
    touch(&mut data, &addresses);
    Input::folded(data.build()).file("root/tmp/jit-1.dump", dump).withstand(name).expect_status(0);
}

/// 60,000 moves of the same pieces of code, each onto the address of another, at different times.
#[test]
fn code_that_moves_without_end() {
    const PIECES: u64 = 3000;
    withstand("jit-moves", |out| {
        for piece in 0..PIECES {
            load(out, 1, CODE + piece * 64, piece, &[0x90; 64]);
        }
        for number in 0..60_000 {
            let piece = number % PIECES;
            let from = CODE + (piece + number / PIECES) * 64;
            let body = bytes(|out| {
                out.u32(1).u32(1).u64(from + 64).u64(from).u64(from + 64).u64(64).u64(piece);
            });
            record(out, 1, 1 + number, &body);
        }
    });
}

/// Pieces of code that start one after another and all end at the same address.
#[test]
fn code_inside_code() {
    const SIZE: usize = 20_000;
    withstand("jit-nested", |out| {
        let code = vec![0x90; SIZE];
        for piece in 0..500 {
            load(out, 1 + piece, CODE + piece * 32, piece, &code[piece as usize * 32..]);
        }
    });
}

/// 200,000 lines of one piece of code, which all repeat a name of 500,000 bytes.
#[test]
fn lines_that_repeat_a_long_name() {
    withstand("jit-lines", |out| {
        let lines = bytes(|out| {
            out.u64(CODE).u64(200_000);
            for line in 0..200_000_u32 {
                out.u64(CODE + u64::from(line)).u32(line).u32(0);
                match line {
                    0 => out.bytes("/n".repeat(250_000).as_bytes()).u8(0),
                    _ => out.bytes(b"\xff\0"),
                };
            }
        });
        record(out, 2, 1, &lines);
        load(out, 1, CODE, 1, &[0x90; 200_000]);
    });
}
