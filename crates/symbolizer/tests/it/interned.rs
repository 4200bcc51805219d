//! Answers together with their strings.

use std::ops::Deref;

use profile::{StringId, Strings};
use symbolizer::{SymbolRequest, SymbolizeOptions, Symbols};

/// The answers to requests.
#[derive(Debug)]
pub(crate) struct Interned {
    symbols: Symbols,
    strings: Strings,
}

impl Interned {
    /// Returns a string as text; `None` if there is none.
    pub(crate) fn text(&self, id: Option<StringId>) -> Option<String> {
        id.map(|id| String::from_utf8_lossy(self.strings.get(id)).into_owned())
    }
}

impl Deref for Interned {
    type Target = Symbols;

    fn deref(&self) -> &Symbols {
        &self.symbols
    }
}

impl PartialEq for Interned {
    fn eq(&self, other: &Self) -> bool {
        self.symbols == other.symbols && self.strings.iter().eq(other.strings.iter())
    }
}

/// Looks up all requests.
pub(crate) fn symbolize(
    requests: &[SymbolRequest<'_>],
    options: &SymbolizeOptions<'_>,
) -> Interned {
    let mut strings = Strings::default();
    let symbols = symbolizer::symbolize(requests, options, &mut strings);
    Interned { symbols, strings }
}
