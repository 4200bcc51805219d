//! Seeds of the target that reads recordings together with their files.

use crate::write;

/// Returns a piece of a file.
fn piece(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, content.len() as u8], content].concat()
}

/// Returns a file, by the number of its path.
fn file(path: u8, pieces: &[Vec<u8>]) -> Vec<u8> {
    let content = pieces.concat();
    [&[path], &(content.len() as u16).to_le_bytes()[..], &content].concat()
}

pub fn write_all() {
    let main = [0, 40, b'm', b'a', b'i', b'n'];
    let sound = file(0, &[piece(0, &main), piece(1, &[0, 64, 1]), piece(1, &[64, 64, 2])]);
    let other =
        file(1, &[piece(0, b"\x10\x20_ZN1a1bEv"), piece(2, &[0, 255, 0x0e, 16, 0x41, 0x0e, 8])]);
    // Programs are mapped, a thread is created, with samples of both.
    let map = |path: u8, at: u8| [1, 0, path << 4 | at];
    let sample = |pid: u8, at: u8, words: &[u8], ip: u8| {
        [&[6, pid, at, words.len() as u8], words, &[ip]].concat()
    };
    let deep = [1, 0x81, 2, 3, 0x90, 4, 0xa0, 5, 6, 0xb0];
    let records = [
        [3, 0, 1].to_vec(),
        map(0, 0).to_vec(),
        map(1, 1).to_vec(),
        sample(0, 0, &deep, 9),
        [2, 1, 0].to_vec(),
        sample(1, 1, &deep[..4], 17),
        [5, 0, 0].to_vec(),
        sample(0, 0, &deep[..3], 9),
        sample(1, 0, &deep, 33),
        [4, 1, 0].to_vec(),
    ]
    .concat();
    write("pair", "two-files", &[&[5], &sound[..], &other, &records].concat());
    let debug = [
        piece(3, b"\x01\x01\x11\x01\x25\x0e\x00\x00\x00"),
        piece(3, b"\x00\x08\x00\x00\x00\x04\x00\x00\x00\x00\x00\x08\x01"),
    ];
    let debug = file(0, &[&debug[..], &[piece(1, &[0, 128, 1])]].concat());
    write("pair", "debug", &[&[0], &debug[..], &records].concat());
}
