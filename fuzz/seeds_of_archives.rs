//! Seeds of the target that unpacks archives.

use crate::write;

/// Returns an entry of a tar file with its content. Source: POSIX.1-1988, ustar; `tar.h`.
fn entry(name: &str, kind: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[136..147].copy_from_slice(b"00000000000");
    header[148..156].fill(b' ');
    header[156] = kind;
    header[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut all = header.to_vec();
    all.extend(content);
    all.resize(all.len().next_multiple_of(512), 0);
    all
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat(), vec![0; 1024]].concat()
}

pub fn write_all() {
    let cache = archive(&[
        entry(".build-id/ab/cdef", b'2', "../../lib/a.so/abcdef", b""),
        entry("lib/a.so/", b'5', "", b""),
        entry("lib/a.so/abcdef/elf", b'0', "", b"\x7fELF"),
        entry("lib/a.so/again", b'1', "lib/a.so/abcdef/elf", b""),
    ]);
    write("archive", "cache", &cache);
    write("archive", "nested", &archive(&[entry("perf.symbols.tar", b'0', "", &cache)]));
    let outwards = [
        entry("../out", b'0', "", b"x"),
        entry("/tmp/out", b'0', "", b"x"),
        entry("up", b'2', "..", b""),
        entry("up/out", b'0', "", b"x"),
        entry("device", b'3', "", b""),
    ];
    write("archive", "outwards", &archive(&outwards));
}
