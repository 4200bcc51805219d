//! Errors about misspelt commands, which the parser takes for names of recordings.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{Error, ErrorKind};
use host::Origin;

use super::options::host;

/// Similarity from which a word may be meant for another, as clap has it for its own suggestions.
pub(crate) const LIKE_ENOUGH: f64 = 0.8;

/// Similarity of two words, from 0 to 1; a word with one typing error counts as equal.
pub(crate) fn likeness(name: &str, word: &str) -> f64 {
    if strsim::damerau_levenshtein(name, word) == 1 { 1.0 } else { strsim::jaro(name, word) }
}

/// Returns the error about the arguments, or a better one if the first of them resembles a command, or a recording
/// precedes a command.
pub(crate) fn with_suggestion(error: Error, command: &mut Command, words: &[OsString]) -> Error {
    let kinds = [
        ErrorKind::ArgumentConflict,
        ErrorKind::UnknownArgument,
        ErrorKind::InvalidSubcommand,
        ErrorKind::MissingRequiredArgument,
    ];
    if !kinds.contains(&error.kind()) {
        return error;
    }
    let plain: Vec<String> = words.iter().skip(1).map(|it| it.to_string_lossy().into()).collect();
    let Some(first) = plain.first().filter(|first| !first.starts_with('-')) else { return error };
    let named = |name: &str| command.get_subcommands().any(|it| it.get_name() == name);
    let later = plain.iter().skip(1).find(|word| named(word));
    // Error kind of clap for a second word without an option.
    let two_words = error.to_string().contains("the subcommand '");
    let message = match (suggestion(command, first), later) {
        (Some(name), _) => format!("'{first}' is not a command; did you mean '{name}'?"),
        (None, Some(name)) if !named(first) && two_words => {
            format!("the command stands before the recording: unwind-perf {name} {first}")
        }
        (None, None) if !named(first) && two_words => {
            let second = plain.iter().skip(1).find(|word| !word.starts_with('-'));
            let second = second.map_or("", String::as_str);
            format!(
                "unexpected '{second}': give one recording, or compare two with unwind-perf diff {first} {second}"
            )
        }
        _ => return error,
    };
    command.error(ErrorKind::InvalidSubcommand, message)
}

/// Returns the command with a similar name, if the word is not a file.
pub(crate) fn suggestion(command: &Command, word: &str) -> Option<String> {
    let names = command.get_subcommands().map(Command::get_name);
    let alike = names.map(|name| (likeness(name, word), name));
    let (alike, name) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_path = word.contains(['/', '.']) || host().stat(Path::new(word), Origin::User).is_ok();
    (alike >= LIKE_ENOUGH && name != word && !is_path).then(|| name.to_owned())
}
