//! Bundles: places with the same path, files that consist of holes, entries that unpack to zeros.

use super::Input;

/// Returns a tar entry with a stated size.
///
/// Source: POSIX, "pax", the ustar format.
fn head(name: &str, size: u64) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Returns a bundle with a manifest of these contents and places, followed by `zeros` bytes.
fn bundle(contents: &str, places: &str, zeros: usize) -> Vec<u8> {
    let json = format!(
        r#"{{"format":"unwind-perf-bundle","version":3,"tool":"t","recording":"perf.data","kept":"whole",
            "stacks":true,"search":{{}},"json_sha256":null,"variables":{{}},"vdso":null,
            "contents":[{contents}],"places":[{places}]}}"#
    );
    let mut tar = head("manifest.json", json.len() as u64);
    tar.extend_from_slice(json.as_bytes());
    tar.resize(tar.len().next_multiple_of(512), 0);
    tar.extend(head("perf.data", zeros as u64));
    tar.resize(tar.len() + zeros.next_multiple_of(512) + 1024, 0);
    zstd::stream::encode_all(&tar[..], 3).expect("memory")
}

fn withstand(name: &str, packed: Vec<u8>) {
    Input::new(&["-q", "-f", "folded", "x.upb"])
        .file("x.upb", packed)
        .withstand(name)
        .expect_status(2);
}

/// 60,000 places with one path, each below another root; as many entries of one folder.
#[test]
fn places_with_one_path() {
    let places: Vec<String> = (0..60_000)
        .map(|number| format!(r#"{{"path":"/a","root":"/{number}","is":"other","kind":"fifo"}}"#))
        .collect();
    withstand("bundle-places", bundle("", &places.join(","), 0));
    let entries: Vec<String> =
        (0..200_000).map(|_| r#"{"name":"a","kind":"file"}"#.to_owned()).collect();
    let place = format!(
        r#"{{"path":"/a","root":"/","is":"other","kind":"folder","entries":[{}]}}"#,
        entries.join(",")
    );
    withstand("bundle-entries", bundle("", &place, 0));
}

/// A recording of 400 MB of zeros, with and without thousands of holes.
#[test]
fn zeros_and_holes() {
    const SIZE: usize = 400 << 20;
    let sha = "0".repeat(64);
    let holes: Vec<String> =
        (0..16_000).map(|hole| format!("[{},{}]", hole * 20_000, hole * 20_000 + 19_999)).collect();
    for (name, holes) in [("bundle-zeros", String::new()), ("bundle-holes", holes.join(","))] {
        let content =
            format!(r#"{{"name":"perf.data","size":{SIZE},"sha256":"{sha}","holes":[{holes}]}}"#);
        withstand(name, bundle(&content, "", SIZE));
    }
}
