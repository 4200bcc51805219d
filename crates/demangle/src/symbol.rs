//! Recognition of a symbol's language: Rust (legacy and v0) first, because legacy Rust names look like C++, then C++,
//! then other languages.

use std::borrow::Cow;

use crate::languages::{self, Languages};
use crate::style::Style;
use crate::{cxx, rust};

/// Length of the longest mangled name that is parsed, in bytes.
const MAX_MANGLED: usize = 1 << 16;

/// Returns the readable form of a symbol, or the symbol itself if it is not mangled. Removes a version
/// (`@@GLIBC_2.34`), but not `@plt`.
///
/// Names of C++, Rust, D, Fortran and OCaml are recognized by their form; those of Ada and Haskell stay, because their
/// form proves nothing.
#[must_use]
pub fn demangle(symbol: &[u8], style: Style) -> Cow<'_, [u8]> {
    demangle_in(symbol, style, Languages::default())
}

/// Like [`demangle`], for a symbol of a file that is proven to contain these languages.
#[must_use]
pub fn demangle_in(symbol: &[u8], style: Style, languages: Languages) -> Cow<'_, [u8]> {
    let (name, plt) = without_version(symbol);
    let raw = || match plt {
        _ if name.len() + plt.len() == symbol.len() => Cow::Borrowed(symbol),
        b"" => Cow::Borrowed(name),
        _ => Cow::Owned([name, plt].concat()),
    };
    if symbol.len() > MAX_MANGLED {
        return raw();
    }
    let Ok(text) = std::str::from_utf8(name) else { return raw() };
    let rust_or_cxx = || {
        is_mangled(name)
            .then(|| rust::readable(text, style).or_else(|| cxx::readable(name, style)))?
    };
    let other =
        || languages::readable(text, languages, style == Style::Short).map(String::into_bytes);
    let Some(mut readable) = rust_or_cxx().or_else(other) else { return raw() };
    readable.extend_from_slice(plt);
    Cow::Owned(readable)
}

/// Returns the text that a symbol is demangled from; `None` if it stays as it is.
#[must_use]
pub fn plain_name(symbol: &[u8]) -> Option<&str> {
    if symbol.len() > MAX_MANGLED {
        return None;
    }
    std::str::from_utf8(without_version(symbol).0).ok()
}

/// Returns the name without a version, and the `@plt` suffix, which may be empty.
///
/// Source: the GNU assembler's `.symver`: `name@version`, `name@@version`.
fn without_version(symbol: &[u8]) -> (&[u8], &[u8]) {
    const PLT: &[u8] = b"@plt";
    let (rest, plt) = match symbol.strip_suffix(PLT) {
        Some(rest) => (rest, PLT),
        None => (symbol, &[][..]),
    };
    let at = rest.iter().position(|&byte| byte == b'@').filter(|&at| at > 0);
    let Some((name, version)) = at.and_then(|at| rest.split_at_checked(at)) else {
        return (rest, plt);
    };
    let version = version.strip_prefix(b"@@").or(version.strip_prefix(b"@")).unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_version = !version.is_empty() && version.iter().all(is_word);
    if is_version { (name, plt) } else { (rest, plt) }
}

fn is_mangled(symbol: &[u8]) -> bool {
    let underscores = symbol.iter().take_while(|&&byte| byte == b'_').count();
    match symbol.get(underscores) {
        Some(b'Z') => (1..=4).contains(&underscores),
        Some(b'R') => (1..=2).contains(&underscores),
        Some(b'G') => symbol.starts_with(b"_GLOBAL_"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(symbol: &str, full: &str, short: &str) {
        assert_eq!(String::from_utf8_lossy(&demangle(symbol.as_bytes(), Style::Full)), full);
        assert_eq!(String::from_utf8_lossy(&demangle(symbol.as_bytes(), Style::Short)), short);
    }

    #[test]
    fn rust_before_cxx() {
        let name = "core::fmt::Formatter::pad";
        check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", name, name);
        check("_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo");
        check("_ZN3foo3barEi", "foo::bar(int)", "foo::bar");
    }

    #[test]
    fn numbers_are_written_as_others_do() {
        check(
            "_Z1fILm3ELi4ELj5ELl6ELx7ELy8ELb1ELc65ELs9ELin2ELln3EEvv",
            "void f<3ul, 4, 5u, 6l, 7ll, 8ull, true, (char)65, (short)9, -2, -3l>()",
            "f",
        );
    }

    #[test]
    fn what_has_no_spelling_in_cpp_is_written_as_binutils_does() {
        check(
            "_ZZ1fiENKUlRKSt7complexIdEE0_clES2_",
            "f(int)::{lambda(std::complex<double> const&)#2}::operator()(std::complex<double> const&) const",
            "f::{lambda#2}::operator()",
        );
        check(
            "_GLOBAL__I__Z3fooi",
            "global constructors keyed to foo(int)",
            "global constructors keyed to foo(int)",
        );
        check("_Z3fooi.isra.0.cold", "foo(int) [clone .isra.0] [clone .cold]", "foo");
        check("_ZTV1AIS_IiEE", "vtable for A<A<int> >", "vtable for A");
    }

    #[test]
    fn versions_are_left_out() {
        check("_ZNSt6vectorIiE3endEv@@X_1", "std::vector<int>::end()", "std::vector::end");
        check("_Z3fooi.cold", "foo(int) [clone .cold]", "foo");
        check("_Znwm@plt", "operator new(unsigned long)@plt", "operator new@plt");
    }

    #[test]
    fn versions_of_plain_names() {
        for (symbol, name) in [
            ("cfree@GLIBC_2.2.5", "cfree"),
            ("__libc_start_main@@GLIBC_2.34", "__libc_start_main"),
            ("memcpy@plt", "memcpy@plt"),
            ("memcpy@GLIBC_2.14@plt", "memcpy@plt"),
            ("a@b c", "a@b c"),
            ("a@", "a@"),
            ("@a", "@a"),
        ] {
            check(symbol, name, name);
        }
    }

    #[test]
    fn what_is_not_mangled_stays() {
        for name in ["main", "_start", "__libc_start_main", "_Zebra", "_R", "_ZN", "foo.cold", ""] {
            check(name, name, name);
        }
        assert_eq!(&*demangle(b"_Z3f\xff\xfev", Style::Full), b"_Z3f\xff\xfev");
    }

    #[test]
    fn names_cost_in_proportion_to_their_length() {
        // Each type contains the previous one twice: 17 of them are 131,072.
        let mut name = "_Z1f1AIiiE".to_owned();
        for index in 0..17 {
            let last = char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[2 * index]);
            name += &format!("1BIS{last}_S{last}_E");
            let text = demangle(name.as_bytes(), Style::Full);
            let most = 4096 + 64 * name.len();
            assert!(text.len() <= most && (index < 10 || text == name.as_bytes()), "{index}");
        }
    }

    #[test]
    fn names_that_are_nested_too_deep_stay() {
        let nested = format!("_Z1f{}i", "P".repeat(60_000));
        check(&nested, &nested, &nested);
        let templates = format!("_Z1f{}i{}", "1AI".repeat(20_000), "E".repeat(20_000));
        assert_eq!(&*demangle(templates.as_bytes(), Style::Full), templates.as_bytes());
    }
}
