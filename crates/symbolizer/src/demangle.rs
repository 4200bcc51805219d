//! Mangled names to readable ones: Rust (legacy and v0) first, because legacy Rust names look like C++, then C++,
//! then other languages.
//! Names are hostile: each costs at most in proportion to its length. The demanglers of C++ and D see to that themselves;
//! that of Rust is bounded by its input, output and nesting.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;

use cxx_demangle::{Demangler, Options, Parts, Spelling};
pub use options::Demangle;

use crate::languages::{self, Languages};

/// Longest mangled name that is tried, in bytes.
const MAX_MANGLED: usize = 1 << 16;
/// Longest demangled name of Rust, in bytes; a longer one is left mangled.
const MAX_DEMANGLED: usize = 1 << 16;
/// The same in proportion to the mangled name.
const DEMANGLED_PER_BYTE: usize = 64;
const LEAST_DEMANGLED: usize = 1 << 12;
/// Paths without text that a byte of output may stand for, on average.
const SILENT_PATHS: usize = 16;

/// The readable form of a symbol; the symbol itself where it is not mangled. A version after it (`@@GLIBC_2.34`) is left
/// out, `@plt` stays.
///
/// Names of C++, Rust, D, Fortran and OCaml are told by their form; those of Ada and Haskell are left as they are, for
/// their form proves nothing.
#[must_use]
pub fn demangle(symbol: &[u8], how: Demangle) -> Cow<'_, [u8]> {
    demangle_in(symbol, how, Languages::default())
}

/// The same for a symbol of a file that is proven to have code of these languages.
#[must_use]
pub fn demangle_in(symbol: &[u8], how: Demangle, languages: Languages) -> Cow<'_, [u8]> {
    if how == Demangle::None {
        return Cow::Borrowed(symbol);
    }
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
    let rust_or_cpp = || is_mangled(name).then(|| rust(text, how).or_else(|| cpp(name, how)))?;
    let other =
        || languages::readable(text, languages, how == Demangle::Short).map(String::into_bytes);
    let Some(mut readable) = rust_or_cpp().or_else(other) else { return raw() };
    readable.extend_from_slice(plt);
    Cow::Owned(readable)
}

/// The text that a symbol is demangled from; `None` where it is left as it is.
pub(crate) fn plain_name(symbol: &[u8]) -> Option<&str> {
    if symbol.len() > MAX_MANGLED {
        return None;
    }
    std::str::from_utf8(without_version(symbol).0).ok()
}

/// The name in front of a symbol's version, and the `@plt` after it, which may be empty.
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

fn rust(name: &str, how: Demangle) -> Option<Vec<u8>> {
    let parsed = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded { text: String::new(), most: most_rust(name.as_bytes()) };
    write!(out, "{parsed:#}").ok()?;
    Some(shortened(out.text, how).into_bytes())
}

/// The name as it is wanted: without template arguments where it is to be short.
fn shortened(name: String, how: Demangle) -> String {
    if how == Demangle::Short { without_arguments(&name).unwrap_or(name) } else { name }
}

/// The name without template and generic arguments: `a::b<c>::d` becomes `a::b::d`, `a::b::<c>` becomes `a::b`. What
/// names a type (`<a as b>::c`) or an operator stays. `None` where the brackets do not match.
fn without_arguments(name: &str) -> Option<String> {
    const OPERATOR: &str = "operator";
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        if out.ends_with(OPERATOR) {
            let symbols = ["<=>", "<<=", "<<", "<=", "<", "->*", "->", ">>=", ">>", ">=", ">"];
            if let Some(symbol) = symbols.iter().find(|symbol| rest.starts_with(**symbol)) {
                out.push_str(symbol);
                rest = rest.get(symbol.len()..)?;
                // Behind an operator's name, a space parts it from its arguments.
                rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('<')).unwrap_or(rest);
                if rest.starts_with('<') {
                    rest = rest.get(end_of_arguments(rest)?..)?;
                }
                continue;
            }
        }
        let begins_arguments = char == '<'
            && out.ends_with(|last: char| {
                last.is_alphanumeric() || matches!(last, '_' | ':' | ']' | ')' | '}')
            });
        if begins_arguments {
            rest = rest.get(end_of_arguments(rest)?..)?;
            if out.ends_with("::") {
                out.truncate(out.len() - 2);
            }
            continue;
        }
        out.push(char);
        rest = rest.get(char.len_utf8()..)?;
    }
    Some(out)
}

/// Where the arguments end that a text begins with: behind the bracket that closes the first one.
fn end_of_arguments(text: &str) -> Option<usize> {
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, char) in text.char_indices() {
        match char {
            '<' => depth += 1,
            '>' if last != '-' && last != '=' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        last = char;
    }
    None
}

/// A name of C++, with the spellings of binutils, GDB and perf for what has none in C++.
fn cpp(name: &[u8], how: Demangle) -> Option<Vec<u8>> {
    thread_local! {
        static DEMANGLER: RefCell<Demangler> = RefCell::default();
    }
    if let Some((what, name)) = keyed_to(name) {
        return Some([what, &cpp(name, Demangle::Full)?].concat());
    }
    let parts = if how == Demangle::Short { Parts::Name } else { Parts::All };
    let options = Options { spelling: Spelling::Gnu, parts };
    DEMANGLER.with_borrow_mut(|demangler| demangler.demangle(name, options).map(<[u8]>::to_vec))
}

