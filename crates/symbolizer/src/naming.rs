//! Readable names, in the form that the options request.

use std::borrow::Cow;

use demangle::{Languages, Style, demangle_in};
use options::Demangle;

/// Returns the readable form of a symbol of a file with proven languages, or the symbol itself if names are to stay
/// mangled.
pub(crate) fn readable(symbol: &[u8], how: Demangle, languages: Languages) -> Cow<'_, [u8]> {
    match how {
        Demangle::Full => demangle_in(symbol, Style::Full, languages),
        Demangle::Short => demangle_in(symbol, Style::Short, languages),
        Demangle::Perf => demangle_in(symbol, Style::NoParameters, languages),
        Demangle::None => Cow::Borrowed(symbol),
    }
}
