//! Names of Haskell in GHC's z-encoding: `base_GHCziBase_map_info` becomes `base:GHC.Base.map`.
//!
//! Only the code of functions with a module is renamed (`_info`, `_con_info`, and `_slow`, which takes its arguments
//! from the stack). Parts of functions (`c3Jk_info`) have no name.
//!
//! Source: GHC's `GHC.Utils.Encoding` (z-encoding) and `GHC.Cmm.CLabel` (suffixes).

/// Returns the readable form of a name; `None` if it is not a Haskell function.
pub(crate) fn readable(name: &str) -> Option<String> {
    let (name, note) = match name.strip_suffix("_info") {
        Some(rest) => match rest.strip_suffix("_con") {
            Some(rest) => (rest, " [constructor]"),
            None => (rest, ""),
        },
        None => (name.strip_suffix("_slow")?, " [slow]"),
    };
    // The encoding contains no underscores.
    let mut parts = name.rsplit('_');
    let (own, module, package) = (decoded(parts.next()?)?, decoded(parts.next()?)?, parts.next());
    let is_module = |part: &str| part.starts_with(|first: char| first.is_ascii_uppercase());
    // The module that calls `main` is `:Main`.
    let is_path = module == ":Main" || module.split('.').all(is_module);
    if parts.next().is_some() || own.is_empty() || !is_path {
        return None;
    }
    Some(match package {
        Some(package) => {
            let package = decoded(package).filter(|package| !package.is_empty())?;
            format!("{package}:{module}.{own}{note}")
        }
        None => format!("{module}.{own}{note}"),
    })
}

/// Decodes a text; `None` if it is not valid z-encoding.
fn decoded(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        match char {
            'z' => match rest.next()? {
                first if first.is_ascii_digit() => out.push(numbered(first, &mut rest)?),
                code => out.push(lower(code)?),
            },
            'Z' => match rest.next()? {
                first if first.is_ascii_digit() => out.push_str(&tuple(first, &mut rest)?),
                code => out.push(upper(code)?),
            },
            char if char.is_ascii_alphanumeric() => out.push(char),
            _ => return None,
        }
    }
    Some(out)
}

const fn lower(code: char) -> Option<char> {
    Some(match code {
        'a' => '&',
        'b' => '|',
        'c' => '^',
        'd' => '$',
        'e' => '=',
        'g' => '>',
        'h' => '#',
        'i' => '.',
        'l' => '<',
        'm' => '-',
        'n' => '!',
        'p' => '+',
        'q' => '\'',
        'r' => '\\',
        's' => '/',
        't' => '*',
        'u' => '_',
        'v' => '%',
        'z' => 'z',
        _ => return None,
    })
}

const fn upper(code: char) -> Option<char> {
    Some(match code {
        'C' => ':',
        'L' => '(',
        'M' => '[',
        'N' => ']',
        'R' => ')',
        'Z' => 'Z',
        _ => return None,
    })
}

/// Decodes a character from its number in hexadecimal digits, up to `U`.
fn numbered(first: char, rest: &mut std::str::Chars<'_>) -> Option<char> {
    let mut code = first.to_digit(16)?;
    loop {
        match rest.next()? {
            'U' => return char::from_u32(code).filter(|char| !char.is_control()),
            digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
        }
    }
}

/// Decodes the name of a tuple from its number of values: `Z2T` is `(,)`, `Z2H` is `(#,#)`.
fn tuple(first: char, rest: &mut std::str::Chars<'_>) -> Option<String> {
    const MOST: usize = 64;
    let mut count = first.to_digit(10)? as usize;
    loop {
        match rest.next()? {
            kind @ ('T' | 'H') => {
                let commas = ",".repeat(count.saturating_sub(1));
                return Some(if kind == 'T' {
                    format!("({commas})")
                } else {
                    format!("(#{commas}#)")
                });
            }
            digit => count = count * 10 + digit.to_digit(10)? as usize,
        }
        if count > MOST {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn functions_of_modules() {
        for (name, expected) in [
            ("base_GHCziBase_map_info", "base:GHC.Base.map"),
            ("Main_work_info", "Main.work"),
            ("ZCMain_main_info", ":Main.main"),
            ("Main_zdwzlzpzg_info", "Main.$w<+>"),
            ("Main_zdfShIntzuzdcshzq_info", "Main.$fShInt_$csh'"),
            ("Main_Node_con_info", "Main.Node [constructor]"),
            ("Main_zdwzdsgo16_slow", "Main.$w$sgo16 [slow]"),
            (
                "containerszm0zi6zi4zi1_DataziMapziInternal_insertMax_info",
                "containers-0.6.4.1:Data.Map.Internal.insertMax",
            ),
            ("ghczmprim_GHCziTuple_Z2T_con_info", "ghc-prim:GHC.Tuple.(,) [constructor]"),
            ("base_GHCziBase_Z3H_info", "base:GHC.Base.(#,,#)"),
            ("base_GHCziBase_ZCzbz3bbUZZzz_info", "base:GHC.Base.:|\u{3bb}Zz"),
        ] {
            assert_eq!(readable(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "c3Jk_info",
            "stg_ap_p_info",
            "main_info",
            "a_b_c_d_info",
            "Main_a_closure",
            "base_GHCzi_map_info",
            "Main_azy_info",
            "Main_az_info",
            "Main_aZ99T_info",
            "Main_z0aU_info",
            "Main_zffffffffffU_info",
            "_info",
            "Main__info",
            "_Main_a_info",
            "Main_a.b_info",
            "Main_z9",
            "Main_aZ2_info",
        ] {
            assert_eq!(readable(name), None, "{name}");
        }
    }
}