/// What older compilers named the functions by that run before and after the program: the first name of the file.
///
/// Source: GCC's `get_file_function_name`: `_GLOBAL__I_` and `_GLOBAL__D_`, with `.` or `$` where labels may have them.
fn keyed_to(name: &[u8]) -> Option<(&'static [u8], &[u8])> {
    let rest = name.strip_prefix(b"_GLOBAL_")?;
    let rest = rest.strip_prefix(b"_").or(rest.strip_prefix(b".")).or(rest.strip_prefix(b"$"))?;
    let constructors = || Some((&b"global constructors keyed to "[..], rest.strip_prefix(b"I_")?));
    let destructors = || Some((&b"global destructors keyed to "[..], rest.strip_prefix(b"D_")?));
    constructors().or_else(destructors).filter(|(_, name)| name.starts_with(b"_Z"))
}

/// Bytes that a name of Rust may be demangled to. The demangler follows back references, each time it comes to one, and
/// paths with empty names print nothing: so a name with such paths has the less output the more of them it has.
///
/// Source: the Rust symbol mangling (v0), "Path" (`N` and a namespace), "Undisambiguated identifier" (length 0).
fn most_rust(name: &[u8]) -> usize {
    let pairs = || name.windows(2).filter_map(|pair| pair.first_chunk::<2>());
    let nested = pairs().filter(|[tag, space]| *tag == b'N' && space.is_ascii_lowercase()).count();
    let empty =
        pairs().filter(|[before, length]| *length == b'0' && !matches!(before, b'1'..=b'9'));
    let silent = nested.min(empty.count());
    let most = LEAST_DEMANGLED + DEMANGLED_PER_BYTE * name.len();
    MAX_DEMANGLED.min(most).min(most * SILENT_PATHS / (1 + silent))
}

/// Collects text and fails where it gets out of proportion.
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

    fn check(symbol: &str, full: &str, short: &str) {
        assert_eq!(String::from_utf8_lossy(&demangle(symbol.as_bytes(), Demangle::Full)), full);
        assert_eq!(String::from_utf8_lossy(&demangle(symbol.as_bytes(), Demangle::Short)), short);
        assert_eq!(demangle(symbol.as_bytes(), Demangle::None), symbol.as_bytes());
    }

    #[test]
    fn rust_before_cpp() {
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
            "f(int)::{lambda(std::complex const&)#2}::operator()",
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
    fn short_names_have_no_arguments() {
        for (full, short) in [
            ("a::b<c<d>, e>::f", "a::b::f"),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("<a::B<C> as d::E<F>>::g::<H>", "<a::B as d::E>::g"),
            ("A::operator<", "A::operator<"),
            ("operator<< <std::char_traits<char> >", "operator<<"),
            ("A<b>::operator-><c>", "A::operator->"),
            ("f<&(A::operator->)>::g", "f::g"),
            ("a<b", "a<b"),
            ("{closure#0}::<a>", "{closure#0}"),
            ("<impl a for b<c>>::d", "<impl a for b>::d"),
        ] {
            assert_eq!(shortened(full.to_owned(), Demangle::Short), short);
            assert_eq!(shortened(full.to_owned(), Demangle::Full), full);
        }
    }

    #[test]
    fn what_is_not_mangled_stays() {
        for name in ["main", "_start", "__libc_start_main", "_Zebra", "_R", "_ZN", "foo.cold", ""] {
            check(name, name, name);
        }
        assert_eq!(&*demangle(b"_Z3f\xff\xfev", Demangle::Full), b"_Z3f\xff\xfev");
    }

    #[test]
    fn names_cost_in_proportion_to_their_length() {
        // Each type has the one before it twice: 17 of them are 131,072.
        let mut name = "_Z1f1AIiiE".to_owned();
        for index in 0..17 {
            let last = char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[2 * index]);
            name += &format!("1BIS{last}_S{last}_E");
            let text = demangle(name.as_bytes(), Demangle::Full);
            let most = 4096 + 64 * name.len();
            assert!(text.len() <= most && (index < 10 || text == name.as_bytes()), "{index}");
        }
        assert_eq!((most_rust(b"_RNvC1a1f"), most_rust(&[b'a'; 2000])), (4672, 1 << 16));
        // Paths whose names are empty, in a tuple of references to them.
        let silent = format!("{}C1a{}", "Nt".repeat(400), "0".repeat(400));
        assert_eq!(most_rust(silent.as_bytes()), (4096 + 64 * 1203) * 16 / 401);
    }

    #[test]
    fn names_that_are_nested_too_deep_stay() {
        let nested = format!("_Z1f{}i", "P".repeat(60_000));
        check(&nested, &nested, &nested);
        let templates = format!("_Z1f{}i{}", "1AI".repeat(20_000), "E".repeat(20_000));
        assert_eq!(&*demangle(templates.as_bytes(), Demangle::Full), templates.as_bytes());
    }
}
