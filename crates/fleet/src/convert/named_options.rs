//! Options that change the rows, and their hash, which names a folder of the tree.

use std::io;

use options::{Options, to_hex};
use serde::Serialize as _;
use serde_json::ser::Formatter;
use sha2::{Digest as _, Sha256};

/// Options that change the duration only.
const WITHOUT_EFFECT: &[&str] = &["jobs", "cache", "cache_size"];
/// Number of hexadecimal digits of the hash.
const DIGITS: usize = 16;

/// The options of a run that differ from their defaults, in the form of manifests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedOptions {
    /// Each as `name=JSON`, in alphabetical order.
    pub(super) named: Vec<String>,
    /// Hash of the options and the version.
    pub(super) hash: String,
}

impl NamedOptions {
    /// Returns the options that change the rows, with their hash for a version of the program.
    #[must_use]
    pub fn new(options: &Options, version: &str) -> Self {
        let mut object = options.to_object();
        object.retain(|name, _| !WITHOUT_EFFECT.contains(&name.as_str()));
        let named: Vec<String> =
            object.iter().map(|(name, value)| format!("{name}={}", spaced(value))).collect();
        let lines = std::iter::once(version).chain(named.iter().map(String::as_str));
        let text = lines.collect::<Vec<_>>().join("\n");
        let mut hash = to_hex(&Sha256::digest(text.as_bytes()));
        hash.truncate(DIGITS);
        Self { named, hash }
    }
}

/// Returns JSON with a space after commas and colons, in ASCII: the form of all manifests of the layout.
fn spaced(value: &serde_json::Value) -> String {
    let mut text = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut text, Spaced);
    // Writing values to memory does not fail.
    let _ = value.serialize(&mut writer);
    String::from_utf8_lossy(&text).into_owned()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for letter in fragment.chars() {
            if letter.is_ascii() {
                out.write_all(&[letter as u8])?;
                continue;
            }
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_caches_have_no_effect() {
        let hash = |json: &str| {
            let options = Options::from_json(json).expect("options");
            NamedOptions::new(&options, "0.1.0").hash
        };
        let usual = hash("{}");
        assert_eq!(usual, "6ad9613a455798d6");
        assert_eq!(hash(r#"{"jobs":2,"cache":"/c","cache_size":"1G"}"#), usual);
        assert_ne!(hash(r#"{"symbols":false}"#), usual);
    }

    #[test]
    fn options_are_text_in_ascii() {
        let json =
            r#"{"sysroot":["/ä","/😀"],"pid":[1,2],"path_map":[["/a","/b"]],"symbols":false}"#;
        let named = NamedOptions::new(&Options::from_json(json).expect("options"), "0.1.0");
        let expected = [
            r#"path_map=[["/a", "/b"]]"#,
            "pid=[1, 2]",
            "symbols=false",
            r#"sysroot=["/\u00e4", "/\ud83d\ude00"]"#,
        ];
        assert_eq!(named.named, expected);
    }
}
