//! Bundles with a manifest: entries with holes, places that refer to them, options of files; sometimes with one
//! contradiction. They are read, and their host answers queries.
//!
//! ```text
//!   1 byte     how many contents; then each (see `content`)
//!   1 byte     how many kinds of places; then each (see `place`)
//!   1 byte     how many options; then each (see `option`)
//!   the rest   contradictions: a byte for the kind, two for the place in the manifest
//! ```
#![no_main]

#[path = "../fuzz_targets/cost.rs"]
mod cost;
#[path = "../fuzz_targets/input.rs"]
mod input;

use std::fmt::Write as _;
use std::path::Path;

use budget::Budget;
use bundle::Bundle;
use host::{Host, Origin};
use input::Input;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest as _, Sha256};

const MOST_CONTENTS: u64 = 24;
const MOST_HOLES: u64 = 600;
const MOST_KINDS: u64 = 16;
const MOST_PLACES: u64 = 3000;
/// Size of a manifest at which no further kind of place starts, in bytes.
const MOST_JSON: usize = 512 << 10;
/// Maximum size that a content with holes states, in bytes.
const MOST_SIZE: u64 = 64 << 10;

struct Content {
    name: String,
    size: u64,
    holes: Vec<(u64, u64)>,
    /// All bytes, with zeros in the holes.
    bytes: Vec<u8>,
    sha256: String,
}

fn content(input: &mut Input<'_>, number: u64) -> Content {
    let kind = input.number(1);
    let size = (input.number(2) << (kind & 3)).min(MOST_SIZE);
    let holes = match kind >> 2 & 3 {
        0 => 0,
        1 => input.number(1) % 8,
        _ => input.number(2) % MOST_HOLES,
    };
    let (from, to) = (input.number(1), 1 + input.number(1) % 64);
    let step = from + to + 1;
    let holes: Vec<_> = (0..holes)
        .map(|hole| (from + hole * step, from + hole * step + to))
        .take_while(|&(_, end)| end <= size)
        .collect();
    let byte = input.number(1) as u8;
    let mut bytes = vec![byte; size as usize];
    let mut hasher = Sha256::new();
    let mut at = 0;
    for &(from, to) in &holes {
        hasher.update(&bytes[at as usize..from as usize]);
        bytes[from as usize..to as usize].fill(0);
        at = to;
    }
    hasher.update(&bytes[at as usize..]);
    let sha256 = hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let name = ["perf.data".to_owned(), format!("files/{number}"), format!("a-{number}/b")];
    let name = name[(kind >> 4) as usize % 3].clone();
    Content { name, size, holes, bytes, sha256 }
}

