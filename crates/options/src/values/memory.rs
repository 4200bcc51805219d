//! Sizes of memory.

/// Memory that the program itself and its caches need, in bytes.
const LEAST: u64 = 32 << 20;

/// A limit of memory. In JSON a number of bytes or text such as `2G`, `"none"`, or null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryLimit {
    /// The default: a library has no limit, the command half of the host's memory.
    #[default]
    Usual,
    /// No limit.
    None,
    /// A limit in bytes.
    Bytes(u64),
}

impl MemoryLimit {
    /// Returns the explicit limit in bytes.
    #[must_use]
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Usual | Self::None => None,
        }
    }

    /// Returns the limit in bytes; `usual` is the program's default.
    #[must_use]
    pub const fn or_usual(self, usual: Option<u64>) -> Option<u64> {
        match self {
            Self::Usual => usual,
            Self::None => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }

    /// Parses a limit: `none`, or a size as in [`parse_memory`].
    ///
    /// # Errors
    /// As for [`parse_memory`].
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "none" { Ok(Self::None) } else { parse_memory(text).map(Self::Bytes) }
    }
}

/// Parses a size of memory: `500M`, `2G`, or a number of bytes. Units are powers of 1024.
///
/// # Errors
/// The reason, as a clause, if the text is not a size, or if the size is too small for any run.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    if bytes < LEAST {
        return Err(format!("at least {} M are needed", LEAST >> 20));
    }
    Ok(bytes)
}

/// Parses a size of any kind: `500M`, `2G`, or a number of bytes. Units are powers of 1024.
///
/// # Errors
/// The reason, as a clause, if the text is not a size.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default().to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        other => return Err(format!("unknown unit {other}; there are K, M and G")),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| "expected a number with K, M or G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_memory("33554432"), Ok(32 << 20));
        assert_eq!(parse_memory("500M"), Ok(500 << 20));
        assert_eq!(parse_memory("2g"), Ok(2 << 30));
        assert_eq!(parse_memory("1M"), Err("at least 32 M are needed".to_owned()));
        assert_eq!(parse_memory("5T"), Err("unknown unit T; there are K, M and G".to_owned()));
        assert_eq!((parse_size("1M"), parse_size("0")), (Ok(1 << 20), Ok(0)));
        assert_eq!(MemoryLimit::parse("none"), Ok(MemoryLimit::None));
        assert_eq!(MemoryLimit::parse("2g"), Ok(MemoryLimit::Bytes(2 << 30)));
        let usual = [MemoryLimit::Usual, MemoryLimit::None, MemoryLimit::Bytes(3)];
        assert_eq!(usual.map(|it| it.or_usual(Some(7))), [Some(7), None, Some(3)]);
        assert_eq!(parse_memory("M"), Err("expected a number with K, M or G".to_owned()));
    }
}
