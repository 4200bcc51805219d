//! Options before a command: `unwind-perf -q bundle …` is `unwind-perf bundle -q …`.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Returns the words with a command moved before options of the main job that precede it. The parser of the command
/// then accepts or refuses each of them. Other words stay as they are.
pub(crate) fn with_command_first(command: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    if let Some(at) = command_after_options(command, &words) {
        let name = words.remove(at);
        words.insert(1, name);
    }
    words
}

/// Returns the index of the command, if only options of the main job precede it.
fn command_after_options(command: &Command, words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    loop {
        let word = words.get(at)?.to_str()?;
        let option = word.strip_prefix('-').filter(|option| !option.is_empty());
        match option {
            None => return command.find_subcommand(word).map(|_| at),
            Some(option) => at += words_of_option(command, option)?,
        }
    }
}

/// Returns the number of words of an option, 1 or 2. `None` if it is not one of the main job.
fn words_of_option(command: &Command, option: &str) -> Option<usize> {
    let words = |arg: &Arg| {
        let takes_word = arg.get_action().takes_values() && !arg.is_require_equals_set();
        if takes_word { 2 } else { 1 }
    };
    if let Some(long) = option.strip_prefix('-') {
        let (name, has_value) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name))?;
        return Some(if has_value { 1 } else { words(arg) });
    }
    let mut letters = option.chars();
    while let Some(letter) = letters.next() {
        let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
        if words(arg) == 2 {
            // The rest of the word is the value.
            return Some(if letters.as_str().is_empty() { 2 } else { 1 });
        }
    }
    Some(1)
}

/// Returns true if the words name the command, also after options that [`with_command_first`] does not know.
pub(crate) fn names_command(words: &[OsString], name: &str) -> bool {
    let mut words = words.iter().skip(1);
    let mut first = words.next();
    while first.is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
        // The only option of all commands that may take its value from the next word.
        let has_value = first.is_some_and(|word| word == "--color");
        first = if has_value { words.nth(1) } else { words.next() };
    }
    first.is_some_and(|word| word == OsStr::new(name))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn commands_are_named_after_options() {
        let records = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            names_command(&words, "record")
        };
        for line in [
            "u record --bogus -- true",
            "u --bogus record -- true",
            "u --color never --bogus record -- true",
            "u --color=never record",
        ] {
            assert!(records(line), "{line}");
        }
        for line in ["u", "u --bogus", "u top record", "u --bogus top record", "u --color record"] {
            assert!(!records(line), "{line}");
        }
    }

    #[test]
    fn commands_move_before_options() {
        let moved = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = with_command_first(&Cli::command(), words);
            words.join(OsStr::new(" ")).into_string().expect("UTF-8")
        };
        for (line, expected) in [
            ("u -q bundle x -o y", "u bundle -q x -o y"),
            ("u -qv -j4 top x", "u top -qv -j4 x"),
            ("u -j 4 --max-memory=1G top x", "u top -j 4 --max-memory=1G x"),
            ("u --color always --timings report", "u report --color always --timings"),
            ("u --debuginfod top", "u top --debuginfod"),
            ("u -q record -- prog -v", "u record -q -- prog -v"),
        ] {
            assert_eq!(moved(line), expected);
        }
        for line in [
            "u",
            "u -q",
            "u x -q",
            "u top -q x",
            "u -o top x",
            "u -q - top",
            "u -q -- top",
            "u --help top",
            "u -V top",
            "u --by line top",
            "u -q toop",
        ] {
            assert_eq!(moved(line), line);
        }
    }
}
