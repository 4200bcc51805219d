//! Names of Rust, in both manglings. The demangler is limited by input, output and nesting.

use std::fmt::Write as _;

use crate::short::shortened;
use crate::style::Style;

/// Length of the longest demangled Rust name, in bytes; a longer one stays mangled.
const MAX_DEMANGLED: usize = 1 << 16;
/// The same limit in proportion to the mangled name.
const DEMANGLED_PER_BYTE: usize = 64;
const LEAST_DEMANGLED: usize = 1 << 12;
/// Paths without text allowed for a byte of output, on average.
const SILENT_PATHS: usize = 16;

/// Returns the readable form of a Rust name; `None` if it is not one, or exceeds a limit.
pub(crate) fn readable(name: &str, style: Style) -> Option<Vec<u8>> {
    let parsed = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded { text: String::new(), most: most(name.as_bytes()) };
    write!(out, "{parsed:#}").ok()?;
    Some(shortened(out.text, style).into_bytes())
}

/// Returns the limit on the output of a Rust name, in bytes. The demangler follows a back reference each time it
/// occurs, and paths with empty names print nothing. The limit therefore decreases with the number of such paths.
///
/// Source: the Rust symbol mangling (v0), "Path" (`N` and a namespace), "Undisambiguated identifier" (length 0).
fn most(name: &[u8]) -> usize {
    let pairs = || name.windows(2).filter_map(|pair| pair.first_chunk::<2>());
    let nested = pairs().filter(|[tag, space]| *tag == b'N' && space.is_ascii_lowercase()).count();
    let empty =
        pairs().filter(|[before, length]| *length == b'0' && !matches!(before, b'1'..=b'9'));
    let silent = nested.min(empty.count());
    let most = LEAST_DEMANGLED + DEMANGLED_PER_BYTE * name.len();
    MAX_DEMANGLED.min(most).min(most * SILENT_PATHS / (1 + silent))
}

/// Collects text, and fails if it exceeds the limit.
struct Bounded {
    text: String,
    most: usize,
}

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len() + part.len() > self.most {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cost_in_proportion_to_their_length() {
        assert_eq!((most(b"_RNvC1a1f"), most(&[b'a'; 2000])), (4672, 1 << 16));
        // Paths with empty names, in a tuple of references to them.
        let silent = format!("{}C1a{}", "Nt".repeat(400), "0".repeat(400));
        assert_eq!(most(silent.as_bytes()), (4096 + 64 * 1203) * 16 / 401);
    }
}
