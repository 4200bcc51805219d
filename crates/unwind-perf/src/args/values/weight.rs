//! The weight of a sample: one of the known weights, or the value of a field.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use options::{Choice as _, Weight};

/// Weight of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SampleWeight {
    Known(Weight),
    /// A field of numbers, by a pattern.
    Field(String),
}

/// Accepts the words of [`Weight`], and patterns of fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightParser;

impl TypedValueParser for WeightParser {
    type Value = SampleWeight;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<SampleWeight, Error> {
        let invalid = || Error::new(clap::error::ErrorKind::InvalidUtf8).with_cmd(command);
        let text = value.to_str().ok_or_else(invalid)?;
        let known = Weight::ALL.iter().find(|weight| weight.as_str() == text);
        Ok(known.map_or_else(
            || SampleWeight::Field(text.to_owned()),
            |weight| SampleWeight::Known(*weight),
        ))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = Weight::ALL.iter().map(|it| PossibleValue::new(it.as_str()).help(it.about()));
        let field =
            PossibleValue::new("EVENT/FIELD").help("The value of a field of tracepoints or probes");
        Some(Box::new(known.chain([field])))
    }
}
