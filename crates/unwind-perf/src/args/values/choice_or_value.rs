//! A closed choice, or the values of a field or a label.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use options::{Choice, ChoiceOrValue};

/// Accepts the keywords of a choice, and names of fields and labels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChoiceOrValueParser<C> {
    /// How a field is written, and what it means.
    field: (&'static str, &'static str),
    choice: PhantomData<C>,
}

impl<C> ChoiceOrValueParser<C> {
    pub(crate) const fn new(written: &'static str, about: &'static str) -> Self {
        Self { field: (written, about), choice: PhantomData }
    }
}

impl<C: Choice> TypedValueParser for ChoiceOrValueParser<C> {
    type Value = ChoiceOrValue<C>;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ChoiceOrValue<C>, Error> {
        let invalid = || Error::new(clap::error::ErrorKind::InvalidUtf8).with_cmd(command);
        value.to_str().map(ChoiceOrValue::read).ok_or_else(invalid)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = C::ALL.iter().map(|it| PossibleValue::new(it.as_str()).help(it.about()));
        let (written, about) = self.field;
        Some(Box::new(known.chain([PossibleValue::new(written).help(about)])))
    }
}
