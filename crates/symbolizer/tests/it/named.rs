//! Answers together with their strings.

use std::ops::Deref;

use profile::{StringId, Strings};
use symbolizer::{Options, Request, Symbols};

/// The answers to requests.
#[derive(Debug)]
pub(crate) struct Named {
    symbols: Symbols,
    strings: Strings,
}

impl Named {
    /// Returns a string as text; `None` if there is none.
    pub(crate) fn text(&self, id: Option<StringId>) -> Option<String> {
        id.map(|id| String::from_utf8_lossy(self.strings.get(id)).into_owned())
    }
}

impl Deref for Named {
    type Target = Symbols;

    fn deref(&self) -> &Symbols {
        &self.symbols
    }
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.symbols == other.symbols && self.strings.iter().eq(other.strings.iter())
    }
}

/// Looks up all requests.
pub(crate) fn symbolize(requests: &[Request<'_>], options: &Options<'_>) -> Named {
    let mut strings = Strings::default();
    let symbols = symbolizer::symbolize(requests, options, &mut strings);
    Named { symbols, strings }
}
