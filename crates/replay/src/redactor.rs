//! Keyed hashes that replace private values.

use sha2::{Digest as _, Sha256};

/// Replaces values by hashes under a key. Equal values have equal hashes; without the key, values cannot be tried.
#[derive(Clone, Debug)]
pub(crate) struct Redactor {
    /// The state after the key.
    keyed: Sha256,
}

impl Redactor {
    /// Returns the redactor of a key.
    pub(crate) fn new(key: &str) -> Self {
        // A key of fixed length ends where the value begins.
        Self { keyed: Sha256::new_with_prefix(Sha256::digest(key)) }
    }

    /// Returns the hash of a value, or of the text of a number: `#` and 16 hexadecimal digits.
    pub(crate) fn hash(&self, value: &[u8]) -> Vec<u8> {
        let digest = self.keyed.clone().chain_update(value).finalize();
        let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
        std::iter::once("#".to_owned()).chain(digits).collect::<String>().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_depend_on_key_and_value() {
        let hash = |key, value: &[u8]| String::from_utf8(Redactor::new(key).hash(value)).unwrap();
        // The first bytes of SHA-256(SHA-256("a") + "x").
        assert_eq!(hash("a", b"x"), "#39175d76e9aadeaa");
        assert_ne!(hash("a", b"x"), hash("b", b"x"));
        assert_ne!(hash("a", b"x"), hash("a", b"y"));
    }
}
