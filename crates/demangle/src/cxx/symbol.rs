//! C++ symbols, with the spellings of binutils, GDB and perf for entities without a C++ syntax.

use std::cell::RefCell;

use super::{DemangleOptions, Demangler, NameParts, Spelling};
use crate::style::Style;

/// Returns the readable form of a C++ name; `None` if it is not one, or exceeds a limit.
pub(crate) fn readable(name: &[u8], style: Style) -> Option<Vec<u8>> {
    thread_local! {
        static DEMANGLER: RefCell<Demangler> = RefCell::default();
    }
    if let Some((what, name)) = keyed_to(name) {
        return Some([what, &readable(name, Style::Full)?].concat());
    }
    let parts = match style {
        Style::Full => NameParts::All,
        Style::NoParameters => NameParts::Qualified,
        Style::Short => NameParts::Name,
    };
    let options = DemangleOptions { spelling: Spelling::Gnu, parts };
    DEMANGLER.with_borrow_mut(|demangler| demangler.demangle(name, options).map(<[u8]>::to_vec))
}

/// Parses the names that older compilers gave to functions that run before and after the program. They contain the
/// first name of the file.
///
/// Source: GCC's `get_file_function_name`: `_GLOBAL__I_` and `_GLOBAL__D_`, with `.` or `$` if labels may contain them.
fn keyed_to(name: &[u8]) -> Option<(&'static [u8], &[u8])> {
    let rest = name.strip_prefix(b"_GLOBAL_")?;
    let rest = rest.strip_prefix(b"_").or(rest.strip_prefix(b".")).or(rest.strip_prefix(b"$"))?;
    let constructors = || Some((&b"global constructors keyed to "[..], rest.strip_prefix(b"I_")?));
    let destructors = || Some((&b"global destructors keyed to "[..], rest.strip_prefix(b"D_")?));
    constructors().or_else(destructors).filter(|(_, name)| name.starts_with(b"_Z"))
}
