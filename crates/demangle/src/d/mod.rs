//! Names of D: `_D3foo3barFiZv` is `foo.bar(int)`. The output equals that of the GNU tools (gdb, `c++filt`).
//!
//! Names are untrusted: back references can double a name at each step, so nesting, steps and output are limited.
//!
//! Source: the D specification, "Application Binary Interface", "Name Mangling".

mod parser;
mod symbols;
#[cfg(test)]
mod tests;
mod types;
mod values;

use parser::Parser;

/// Returns the readable form of a D symbol; `None` if it is not one or cannot be parsed. `short` omits parameters and
/// template arguments.
pub(crate) fn readable(name: &str, short: bool) -> Option<String> {
    if name == "_Dmain" {
        return Some("D main".to_owned());
    }
    let (name, what) = match thunk(name) {
        Some(target) => (target, "thunk to "),
        None => (name, ""),
    };
    let rest =
        name.strip_prefix("_D").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))?;
    // Suffixes for copies begin with a dot, which no mangled name contains.
    let (mangled, copy) =
        rest.find('.').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let mut parser = Parser::new(mangled.as_bytes(), short);
    let mut out = what.to_owned();
    parser.symbol(&mut out)?;
    parser.is_done().then_some(())?;
    if !copy.is_empty() {
        parser.put(&mut out, &format!(" [clone {copy}]"))?;
    }
    Some(out)
}

/// Returns the target of a thunk, which adjusts the object pointer from an interface to the object's start.
///
/// Source: gdc's names of thunks: `_DT`, `i` or `n` for the sign, the distance, the symbol.
fn thunk(name: &str) -> Option<&str> {
    let distance = name.strip_prefix("_DT")?.strip_prefix(['i', 'n'])?;
    let target = distance.trim_start_matches(|char: char| char.is_ascii_digit());
    (target.len() < distance.len()).then_some(target)
}
