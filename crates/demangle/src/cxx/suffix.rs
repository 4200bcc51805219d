//! Suffixes of compilers for cloned functions: `.cold`, `.isra.0`, `.llvm.1234`.
//!
//! Source: GCC's `clone_function_name`, LLVM's `ThinLTO` promotion, `llvm::getUniqueInternalLinkagePostfix`.

use crate::cxx::Spelling;

/// Writes a suffix, which begins with a dot or is empty.
pub(crate) fn write(out: &mut Vec<u8>, mut suffix: &[u8], spelling: Spelling) {
    if suffix.is_empty() {
        return;
    }
    if spelling == Spelling::Llvm {
        out.extend_from_slice(b" (");
        out.extend_from_slice(suffix);
        out.push(b')');
        return;
    }
    while !suffix.is_empty() {
        let (one, rest) = suffix.split_at(end_of_clone(suffix));
        out.extend_from_slice(b" [clone ");
        out.extend_from_slice(one);
        out.push(b']');
        suffix = rest;
    }
}

/// Returns the end of a clone's keyword and its numbers: `.isra.0` in `.isra.0.cold`; the whole length for other forms.
fn end_of_clone(suffix: &[u8]) -> usize {
    let mut end = suffix.len();
    for (at, pair) in suffix.windows(2).enumerate().skip(1) {
        if pair.first() == Some(&b'.') && !pair.get(1).is_some_and(u8::is_ascii_digit) {
            end = at;
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_clones() {
        for (suffix, gnu) in [
            ("", ""),
            (".cold", " [clone .cold]"),
            (".isra.0.cold", " [clone .isra.0] [clone .cold]"),
            (".constprop.0.isra.12", " [clone .constprop.0] [clone .isra.12]"),
            (".llvm.123", " [clone .llvm.123]"),
            (".123", " [clone .123]"),
            (".", " [clone .]"),
            ("..a", " [clone .] [clone .a]"),
        ] {
            let mut out = Vec::new();
            write(&mut out, suffix.as_bytes(), Spelling::Gnu);
            assert_eq!(String::from_utf8(out).unwrap(), gnu);
        }
    }
}
