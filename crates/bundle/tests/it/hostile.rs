//! Untrusted bundles: with any contents, they are read as stated or refused.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use budget::Budget;
use bundle::{Bundle, BundleFacts, ContentSelection, JournalHost, RecordedFiles, is_bundle};
use host::{Host as _, MemoryHost, Origin};
use serde_json::{Value, json};

/// Entry: its name, type and bytes.
type Entry = (String, tar::EntryType, Vec<u8>);

/// Returns a valid bundle of a recording and a file.
fn good() -> Vec<u8> {
    let machine = MemoryHost::new();
    machine.insert("perf.data", *b"PERFILE2");
    machine.insert("/bin/app", (0..=255).collect::<Vec<u8>>());
    let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
    for path in ["perf.data", "/bin/app"] {
        journal.open(Path::new(path), Origin::User).expect("a file");
    }
    let facts = BundleFacts { recording: "perf.data".into(), ..BundleFacts::default() };
    let mut packed = Vec::new();
    let taken = journal.finish().expect("files");
    bundle::write(&taken, &facts, &RecordedFiles::default(), &ContentSelection::Whole, &mut packed)
        .expect("memory");
    packed
}

fn entries(packed: &[u8]) -> Vec<Entry> {
    let tar = zstd::stream::decode_all(packed).expect("zstd");
    let mut archive = tar::Archive::new(&tar[..]);
    let read = archive.entries().expect("a tar file").map(|entry| {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let (kind, mut bytes) = (entry.header().entry_type(), Vec::new());
        entry.read_to_end(&mut bytes).expect("its bytes");
        (name, kind, bytes)
    });
    read.collect()
}

fn pack(entries: &[Entry]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        // Bypasses the checks of the tar crate, as an attacker would.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        if matches!(kind, tar::EntryType::Symlink | tar::EntryType::Link) {
            header.set_link_name("/etc/passwd").expect("a name");
        }
        header.set_cksum();
        builder.append(&header, &bytes[..]).expect("memory");
    }
    zstd::stream::encode_all(&builder.into_inner().expect("memory")[..], 3).expect("memory")
}

/// Returns the valid bundle after a change of its entries.
fn changed(change: impl FnOnce(&mut Vec<Entry>)) -> Vec<u8> {
    let mut entries = entries(&good());
    change(&mut entries);
    pack(&entries)
}

/// Returns the valid bundle after a change of its manifest.
fn with_manifest(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    changed(|entries| {
        let mut manifest = serde_json::from_slice(&entries[0].2).expect("JSON");
        change(&mut manifest);
        entries[0].2 = serde_json::to_vec(&manifest).expect("JSON");
    })
}

#[track_caller]
fn error(packed: &[u8]) -> String {
    let error = Bundle::read(packed, &Budget::default()).expect_err("no bundle");
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[test]
fn a_good_one_is_read() {
    assert!(Bundle::read(&changed(|_| ()), &Budget::default()).is_ok());
    let names: Vec<_> = entries(&good()).into_iter().map(|(name, ..)| name).collect();
    // SHA-256 of the bytes 0 to 255.
    let file = "files/40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880";
    assert_eq!(names, ["manifest.json", file, "perf.data", "root/bin/app"]);
}

#[test]
fn a_cut_bundle_is_an_error_wherever_it_is_cut() {
    let good = good();
    for len in 0..good.len() {
        assert!(Bundle::read(&good[..len], &Budget::default()).is_err(), "{len}");
        // Every input file is tested this way.
        let _ = is_bundle(&good[..len]);
    }
}

#[test]
fn damage_is_an_error_or_harmless() {
    let good = good();
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x55;
        if let Ok(bundle) = Bundle::read(&damaged, &Budget::default()) {
            let app = bundle.host().open(Path::new("/bin/app"), Origin::User).expect("the file");
            assert_eq!(app.content.len(), 256, "{at}");
        }
    }
}

