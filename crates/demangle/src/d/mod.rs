//! Names of D: `_D3foo3barFiZv` is `foo.bar(int)`. What they are written like is what the GNU tools (gdb, `c++filt`) show.
//!
//! Names are hostile: back references can double a name at each step, so nesting, steps and output are bounded.
//!
//! Source: the D specification, "Application Binary Interface", "Name Mangling".

mod parser;
mod symbols;
#[cfg(test)]
mod tests;
mod types;
mod values;

use parser::Parser;

/// The readable form of a D symbol; `None` where it is none, or not to be read. `short` leaves parameters and template
/// arguments out.
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
    // What compilers add to the names of copies comes behind a dot, which no mangled name has.
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

/// The symbol that a thunk leads to, which moves the object from one of its interfaces to its start.
///
/// Source: the names that gdc gives to thunks: `_DT`, `i` or `n` for the sign, the distance, the symbol.
fn thunk(name: &str) -> Option<&str> {
    let distance = name.strip_prefix("_DT")?.strip_prefix(['i', 'n'])?;
    let target = distance.trim_start_matches(|char: char| char.is_ascii_digit());
    (target.len() < distance.len()).then_some(target)
}
