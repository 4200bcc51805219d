//! Ada names as encoded by GNAT: `ada__text_io__put__2` becomes `ada.text_io.put`, as in gdb. Names of
//! compiler-generated entities without an Ada syntax (`pkg__tIP`) stay mangled.
//!
//! Source: the comments of GNAT's `exp_dbug.ads`.

use crate::clones::clone_of;

const OPERATORS: [(&str, &str); 19] = [
    ("Oabs", "abs"),
    ("Oadd", "+"),
    ("Oand", "and"),
    ("Oconcat", "&"),
    ("Odivide", "/"),
    ("Oeq", "="),
    ("Oexpon", "**"),
    ("Oge", ">="),
    ("Ogt", ">"),
    ("Ole", "<="),
    ("Olt", "<"),
    ("Omod", "mod"),
    ("Omultiply", "*"),
    ("One", "/="),
    ("Onot", "not"),
    ("Oor", "or"),
    ("Orem", "rem"),
    ("Osubtract", "-"),
    ("Oxor", "xor"),
];

/// Suffixes with three underscores.
const ATTRIBUTES: [(&str, &str); 5] = [
    ("___elabb", "'Elab_Body"),
    ("___elabs", "'Elab_Spec"),
    ("___size", "'Size"),
    ("___alignment", "'Alignment"),
    ("___assign", ".\":=\""),
];

/// Suffixes of the last part: operations of types, bodies of tasks, the two forms of protected operations.
const ENDINGS: [(&str, &str); 10] = [
    ("SR", "'Read"),
    ("SW", "'Write"),
    ("SI", "'Input"),
    ("SO", "'Output"),
    ("DA", ".Adjust"),
    ("DF", ".Finalize"),
    ("TKB", ""),
    ("TB", ""),
    ("N", ""),
    ("P", ""),
];

/// Returns the readable form of a name; `None` if it is not an Ada name.
pub(crate) fn readable(name: &str) -> Option<String> {
    let library_level = name.strip_prefix("_ada_");
    let (name, copy) = split_copy(library_level.unwrap_or(name));
    let name = without_nesting(without_number(name));
    let attribute =
        ATTRIBUTES.iter().find_map(|(code, text)| Some((name.strip_suffix(code)?, *text)));
    let (path, attribute) = attribute.unwrap_or((name, ""));
    if library_level.is_none() && attribute.is_empty() && !path.contains("__") {
        return None;
    }
    let mut out = String::with_capacity(name.len() + 16);
    let mut parts = path.split("__").peekable();
    while let Some(part) = parts.next() {
        if !out.is_empty() {
            out.push('.');
        }
        let is_last = parts.peek().is_none();
        if let Some((_, operator)) =
            OPERATORS.iter().find(|(code, _)| *code == without_nesting(part))
        {
            if out.is_empty() || !is_last {
                return None;
            }
            out.push('"');
            out.push_str(operator);
            out.push('"');
            continue;
        }
        let ending = ENDINGS.iter().filter(|_| is_last).find_map(|(code, text)| {
            Some((part.strip_suffix(code).filter(|name| is_name(name))?, *text))
        });
        let (own, ending) = ending.unwrap_or((without_nesting(part), ""));
        if !is_name(own) {
            return None;
        }
        out.push_str(own);
        out.push_str(ending);
    }
    out.push_str(attribute);
    Some(out + &clone_of(copy))
}

/// Splits off the compiler's suffix; drops the number of a nested function in front of it.
fn split_copy(name: &str) -> (&str, &str) {
    let (own, copy) = name.find('.').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""));
    let digits = copy.get(1..).unwrap_or_default();
    let number = digits.bytes().take_while(u8::is_ascii_digit).count();
    match copy.get(1 + number..) {
        Some(rest) if number > 0 && (rest.is_empty() || rest.starts_with('.')) => (own, rest),
        _ => (own, copy),
    }
}

/// Removes the number of an overloaded function (`__2`, in bodies `__2Xn`).
fn without_number(name: &str) -> &str {
    let plain = without_nesting(name);
    let rest = plain.trim_end_matches(|char: char| char.is_ascii_digit());
    match rest.strip_suffix("__") {
        Some(own) if rest.len() < plain.len() && !own.is_empty() => own,
        _ => name,
    }
}

/// Removes the marks for nesting in packages: `X`, then `n` and `b`.
fn without_nesting(name: &str) -> &str {
    let rest = name.trim_end_matches(['n', 'b']);
    rest.strip_suffix('X').unwrap_or(name)
}

/// Returns true for an identifier in GNAT's form: lower case, not ending with an underscore.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with('_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_packages() {
        for (name, expected) in [
            ("ada__text_io__put", "ada.text_io.put"),
            ("ada__text_io__put__2", "ada.text_io.put"),
            ("_ada_main", "main"),
            ("_ada_ada__exceptions__is_null_occurrence", "ada.exceptions.is_null_occurrence"),
            ("pkg__meth__nested.0", "pkg.meth.nested"),
            ("pkg__meth.constprop.0", "pkg.meth [clone .constprop.0]"),
            ("pkg__meth.3.cold", "pkg.meth [clone .cold]"),
            ("pkg__Oadd", "pkg.\"+\""),
            (
                "ada__numerics__real_arrays__instantiations__Oabs__2Xnn",
                "ada.numerics.real_arrays.instantiations.\"abs\"",
            ),
            ("pkg___elabb", "pkg'Elab_Body"),
            ("a__t___assign__2", "a.t.\":=\""),
            ("a__tSR__2", "a.t'Read"),
            ("pkg__tDF", "pkg.t.Finalize"),
            ("pkg__workerTB", "pkg.worker"),
            ("pkg__prot__incN", "pkg.prot.inc"),
            (
                "gnat__awk__pattern_action_table__set_itemXn",
                "gnat.awk.pattern_action_table.set_item",
            ),
            ("gnat__awk__split___sizeXn", "gnat.awk.split'Size"),
            ("gnat__awk__split__modeDAXn", "gnat.awk.split.mode.Adjust"),
            ("a__bXb__c", "a.b.c"),
        ] {
            assert_eq!(readable(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "main",
            "pkg_meth",
            "__gnat_malloc",
            "pkg__tIP",
            "pkg__T12b___finalizer",
            "a__B_3__x",
            "Foo__bar",
            "a____b",
            "__a__b",
            "a__b_",
            "_ada_",
            "a__",
            "a__b c",
            "Oadd__b",
            "a__Oadd__b",
            "a__b_E",
            "1__a",
            "",
        ] {
            assert_eq!(readable(name), None, "{name}");
        }
    }
}
