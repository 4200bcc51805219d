//! Arguments of a task: options are removed by name; the rest must be names, and each must be used.

use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// The arguments after the task's name.
#[derive(Debug)]
pub struct Args(Vec<String>);

impl Args {
    /// Takes the arguments in order.
    pub const fn new(arguments: Vec<String>) -> Self {
        Self(arguments)
    }

    /// Removes `NAME VALUE` or `NAME=VALUE` and returns the value.
    ///
    /// # Errors
    /// If the value is missing.
    pub fn value(&mut self, name: &str) -> Result<Option<String>> {
        let prefix = format!("{name}=");
        let Some(at) = self.0.iter().position(|word| word == name || word.starts_with(&prefix))
        else {
            return Ok(None);
        };
        let word = self.0.remove(at);
        if let Some(value) = word.strip_prefix(&prefix) {
            return Ok(Some(value.to_owned()));
        }
        if at == self.0.len() {
            bail!("{name} needs a value");
        }
        Ok(Some(self.0.remove(at)))
    }

    /// Removes an option without a value; returns true if it was present.
    pub fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Removes an option with a number as its value; returns the number, or the default.
    ///
    /// # Errors
    /// If the value is missing or not a number.
    pub fn number<T>(&mut self, name: &str, default: T) -> Result<T>
    where
        T: FromStr,
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        match self.value(name)? {
            Some(text) => text.parse().with_context(|| format!("{name} {text}")),
            None => Ok(default),
        }
    }

    /// Removes the first argument if it is one of these words.
    pub fn first(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let word = words.iter().find(|&&word| self.0.first().is_some_and(|first| first == word))?;
        self.0.remove(0);
        Some(word)
    }

    /// Returns the remaining names.
    ///
    /// # Errors
    /// If an option remains.
    pub fn names(self) -> Result<Vec<String>> {
        if let Some(unknown) = self.0.iter().find(|word| word.starts_with('-')) {
            bail!("unknown option {unknown}");
        }
        Ok(self.0)
    }

    /// Checks that nothing remains, for tasks without names.
    ///
    /// # Errors
    /// If an argument remains.
    pub fn finish(self) -> Result<()> {
        match self.names()?.first() {
            Some(name) => bail!("unexpected argument {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Args;

    fn args(words: &str) -> Args {
        Args::new(words.split(' ').map(str::to_owned).collect())
    }

    #[test]
    fn options_are_taken_out_and_names_stay() {
        let mut given = args("a --runs 3 b --peer=perf");
        assert_eq!(given.number("--runs", 5_u32).unwrap(), 3);
        assert_eq!(given.number("--slow-runs", 2_u32).unwrap(), 2);
        assert_eq!(given.value("--peer").unwrap().as_deref(), Some("perf"));
        assert_eq!(given.names().unwrap(), ["a", "b"]);
    }

    #[test]
    fn the_first_word_chooses() {
        let mut given = args("gdb a gdb");
        assert_eq!(given.first(&["steps", "gdb"]), Some("gdb"));
        assert_eq!(given.first(&["steps", "gdb"]), None);
        assert_eq!(given.names().unwrap(), ["a", "gdb"]);
    }

    #[test]
    fn unknown_options_and_missing_values_are_refused() {
        assert_eq!(args("a --no").names().unwrap_err().to_string(), "unknown option --no");
        assert_eq!(args("--runs").value("--runs").unwrap_err().to_string(), "--runs needs a value");
        assert_eq!(args("a").finish().unwrap_err().to_string(), "unexpected argument a");
    }
}
