//! Closed choices.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use options::Choice;

/// Reads a value of a closed choice, or of a part of one.
#[derive(Debug, Clone)]
pub(crate) struct ChoiceParser<T: Choice> {
    values: &'static [T],
    about: Option<&'static str>,
}

impl<T: Choice> ChoiceParser<T> {
    /// Accepts every value.
    pub(crate) const fn all() -> Self {
        Self::of(T::ALL)
    }

    /// Accepts some of the values.
    pub(crate) const fn of(values: &'static [T]) -> Self {
        Self { values, about: None }
    }

    /// The same with another sentence for users, for a parser of one value.
    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    fn possible(&self) -> impl Iterator<Item = PossibleValue> + use<'_, T> {
        let value = |value: &T| {
            PossibleValue::new(value.as_str()).help(self.about.unwrap_or(value.about()))
        };
        self.values.iter().map(value)
    }
}

impl<T: Choice> TypedValueParser for ChoiceParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let words = PossibleValuesParser::new(self.possible());
        let word = words.parse_ref(command, arg, value)?;
        let found = self.values.iter().find(|value| value.as_str() == word).copied();
        found.ok_or_else(|| Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.possible()))
    }
}
