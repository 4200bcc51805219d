//! Advice, worded for its reader.

use std::borrow::Cow;

use options::{Remedy, ShortRemedy, Spelling};

use crate::encoding::encoding;

/// A remedy for people and for programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// Keyword for programs, such as `give-file`.
    pub code: Cow<'static, str>,
    /// Sentence without a full stop, with options in the reader's spelling.
    pub text: String,
    /// The same for one line on a terminal.
    pub short: ShortRemedy,
}

encoding! { Advice { code: Cow<'static, str>, text: String, short: ShortRemedy, } }

impl Advice {
    /// Returns the advice for a remedy, with options in the given spelling.
    #[must_use]
    pub fn new(remedy: &Remedy, spelling: Spelling) -> Self {
        let (text, short) = (remedy.sentence(spelling), remedy.short(spelling));
        Self { code: remedy.code().into(), text, short }
    }
}
