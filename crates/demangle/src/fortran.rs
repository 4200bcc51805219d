//! Names of procedures in Fortran modules: `__phys_MOD_fib` (gfortran) and `_QMphysPfib` (flang) become `phys::fib`, as
//! in gdb.
//! Procedures outside modules have names like those of C (`free_sub_`), which stay.
//!
//! Source: the manual of gfortran ("Naming conventions"); flang's `docs/BijectiveInternalNameUniquing.md`.

use crate::clones::clone_of;

/// Returns the readable form of a name; `None` if it is not in a module.
pub(crate) fn readable(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("_Q") {
        return flang(rest);
    }
    let (modules, procedure) = name.strip_prefix("__")?.split_once("_MOD_")?;
    let (procedure, copy) = split_copy(procedure);
    // A submodule follows its module.
    let mut names = modules.split('.');
    if !names.all(is_name) || !is_word(procedure) {
        return None;
    }
    Some(format!("{}::{procedure}{}", modules.replace('.', ":"), clone_of(copy)))
}

/// Parses a name in flang's form: names in lower case, each after a letter for its kind.
fn flang(mangled: &str) -> Option<String> {
    let (mangled, copy) = split_copy(mangled);
    let mut readable = String::new();
    let mut rest = mangled;
    let mut has_module = false;
    while let Some(kind) = rest.chars().next() {
        let after = rest.get(1..)?;
        let end = after.find(|char: char| char.is_ascii_uppercase()).unwrap_or(after.len());
        let (name, next) = after.split_at_checked(end)?;
        let is_first = readable.is_empty();
        let separator = match kind {
            'M' if is_first => "",
            'S' if has_module => ":",
            'F' | 'P' => "::",
            _ => return None,
        };
        has_module |= kind == 'M';
        if !is_name(name) || kind == 'P' && !next.is_empty() {
            return None;
        }
        readable.push_str(if is_first { "" } else { separator });
        readable.push_str(name);
        rest = next;
        if kind == 'P' {
            return has_module.then(|| readable + &clone_of(copy));
        }
    }
    None
}

/// Splits off the compiler's suffix.
fn split_copy(name: &str) -> (&str, &str) {
    name.find('.').and_then(|at| name.split_at_checked(at)).unwrap_or((name, ""))
}

/// Returns true for a name in the compilers' form, which is lower case.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn procedures_of_modules() {
        for (name, expected) in [
            ("__phys_MOD_fib", "phys::fib"),
            ("__phys_MOD___copy_phys_T", "phys::__copy_phys_T"),
            ("__phys.impl_MOD_priv", "phys:impl::priv"),
            ("__a_b_MOD_c_d.constprop.0", "a_b::c_d [clone .constprop.0]"),
            ("_QMphysPfib", "phys::fib"),
            ("_QMphysFfibPinner", "phys::fib::inner"),
            ("_QMphysSimplPpriv.cold", "phys:impl::priv [clone .cold]"),
        ] {
            assert_eq!(readable(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "__phys_MOD_",
            "___MOD_a",
            "__Phys_MOD_a",
            "__a_mod_b",
            "__a..b_MOD_c",
            "__a_MOD_b c",
            "_QPfree",
            "_QQmain",
            "_QMphys",
            "_QMPfib",
            "_QMphysPfibPx",
            "_QMphysEvar",
            "_Q",
            "__cxa_finalize",
            "_QMa\u{e9}Pb",
        ] {
            assert_eq!(readable(name), None, "{name}");
        }
    }
}
