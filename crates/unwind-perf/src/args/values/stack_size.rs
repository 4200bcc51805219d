//! Size of the stack that each sample copies.

use std::fmt::{self, Display, Formatter};

/// Largest size, in bytes: the size of a record has 16 bits, and sizes are multiples of 8.
const LARGEST: u32 = 65_528;

/// Bytes of the stack that each sample copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StackSize {
    /// The same size always.
    Bytes(u32),
    /// The largest one, and then the smallest one that serves.
    Auto,
}

impl StackSize {
    /// Reads a number of bytes, or `auto`.
    ///
    /// # Errors
    /// If it is neither, or is not recordable.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let bytes = text.parse().ok().filter(|bytes| (8..=LARGEST).contains(bytes));
        bytes.map(Self::Bytes).ok_or_else(|| format!("expected 8 to {LARGEST} bytes, or auto"))
    }

    /// Returns the size at the start of the recording, in bytes.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Auto => LARGEST,
        }
    }
}

impl Display for StackSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let bytes = |text: &str| StackSize::parse(text).map(StackSize::bytes);
        assert_eq!((bytes("8"), bytes("65528"), bytes("auto")), (Ok(8), Ok(65_528), Ok(65_528)));
        for wrong in ["", "7", "65529", "Auto", "4K", "-8"] {
            assert_eq!(bytes(wrong), Err("expected 8 to 65528 bytes, or auto".to_owned()));
        }
        assert_eq!(StackSize::Auto.to_string(), "auto");
    }
}
