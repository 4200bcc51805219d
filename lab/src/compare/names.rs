//! Comparable names of functions: tools print a function with or without parameters, return type, hash, version and
//! clone suffix, and with different spaces. The comparable form is the qualified name without template arguments.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use xtask::command;

use crate::strings::{StringId, StringTable};

/// Returns the comparable form of every string, by index, and adds the forms to the strings. Mangled names go through
/// `c++filt`.
pub(super) fn comparable(words: &mut StringTable) -> Result<Vec<StringId>> {
    let mut names: Vec<String> = words.texts().iter().map(|text| text.to_string()).collect();
    let mangled = |name: &str| name.starts_with("_Z") || name.starts_with("_R");
    let list: Vec<&str> = names.iter().map(String::as_str).filter(|name| mangled(name)).collect();
    let plain = if list.is_empty() { String::new() } else { filter(&list.join("\n"))? };
    let mut plain = plain.lines();
    for name in names.iter_mut().filter(|name| mangled(name)) {
        if let Some(text) = plain.next() {
            text.clone_into(name);
        }
    }
    Ok(names.iter().map(|name| words.intern(&normal(name))).collect())
}

fn filter(text: &str) -> Result<String> {
    let mut command = Command::new("c++filt");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command::announce(&command);
    let mut child = command.spawn().context("c++filt (package binutils)")?;
    let mut input = child.stdin.take().context("c++filt's input")?;
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(text.as_bytes()));
        child.wait_with_output()
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns true if two comparable forms are of one function: some tools omit the namespace.
pub(super) fn same(one: &str, other: &str) -> bool {
    if libc_alias(one) == libc_alias(other) {
        return true;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_suffix(short).is_some_and(|front| front.is_empty() || front.ends_with("::"))
}

/// Strips alias prefixes of the C library. It has several names for one address, and tools choose differently. Known
/// difference: not a finding.
fn libc_alias(name: &str) -> &str {
    let name = name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_');
    let name = ["IO_new_", "IO_", "libc_"]
        .iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name);
    let name = ["_impl", "64", "f32"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    if name == "cfree" { "free" } else { name }
}

/// Decodes the escapes of Rust's legacy mangling, which a C++ demangler does not change.
fn unescaped(name: &str) -> String {
    let marks = [
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$u7b$", "{"),
        ("$u7d$", "}"),
        ("$u20$", " "),
        ("$RF$", "&"),
        ("..", "::"),
    ];
    let mut name = name.replace("::_$", "::$");
    if name.contains('$') {
        for (mark, text) in marks {
            name = name.replace(mark, text);
        }
    }
    name
}

/// Returns the comparable form of a demangled name.
fn normal(name: &str) -> String {
    let name = unescaped(without_suffixes(name));
    let name = name.replace("operator<<", "operator_shl").replace("operator<=", "operator_le");
    let name = name.replace("operator<", "operator_lt").replace("operator>>", "operator_shr");
    let name = name
        .replace("operator->", "operator_arrow")
        .replace("operator>", "operator_gt")
        .replace("->", "");
    let name =
        name.replace("operator()", "operator_call").replace("(anonymous namespace)", "_anonymous_");
    let name =
        name.replace("operator new", "operator_new").replace("operator delete", "operator_delete");
    let mut name: &str = &name;
    while let Some(front) =
        [" const", " volatile", " &&", " &"].iter().find_map(|end| name.strip_suffix(end))
    {
        name = front;
    }
    // `c++filt` prints a Rust crate's disambiguator: std[e28293b1aa0f68bd].
    let mut without = String::new();
    while let Some((front, after)) = name.split_once('[') {
        without.push_str(front);
        let inner = after.split(']').next().unwrap_or_default();
        if inner.len() >= 8 && inner.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            name = after.get(inner.len() + 1..).unwrap_or_default();
        } else {
            without.push('[');
            name = after;
        }
    }
    without.push_str(name);
    let name = without;
    let mut out = String::with_capacity(name.len());
    let mut depth = 0_usize;
    for c in name.chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => out.clear(), // drops the return type
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    if out.is_empty() { name.split_whitespace().collect() } else { out }
}

fn without_suffixes(mut name: &str) -> &str {
    if let Some((front, _)) = name.split_once(" [clone") {
        name = front;
    }
    if !name.ends_with("@plt") {
        name = name.split('@').next().unwrap_or(name);
    }
    while let Some((front, last)) = name.rsplit_once('.') {
        let counted = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let clone =
            ["isra", "part", "constprop", "cold", "lto_priv", "llvm", "localalias"].contains(&last);
        if front.is_empty() || !(counted || clone) {
            break;
        }
        name = front;
    }
    match name.rsplit_once("::h") {
        Some((front, hash))
            if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            front
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn spellings_of_one_function_become_one() {
        let same = [
            ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
            ("f.isra.0.cold", "f"),
            ("f(int, char const*) const", "f"),
            ("void a::f<int, b<c> >(int)", "a::f"),
            ("a::f<int, b<c>>", "a::f"),
            ("std::vector<int>::operator[](unsigned long)", "std::vector::operator[]"),
            ("(anonymous namespace)::sum<float>(int)", "_anonymous_::sum"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("operator new(unsigned long)", "operator_new"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "::drop"),
            (
                "std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
                "std::rt::lang_start::{{closure}}",
            ),
            ("std[e28293b1aa0f68bd]::rt::lang_start_internal", "std::rt::lang_start_internal"),
            ("f(int) [clone .part.0]", "f"),
            ("a::b()::{lambda(int)#1}::operator()(int) const", "a::b::{lambda#1}::operator_call"),
        ];
        for (name, form) in same {
            assert_eq!(normal(name), form, "{name}");
        }
    }

    #[test]
    fn a_namespace_may_be_left_out() {
        assert!(super::same("a::b::c", "c"));
        assert!(super::same("b::c", "a::b::c"));
        assert!(!super::same("c", "bc"));
    }

    #[test]
    fn names_of_one_address_in_the_c_library_are_the_same() {
        assert!(super::same("__libc_start_main", "__libc_start_main_impl"));
        assert!(super::same("cfree", "__GI___libc_free"));
        assert!(super::same("_IO_do_write", "_IO_new_do_write"));
        assert!(!super::same("malloc", "realloc"));
    }

    #[test]
    fn what_distinguishes_functions_stays() {
        assert_eq!(normal("memcpy@plt"), "memcpy@plt");
        assert_eq!(normal("a.b"), "a.b");
        assert_eq!(normal("operator<<"), "operator_shl");
        assert_eq!(normal("h::main"), "h::main");
    }
}
