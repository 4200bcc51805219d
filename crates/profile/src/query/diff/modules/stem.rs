//! Stem of a module's name, which is stable across builds and versions.

/// Words that people add before or after the name of a saved copy.
const COPIES: [&[u8]; 14] = [
    b"old",
    b"new",
    b"orig",
    b"bak",
    b"prev",
    b"before",
    b"after",
    b"base",
    b"baseline",
    b"backup",
    b"save",
    b"saved",
    b"copy",
    b"dirty",
];

/// Words of unreleased versions.
const STAGES: [&[u8]; 6] = [b"rc", b"beta", b"alpha", b"pre", b"dev", b"git"];

/// Minimum length of a hash, in hexadecimal digits: that of an abbreviated commit.
const SHORTEST_HASH: usize = 7;

/// Separators of the parts of a name.
const SEPARATORS: &[u8] = b"-_.+~";

/// Returns the soname by convention: `libx.so.1` for `libx.so.1.0.2`. Returns `None` for other files, and for libraries
/// without a version.
pub(super) fn soname(name: &[u8]) -> Option<&[u8]> {
    let at = library(name)?;
    let version = name.get(at + 1..)?;
    let major = version.iter().position(|&byte| byte == b'.').unwrap_or(version.len());
    (major > 0).then(|| name.get(..at + 1 + major)).flatten()
}

/// Returns the name without hash, version, and words of copies: `bench` for `bench-0123456789abcdef`, `app` for
/// `app.old`, `libc.so` for `libc-2.31.so` and `libc.so.6`. At least one letter remains.
pub(super) fn stem(name: &[u8]) -> Vec<u8> {
    let (mut base, ending) = match library(name) {
        Some(at) => name.split_at(at),
        None => match name.strip_suffix(b".so") {
            Some(base) => (base, &b".so"[..]),
            None => (name, &b""[..]),
        },
    };
    let is_library = !ending.is_empty();
    if is_library {
        base = base.strip_suffix(b".so").unwrap_or(base);
        base = without_python(base);
    }
    while let Some(shorter) = without_last(base).or_else(|| without_first(base)) {
        base = shorter;
    }
    let ending: &[u8] = if is_library { b".so" } else { b"" };
    [base, ending].concat()
}

/// Returns the position of a library's version: the point after `.so` in `libx.so.1`.
fn library(name: &[u8]) -> Option<usize> {
    const SO: &[u8] = b".so.";
    let at = name.windows(SO.len()).position(|window| window == SO)? + SO.len() - 1;
    let is_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    name.get(at..)?.iter().all(is_version).then_some(at)
}

/// Removes the interpreter's tag from a Python extension's name: `_json.cpython-311-x86_64-linux-gnu`.
fn without_python(base: &[u8]) -> &[u8] {
    const TAG: &[u8] = b".cpython-";
    let at = base.windows(TAG.len()).position(|window| window == TAG).filter(|&at| at > 0);
    at.and_then(|at| base.get(..at)).unwrap_or(base)
}

fn without_last(base: &[u8]) -> Option<&[u8]> {
    if let Some(shorter) = base.strip_suffix(b"~") {
        return has_letter(shorter).then_some(shorter);
    }
    let at = base.iter().rposition(|byte| SEPARATORS.contains(byte))?;
    let (front, part) = (base.get(..at)?, base.get(at + 1..)?);
    let after_point = base.get(at) == Some(&b'.');
    let varies = varies(part) || (after_point && is_letter_version(part));
    (varies && has_letter(front)).then_some(front)
}

fn without_first(base: &[u8]) -> Option<&[u8]> {
    let at = base.iter().position(|byte| SEPARATORS.contains(byte))?;
    let (part, rest) = (base.get(..at)?, base.get(at + 1..)?);
    (COPIES.contains(&part) && has_letter(rest)).then_some(rest)
}

fn has_letter(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_alphabetic)
}

/// Returns true if a part of a name is a hash, a version number, or a word of a copy.
fn varies(part: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let number = part.strip_prefix(b"v").unwrap_or(part);
    let is_stage = STAGES.iter().any(|word| {
        part.strip_prefix(*word).is_some_and(|rest| rest.is_empty() || is_number(rest))
    });
    is_number(number) || is_hash(part) || is_stage || COPIES.contains(&part)
}

/// Returns true for `1w`, as in `openssl-1.1.1w`.
fn is_letter_version(part: &[u8]) -> bool {
    let Some((last, digits)) = part.split_last() else { return false };
    last.is_ascii_lowercase() && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns true for a hash of cargo or of a commit, which `git describe` prefixes with `g`. A short word such as
/// `defaced` is not a hash, because it has no digit.
fn is_hash(part: &[u8]) -> bool {
    let of = |text: &[u8]| {
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        text.len() >= SHORTEST_HASH
            && text.iter().all(is_hex)
            && (text.len() >= 16 || text.iter().any(u8::is_ascii_digit))
    };
    of(part) || part.strip_prefix(b"g").is_some_and(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        for (name, expected) in [
            ("bench-5f3a91c2d4e6b708", "bench"),
            ("my_bench-abcdefabcdefabcd", "my_bench"),
            ("app.old", "app"),
            ("app_new", "app"),
            ("old-app", "app"),
            ("app~", "app"),
            ("app-v1.2.3-rc1", "app"),
            ("app-1.2-12-gabc1234", "app"),
            ("openssl-1.1.1w", "openssl"),
            ("python3.11", "python3"),
            ("libx.so.1.0.1", "libx.so"),
            ("libx.so", "libx.so"),
            ("libc-2.31.so", "libc.so"),
            ("libstd-8f3a52c1d0e97b46.so", "libstd.so"),
            ("_json.cpython-311-x86_64-linux-gnu.so", "_json.so"),
            ("cc1plus", "cc1plus"),
            ("app2", "app2"),
            ("lib_2d.so", "lib_2d.so"),
            ("a-facade", "a-facade"),
            ("1.2.3", "1.2.3"),
            ("old", "old"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(stem(name.as_bytes())).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn sonames() {
        for (name, expected) in [
            ("libx.so.1.0.2", Some("libx.so.1")),
            ("libx.so.1", Some("libx.so.1")),
            ("libpython3.11.so.1.0", Some("libpython3.11.so.1")),
            ("libx.so", None),
            ("libx.so.", None),
            ("libx.so.old", None),
            ("bench", None),
        ] {
            assert_eq!(soname(name.as_bytes()), expected.map(str::as_bytes), "{name}");
        }
    }
}