#[test]
fn bytes_are_those_of_the_manifest() {
    let name = "perf.data in the bundle does not match its manifest";
    assert_eq!(error(&changed(|it| it[2].2[3] ^= 1)), format!("{name}: its bytes"));
    assert_eq!(error(&changed(|it| it[2].2.push(0))), format!("{name}: its size"));
    let size = with_manifest(|it| it["contents"][1]["size"] = json!(9));
    assert_eq!(error(&size), format!("{name}: its size"));
}

#[test]
fn entries_are_those_of_the_manifest() {
    let missing = "the bundle has the entry that is its end; its manifest says perf.data";
    assert_eq!(error(&changed(|it| it.truncate(2))), missing);
    let more = changed(|it| it.push(it[2].clone()));
    assert_eq!(error(&more), "the bundle has the entry perf.data; its manifest says the end");
    for name in ["../../etc/cron.d/x", "/etc/passwd", "other"] {
        let found = error(&changed(|it| it[2].0 = name.to_owned()));
        assert!(found.ends_with("; its manifest says perf.data"), "{found}");
        let stated = error(&with_manifest(|it| it["contents"][1]["name"] = json!(name)));
        let refused = name == "other" || stated.contains("is no name of an entry");
        assert!(refused, "{stated}");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        let found = error(&changed(|it| (it[2].1, it[2].2) = (kind, Vec::new())));
        assert_eq!(found, "the bundle has the entry perf.data; its manifest says perf.data");
    }
    let swapped = changed(|it| it.swap(0, 1));
    assert!(!is_bundle(&swapped) && Bundle::read(&swapped, &Budget::default()).is_err());
}

#[test]
fn links_are_passed_over_wherever_they_lead() {
    let link = |name: &str, kind| (name.to_owned(), kind, Vec::new());
    for name in
        ["root/bin/x", "../../etc/cron.d/x", "/etc/passwd", "perf.data", "manifest.json", ""]
    {
        let packed = changed(|it| it.push(link(name, tar::EntryType::Link)));
        let bundle = Bundle::read(&packed, &Budget::default()).expect("a bundle");
        let open = |path: &str| bundle.host().open(Path::new(path), Origin::User);
        assert_eq!(&open("perf.data").expect("the recording").content[..], b"PERFILE2");
        assert!(open(name).is_ok() == (name == "perf.data"), "{name}");
    }
    let end = "the bundle has the entry x; its manifest says the end";
    for kind in [tar::EntryType::Symlink, tar::EntryType::Regular, tar::EntryType::Directory] {
        assert_eq!(error(&changed(|it| it.push(link("x", kind)))), end);
    }
    let with_bytes = ("x".to_owned(), tar::EntryType::Link, vec![7]);
    assert_eq!(error(&changed(|it| it.push(with_bytes))), end);
}

#[test]
fn the_first_form_is_read_and_has_no_links() {
    let first = with_manifest(|it| it["version"] = json!(1));
    let found = "the bundle has the entry root/bin/app; its manifest says the end";
    assert_eq!(error(&first), found);
    let mut entries = entries(&first);
    entries.pop();
    let bundle = Bundle::read(&pack(&entries), &Budget::default()).expect("a bundle");
    let app = bundle.host().open(Path::new("/bin/app"), Origin::User).expect("the file");
    assert_eq!(app.content.len(), 256);
}

#[test]
fn bombs_are_refused_before_they_unpack() {
    let stated = |packed: &[u8], size: u64, holes: Value| {
        let mut entries = entries(packed);
        let mut manifest: Value = serde_json::from_slice(&entries[0].2).expect("JSON");
        manifest["contents"][1]["size"] = json!(size);
        manifest["contents"][1]["holes"] = holes;
        entries[0].2 = serde_json::to_vec(&manifest).expect("JSON");
        pack(&entries)
    };
    let large = error(&stated(&good(), 1 << 40, json!([])));
    assert!(large.contains("bytes of its files"), "{large}");
    let holes = error(&stated(&good(), 1 << 60, json!([[0, 1_u64 << 60]])));
    assert!(holes.contains("bytes") && holes.contains("wrong"), "{holes}");
    let many: Vec<_> = (0..20_000_u64).map(|at| json!([2 * at, 2 * at + 1])).collect();
    let many = error(&stated(&good(), 40_000, json!(many)));
    assert_eq!(many, "the manifest of the bundle is wrong: its files have more than 16384 holes");
    // A bundle that consists of its manifest.
    let deep = changed(|it| it[0].2 = b"[".repeat(1 << 20));
    assert!(error(&deep).ends_with("JSON that is nested deeper than 32"));
}

