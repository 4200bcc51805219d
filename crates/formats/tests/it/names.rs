//! Names with special characters: `;`, a line break, quotes, bytes that are not UTF-8. Every format prints them as
//! documented in docs/OUTPUT.md: bytes in line formats and in hotspot's stream, U+FFFD in formats that require UTF-8.

use std::io::Read as _;

use formats::{Format, FormatOptions};
use serde_json::Value;

use crate::page::tables;
use crate::parquet_file::{reader, rows};
use crate::printed;
use crate::support::sample_profile::{of_one_event, one_of_everything};

/// Returns true if a string of the document equals `wanted`.
fn has(document: &Value, wanted: &str) -> bool {
    match document {
        Value::String(text) => text == wanted,
        Value::Array(all) => all.iter().any(|value| has(value, wanted)),
        Value::Object(all) => all.iter().any(|(_, value)| has(value, wanted)),
        _ => false,
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("gzip");
    plain
}

#[track_caller]
fn contains(format: Format, bytes: &[u8], wanted: &[&[u8]]) {
    for &name in wanted {
        let found = bytes.windows(name.len()).any(|window| window == name);
        assert!(found, "{}: {}", format.name(), String::from_utf8_lossy(name));
    }
}

#[test]
fn names_arrive_as_documented() {
    for &format in Format::ALL {
        let profile = if format.shows_one_event() { of_one_event() } else { one_of_everything() };
        let bytes = printed(&profile, format, FormatOptions::DEFAULT);
        let documents: Vec<Value> = match format {
            Format::Json | Format::Speedscope => {
                vec![serde_json::from_slice(&bytes).expect("JSON")]
            }
            Format::Firefox => vec![serde_json::from_slice(&unpacked(&bytes)).expect("JSON")],
            Format::Ndjson => bytes
                .split(|&byte| byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).expect("JSON"))
                .collect(),
            _ => Vec::new(),
        };
        match format {
            Format::Json | Format::Ndjson | Format::Speedscope | Format::Firefox => {
                for name in ["op;\"x\"", "jit\n\u{fffd}name"] {
                    assert!(
                        documents.iter().any(|one| has(one, name)),
                        "{}: {name}",
                        format.name()
                    );
                }
            }
            Format::PerfScript => {
                contains(format, &bytes, &[b" op;\"x\"+0x10 ", b" jit\\n\xffname (", b"\xfft\\n "])
            }
            Format::Folded => contains(
                format,
                &bytes,
                &[b"a b:\"c;", b";op:\"x\";", b";jit\\n\xffname ", b"\xfft\\n;"],
            ),
            Format::Callgrind => contains(format, &bytes, &[b"op;\"x\"\n", b"jit\\n\xffname\n"]),
            Format::Hotspot => {
                contains(format, &bytes, &[b"\0\0\0\x06op;\"x\"", b"\0\0\0\x09jit\n\xffname"])
            }
            Format::Pprof | Format::Otlp => {
                let plain = if format == Format::Pprof { unpacked(&bytes) } else { bytes.clone() };
                contains(format, &plain, &[b"\x06op;\"x\"", "\u{b}jit\n\u{fffd}name".as_bytes()]);
            }
            Format::Flamegraph => {
                contains(
                    format,
                    &bytes,
                    &[b">op:&quot;x&quot; (", ">jit\\n\u{fffd}name (".as_bytes()],
                );
            }
            // Checked below.
            Format::Report | Format::Parquet | Format::Arrow => {}
        }
        let binary = format.is_binary();
        let lines = bytes.split(|&byte| byte == b'\n');
        assert!(
            binary || lines.into_iter().all(|line| !line.starts_with(b"\xffname")),
            "{}",
            format.name()
        );
    }
}

#[test]
fn names_of_the_page_and_of_tables() {
    let profile = one_of_everything();
    let names = tables(&profile).0["names"].clone();
    for name in ["op;\"x\"", "jit\n\u{fffd}name"] {
        assert!(has(&names, name), "{names}");
    }
    let rows = rows(&reader(&profile, FormatOptions::DEFAULT)).concat();
    for text in
        ["function: \"op;\"x\"\",", "function: \"jit\n\u{fffd}name\",", "comm: \"\u{fffd}t\n\","]
    {
        assert!(rows.contains(text), "{text}: {rows}");
    }
    let arrow = printed(&profile, Format::Arrow, FormatOptions::DEFAULT);
    contains(Format::Arrow, &arrow, &[b"op;\"x\"", "jit\n\u{fffd}name".as_bytes()]);
}