/// Writes places of one kind, with a number in the path of each.
fn place(input: &mut Input<'_>, contents: u64, json: &mut String) {
    let kind = input.number(1);
    let times = if kind & 1 == 0 { 1 } else { input.number(2) % MOST_PLACES };
    let (depth, content) = (input.number(1) as usize, input.number(1) % contents.max(1));
    let name = ["a", "\\u0000", "..", "é\\n"][(kind >> 1 & 3) as usize].repeat(1 + depth % 40);
    let root = ["", r#""root":"/","#, r#""root":"/s","#][(kind >> 3 & 3) as usize % 3];
    let found = match kind >> 5 {
        0..=2 if contents > 0 => format!(
            r#""is":"file","device":1,"inode":{depth},"size":{depth},"modified":-5,"content":{content}"#
        ),
        3 => r#""is":"failed","why":{"too-large":7}"#.to_owned(),
        4 => r#""is":"failed","why":{"system":5}"#.to_owned(),
        5 => {
            let entry = r#"{"name":"a","kind":"folder"},"#.repeat(depth);
            format!(r#""is":"other","kind":"folder","entries":[{}]"#, entry.trim_end_matches(','))
        }
        _ => r#""is":"other","kind":"fifo""#.to_owned(),
    };
    for time in 0..times {
        if json.len() > MOST_JSON {
            break;
        }
        let comma = if json.ends_with('[') { "" } else { "," };
        let _ = write!(json, r#"{comma}{{"path":"/{name}/{time}",{root}{found}}}"#);
    }
}

/// Writes an option of files, with as many values as the input states.
fn option(input: &mut Input<'_>, json: &mut String) {
    const NAMES: [&str; 8] = [
        "modules",
        "sysroot",
        "debug_dirs",
        "map",
        "path_map",
        "kallsyms",
        "extra_dirs",
        "no_such_option",
    ];
    let name = NAMES[input.number(1) as usize % NAMES.len()];
    let times = input.number(1) as usize;
    let value = match name {
        "map" => r#""/o@7,0x1000,0x20,0x300","#.repeat(times),
        "path_map" => r#"["/a","/b"],"#.repeat(times),
        _ => r#""/x","#.repeat(times),
    };
    let value = format!("[{}]", value.trim_end_matches(','));
    let value = if name == "kallsyms" { r#""/k""#.to_owned() } else { value };
    let comma = if json.ends_with('{') { "" } else { "," };
    let _ = write!(json, r#"{comma}"{name}":{value}"#);
}

fn manifest(input: &mut Input<'_>, contents: &[Content]) -> Vec<u8> {
    let mut places = "[".to_owned();
    for _ in 0..input.number(1) % MOST_KINDS {
        place(input, contents.len() as u64, &mut places);
    }
    let mut search = "{".to_owned();
    for _ in 0..input.number(1) % 4 {
        option(input, &mut search);
    }
    let stored = contents.iter().map(|it| {
        let Content { name, size, holes, sha256, .. } = it;
        let holes: Vec<_> = holes.iter().map(|(from, to)| format!("[{from},{to}]")).collect();
        let holes = holes.join(",");
        format!(r#"{{"name":"{name}","size":{size},"sha256":"{sha256}","holes":[{holes}]}}"#)
    });
    let stored = stored.collect::<Vec<_>>().join(",");
    let mut json = format!(
        r#"{{"format":"unwind-perf-bundle","version":3,"tool":"t","recording":"perf.data","kept":"whole",
            "stacks":true,"search":{search}}},"json_sha256":null,"variables":{{"HOME":"/h"}},"vdso":null,
            "contents":[{stored}],"places":{places}]}}"#
    )
    .into_bytes();
    while !input.0.is_empty() && !json.is_empty() {
        let (kind, at) = (input.number(1), input.number(2) as usize % json.len());
        match kind % 4 {
            0 => json[at] = (kind >> 2) as u8 + b'0',
            1 => drop(json.remove(at)),
            2 => json.truncate(at.max(1)),
            _ => drop(json.splice(at..at, b"[".repeat((kind >> 2) as usize * 8))),
        }
    }
    json
}

/// Writes an entry of a tar file.
///
/// Source: POSIX, "pax", the ustar format.
fn entry(name: &str, bytes: &[u8], tar: &mut Vec<u8>) {
    const BLOCK: usize = 512;
    let mut header = [0; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar.extend_from_slice(&header);
    tar.extend_from_slice(bytes);
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
}

/// Queries the host for the paths of the grammar.
fn ask(bundle: &Bundle) {
    let machine = bundle.host();
    let facts = bundle.manifest().facts();
    for path in ["/a/0", "/a/1", "/aa/0", "/../0", "/", "/none"].map(Path::new) {
        for origin in [Origin::User, Origin::Recording { root: Path::new("/") }] {
            if let Ok(file) = machine.open(path, origin) {
                let sum = file.content.iter().fold(0_u8, |sum, it| sum ^ it);
                std::hint::black_box(sum);
            }
            let _ = (machine.stat(path, origin), machine.list(path, origin));
        }
    }
    let _ = machine.open(&facts.recording, Origin::User);
    let _ = (machine.home(), machine.running_vdso(), machine.findings(), machine.read_holes());
}

/// Returns the length of an input's archive, and its compressed bytes.
fn make(bytes: &[u8]) -> (usize, Vec<u8>) {
    let mut input = Input(bytes);
    let count = input.number(1) % MOST_CONTENTS;
    let contents: Vec<_> = (0..count).map(|number| content(&mut input, number)).collect();
    let json = manifest(&mut input, &contents);
    let mut tar = Vec::new();
    entry("manifest.json", &json, &mut tar);
    for Content { name, bytes, .. } in &contents {
        entry(name, bytes, &mut tar);
    }
    tar.resize(tar.len() + 1024, 0);
    (tar.len(), zstd::stream::encode_all(&*tar, 1).expect("memory"))
}

fn run(len: usize, packed: &[u8]) -> u64 {
    if let Ok(bundle) = Bundle::read(packed, &Budget::default()) {
        ask(&bundle);
    }
    len as u64
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded_of(bytes, || make(bytes), |(len, packed)| run(len, &packed));
});