#[test]
fn hostile_manifests_are_errors() {
    for (change, expected) in [
        (json!({"version": 5}), "the bundle has format version 5; this program reads 1 to 4"),
        (
            json!({"format": "x"}),
            "the manifest of the bundle is wrong: its format is not unwind-perf-bundle",
        ),
        (json!({"vdso": 7}), "the manifest of the bundle is wrong: it has no such content"),
    ] {
        let packed = with_manifest(|manifest| {
            for (key, value) in change.as_object().expect("an object") {
                manifest[key] = value.clone();
            }
        });
        assert_eq!(error(&packed), expected);
    }
    for key in ["recording", "contents", "places", "search", "variables"] {
        let packed =
            with_manifest(|manifest| drop(manifest.as_object_mut().and_then(|it| it.remove(key))));
        assert!(error(&packed).contains(&format!("missing field `{key}`")), "{key}");
    }
    let no_content = with_manifest(|it| it["places"][0]["content"] = json!(99));
    assert!(error(&no_content).ends_with("it has no such content"));
}

#[test]
fn other_files_are_no_bundles() {
    let plain = zstd::stream::encode_all(&b"PERFILE2"[..], 3).expect("memory");
    for bytes in [&b""[..], b"PERFILE2", b"\x28\xb5\x2f\xfd", &plain] {
        assert!(!is_bundle(bytes));
        assert!(Bundle::read(bytes, &Budget::default()).is_err());
    }
}

/// Returns the valid bundle with `n` additional places in its manifest.
fn with_places(n: usize) -> Vec<u8> {
    with_manifest(|it| {
        let place = json!({ "path": "/a", "is": "failed", "why": "missing" });
        it["places"].as_array_mut().expect("a list").extend(vec![place; n]);
    })
}

/// A manifest of equal places compresses to a hundredth.
#[test]
fn the_manifest_is_in_proportion_to_the_bundle() {
    let too_much = |packed: &[u8], base: usize, per_byte: usize, what: &str| {
        let limit = budget::Exhausted {
            resource: budget::Resource::ManifestBytes,
            limit: (base + per_byte * packed.len()) as u64,
        };
        let text = limit.to_string().replace("bytes of its manifest", what);
        assert_eq!(error(packed), format!("the bundle has more data than its size allows: {text}"));
    };
    assert!(Bundle::read(&with_places(1_000), &Budget::default()).is_ok());
    too_much(&with_places(100_000), 1 << 20, 16, "bytes of its manifest");
    let values = with_manifest(|it| it["zz"] = json!(vec![0; 400_000]));
    too_much(&values, 1 << 18, 1, "values of its manifest");
    let words = with_manifest(|it| {
        it["version"] = json!(2);
        it["search"] = json!(vec![["--sysroot", "sr"]; 257]);
    });
    let wrong = "the manifest of the bundle is wrong: it names more than 256 folders and files";
    assert_eq!(error(&words), wrong);
    let deep = changed(|entries| {
        let json = String::from_utf8(entries[0].2.clone()).expect("text");
        let nested = format!("{{\"zz\":{}{},", "[".repeat(40), "]".repeat(40));
        entries[0].2 = json.replacen('{', &nested, 1).into_bytes();
    });
    let wrong = "the manifest of the bundle is wrong: JSON that is nested deeper than 32";
    assert_eq!(error(&deep), wrong);
}
