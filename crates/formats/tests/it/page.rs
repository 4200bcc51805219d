//! Contents of the page's tables. `cargo lab consumers` checks the page itself in a browser.

use std::io::Read as _;

use formats::{Format, FormatOptions, Page, PageCode, PageFunctionCode, PageTarget, Printer as _};
use profile::Profile;
use serde_json::{Value, json};

use crate::printed;
use crate::support::sample_profile::{empty, one_of_everything};

/// Returns the head and the columns of the page.
pub(crate) fn tables(profile: &Profile) -> (Value, Vec<u8>) {
    tables_of(printed(profile, Format::Report, FormatOptions::DEFAULT))
}

/// Decodes the head and the columns from a page's bytes.
pub(crate) fn tables_of(page: Vec<u8>) -> (Value, Vec<u8>) {
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("/*STYLE*/") && !page.contains("/*SCRIPT*/"));
    // The name of SVG and a pattern in the same picture are no requests.
    let asked = page.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for outside in ["http://", "https://", " src=", "@import", "url(", "unsafe-inline"] {
        assert!(!asked.contains(outside), "the page asks for nothing: {outside}");
    }
    let data = page.rsplit_once("octet-stream\">\n").expect("tables").1;
    let text = data.split_once("\n</script>").expect("an end").0;
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*decoded(text)).read_to_end(&mut plain).expect("gzip");
    let length = u32::from_le_bytes(*plain.first_chunk().expect("a length")) as usize;
    let head = serde_json::from_slice(&plain[8..8 + length]).expect("valid JSON");
    (head, plain[8 + length.next_multiple_of(8)..].to_vec())
}

fn decoded(text: &str) -> Vec<u8> {
    let value = |letter| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bits, mut n, mut bytes) = (0_u32, 0, Vec::new());
    for letter in text.bytes().take_while(|&letter| letter != b'=') {
        (bits, n) = (bits << 6 | u32::from(value(letter)), n + 6);
        if n >= 8 {
            n -= 8;
            bytes.push((bits >> n) as u8);
        }
    }
    bytes
}

/// Returns the columns by name.
pub(crate) fn columns(
    head: &Value,
    mut bytes: &[u8],
) -> std::collections::BTreeMap<String, Vec<f64>> {
    let mut columns = std::collections::BTreeMap::new();
    for shape in head["columns"].as_array().expect("shapes") {
        let width = match shape[1].as_str() {
            Some("u8") => 1,
            Some("u16") => 2,
            Some("u32") => 4,
            _ => 8,
        };
        let length = shape[2].as_u64().expect("a length") as usize * width;
        let number = |bytes: &[u8]| match *bytes {
            [byte] => f64::from(byte),
            [a, b] => f64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => f64::from(u32::from_le_bytes([a, b, c, d])),
            _ => f64::from_le_bytes(*bytes.first_chunk().expect("eight bytes")),
        };
        let name = shape[0].as_str().expect("a name").to_owned();
        let rows = length / width;
        let apart = |row: usize| (0..width).map(|at| bytes[at * rows + row]).collect::<Vec<u8>>();
        columns.insert(name, (0..rows).map(|row| number(&apart(row))).collect());
        bytes = &bytes[length.next_multiple_of(8)..];
    }
    assert!(bytes.is_empty(), "nothing is left over");
    columns
}

#[test]
fn the_tables_of_a_page() {
    let (head, bytes) = tables(&one_of_everything());
    assert_eq!(head["title"], "perf record --call-graph dwarf,16384");
    assert_eq!(head["threads"][0], json!([42, 43, "a b;\"c", "a b;\"c"]));
    assert_eq!(
        head["events"][1],
        json!({"name": "cpu-clock", "unit": "nanoseconds", "period": null, "rate": 997, "frequency": 1})
    );
    assert!(head["summary"].as_str().expect("text").starts_with("5 samples, 9 frames"));
    let columns = columns(&head, &bytes);
    let name = |node: usize| {
        let function = &head["functions"][columns["func"][node] as usize];
        let name = function[0].as_i64().expect("a number");
        usize::try_from(name).ok().map_or("", |name| head["names"][name].as_str().expect("text"))
    };
    let none = f64::from(u32::MAX);
    let nodes: Vec<_> = (0..columns["func"].len())
        .map(|node| {
            (name(node), columns["parent"][node], columns["flags"][node], columns["line"][node])
        })
        .collect();
    assert_eq!(
        nodes,
        [
            ("", none, 8.0, 0.0),
            ("", 0.0, 2.0, 0.0),
            ("jit\n\u{fffd}name", 1.0, 8.0, 0.0),
            ("main", none, 0.0, 12.0),
            ("op;\"x\"", 3.0, 0.0, 0.0),
            ("inl2", 4.0, 1.0, 8.0),
            ("read_zero", 3.0, 4.0, 0.0),
            ("main", none, 2.0, 12.0),
        ]
    );
    assert_eq!(columns["leafNode"], [none, 2.0, 5.0, 6.0, 7.0]);
    assert_eq!(columns["leafPlace"], [none, 3.0, 0.0, 2.0, 1.0]);
    assert_eq!(columns["leaf"], [2.0, 4.0, 3.0, 1.0, 0.0]);
    assert_eq!(columns["event"], [1.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(columns["period"], [4_000_000.0, 3.0, 1.0, 1.0, 1.0]);
    assert_eq!(columns["thread"], [0.0, 0.0, 1.0, 1.0, 2.0]);
    assert_eq!(head["unit"], 332, "1425 s fit into 32 bits");
}

/// Instructions refer to the row of their module. A path has one row for all its modules.
#[test]
fn the_instructions_of_a_page() {
    let profile = one_of_everything();
    let module = profile.locations.iter().find_map(|row| row.module).expect("a module");
    let path = profile.strings.get(profile.modules.get(module).expect("a module").path);
    let instructions = vec![(1, "push %rbp".to_owned()), (2, "nopw (%rax,%rax,1)".to_owned())];
    let functions = vec![PageFunctionCode { module, start: 0x1000, instructions }];
    let targets = vec![PageTarget { module, address: 0x2000, name: b"memcpy@plt".to_vec() }];
    let mut page = Page::new(false, None);
    page.code = PageCode { functions, targets, omitted: 3 };
    let mut bytes = Vec::new();
    page.print(&profile, &mut bytes).expect("memory takes it");
    let (head, _) = tables_of(bytes);
    let row = head["code"][0]["module"].as_u64().expect("a row") as usize;
    assert_eq!(head["modules"][row]["path"].as_str().map(str::as_bytes), Some(path));
    assert_eq!(
        head["code"],
        json!([{"module": row, "start": 4096, "lengths": [1, 2], "text": "push %rbp\nnopw (%rax,%rax,1)"}])
    );
    assert_eq!(head["targets"], json!([[row, 8192, "memcpy@plt"]]));
    assert_eq!(head["codeLeftOut"], 3);
}

#[test]
fn a_page_of_nothing() {
    let (head, bytes) = tables(&empty());
    assert_eq!((head["title"].as_str(), head["names"].clone()), (Some("Profile"), json!([])));
    assert!(bytes.is_empty());
}
