//! Names of OCaml: `camlStdlib__List__map_236` becomes `Stdlib.List.map_236`.
//! The number distinguishes functions of the same name (`fun_12` and `fun_14` are two functions without a name), so it
//! stays.
//! Short names omit it, except for functions without a name.
//!
//! Source: OCaml's `Compilenv.make_symbol` and `Emitaux.emit_symbol`: modules are separated by `__`, in 5.1 by a dot; a
//! byte that assemblers do not accept is `$` and two hexadecimal digits.

/// Functions that the compiler generates, once for each module.
const MADE: [&str; 3] = ["entry", "code_begin", "code_end"];

/// Returns the readable form of a name; `None` if it is not an OCaml name.
pub(crate) fn readable(name: &str, short: bool) -> Option<String> {
    let path = name.strip_prefix("caml")?;
    let text = unescaped(path)?;
    let text = text.replace("__", ".");
    let (modules, own) = text.rsplit_once('.')?;
    let is_module = |part: &str| part.starts_with(|first: char| first.is_ascii_uppercase());
    if !modules.split('.').next().is_some_and(is_module) || modules.split('.').any(str::is_empty) {
        return None;
    }
    // In newer compilers the number is followed by `_code`.
    let numbered = own.strip_suffix("_code").unwrap_or(own);
    let plain = without_numbers(numbered);
    let is_numbered = plain.len() < numbered.len();
    if !is_numbered && !MADE.contains(&own) || plain.is_empty() {
        return None;
    }
    let own = if short && is_numbered && plain != "fun" { plain } else { numbered };
    Some(format!("{modules}.{own}"))
}

/// Removes the numbers at the end, each after an underscore.
fn without_numbers(name: &str) -> &str {
    let mut plain = name;
    while let Some((own, number)) = plain.rsplit_once('_') {
        if number.is_empty() || own.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit())
        {
            break;
        }
        plain = own;
    }
    plain
}

/// Decodes the escaped bytes of a name; `None` if it has invalid bytes.
fn unescaped(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'$' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let byte = u8::try_from(digit()? * 16 + digit()?).ok()?;
                bytes.push(Some(byte).filter(|byte| !byte.is_ascii_control())?);
            }
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.' => bytes.push(byte),
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn functions_of_modules() {
        for (name, full, short) in [
            ("camlStdlib__List__map_236", "Stdlib.List.map_236", "Stdlib.List.map"),
            ("camlStdlib__List__map2_287", "Stdlib.List.map2_287", "Stdlib.List.map2"),
            ("camlFoo_bar__loop_84", "Foo_bar.loop_84", "Foo_bar.loop"),
            ("camlFoo_bar__fun_186", "Foo_bar.fun_186", "Foo_bar.fun_186"),
            ("camlFoo_bar__$3e$3e$3d_94", "Foo_bar.>>=_94", "Foo_bar.>>="),
            ("camlFoo_bar__add$27_81", "Foo_bar.add'_81", "Foo_bar.add'"),
            ("camlStdlib__entry", "Stdlib.entry", "Stdlib.entry"),
            ("camlDune__exe__Main.go_12", "Dune.exe.Main.go_12", "Dune.exe.Main.go"),
            ("camlMain__go_1_12_code", "Main.go_1_12", "Main.go"),
        ] {
            assert_eq!(readable(name, false).as_deref(), Some(full), "{name}");
            assert_eq!(readable(name, true).as_deref(), Some(short), "{name}");
        }
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "camlFoo",
            "camlFoo__bar",
            "camlFoo__12",
            "camlFoo___12",
            "caml_alloc_12",
            "camlFoo_bar_12",
            "caml__f_1",
            "camlFoo__a$0a_1",
            "camlFoo__a$_1",
            "camlFoo__a$zz_1",
            "camlFoo__a-b_1",
            "camlFoo__f_1_",
            "camlFoo____f_1",
            "camlFoo__f_code",
            "camlFoo__a$ff_1",
        ] {
            assert_eq!(readable(name, false), None, "{name}");
        }
    }
}
