//! Paths and other bytes in JSON: text if they are UTF-8, else hexadecimal digits.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Bytes. In JSON `"text"`, or `{"hex": "…"}` if they are not UTF-8. Every sequence of bytes has exactly one such form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "BytesJson", into = "BytesJson")]
pub struct Bytes(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected text, or an object with the key hex")]
enum BytesJson {
    Text(String),
    Hex { hex: String },
}

impl Bytes {
    /// Returns the bytes of a path.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        Self::of_os(path.as_os_str())
    }

    /// Returns the bytes of a string of the operating system.
    #[must_use]
    pub fn of_os(text: &OsStr) -> Self {
        Self(text.as_bytes().to_vec())
    }

    /// The bytes.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }

    /// Returns the string of the operating system with these bytes.
    #[must_use]
    pub fn to_os_string(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    /// Returns the path with these bytes.
    #[must_use]
    pub fn to_path(&self) -> PathBuf {
        PathBuf::from(self.to_os_string())
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Bytes> for BytesJson {
    fn from(bytes: Bytes) -> Self {
        match String::from_utf8(bytes.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Hex { hex: to_hex(error.as_bytes()) },
        }
    }
}

impl TryFrom<BytesJson> for Bytes {
    type Error = &'static str;

    fn try_from(json: BytesJson) -> Result<Self, Self::Error> {
        match json {
            BytesJson::Text(text) => Ok(Self(text.into_bytes())),
            BytesJson::Hex { hex } => from_hex(&hex).map(Self).ok_or("expected hexadecimal digits"),
        }
    }
}

/// Encodes each byte as two lower-case hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes pairs of hexadecimal digits; `None` if the text has anything else.
#[must_use]
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<u32>>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        &[high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_back() {
        for (bytes, json) in [
            (&b"/usr/bin/ls"[..], r#""/usr/bin/ls""#),
            (b"", r#""""#),
            (b"/a\xff\n", r#"{"hex":"2f61ff0a"}"#),
            ("/é\"".as_bytes(), r#""/é\"""#),
        ] {
            let value = Bytes(bytes.to_vec());
            assert_eq!(serde_json::to_string(&value).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Bytes>(json).expect("bytes"), value);
        }
        for json in [r#"{"hex":"2"}"#, r#"{"hex":"zz"}"#, "[1]", "{}"] {
            assert!(serde_json::from_str::<Bytes>(json).is_err(), "{json}");
        }
    }
}
