//! `--format`.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, Command};
use formats::Format;

/// Reads the name of a format.
#[derive(Clone, Debug)]
pub(crate) struct FormatParser;

impl TypedValueParser for FormatParser {
    type Value = Format;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Format, Error> {
        value.to_str().and_then(Format::from_name).ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            let message = format!(
                "invalid value '{}' for '--format <FORMAT>': known formats are {}\n",
                value.to_string_lossy(),
                names.join(", ")
            );
            Error::raw(ErrorKind::InvalidValue, message).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |format: &Format| PossibleValue::new(format.name()).help(format.about());
        Some(Box::new(Format::ALL.iter().map(value)))
    }
}
