//! SHA-256 in its JSON form.

use options::{from_hex, to_hex};
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// SHA-256; in JSON, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Sha256(pub(crate) [u8; 32]);

impl From<Sha256> for String {
    fn from(hash: Sha256) -> Self {
        to_hex(&hash.0)
    }
}

impl TryFrom<String> for Sha256 {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = from_hex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("expected 64 hexadecimal digits")
    }
}

/// Computes a SHA-256.
#[derive(Default)]
pub(crate) struct Hasher(sha2::Sha256);

impl Hasher {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}
