//! The filter of a question: which samples and functions are wanted.

/// Which samples and functions are wanted. An empty list or pattern lets all pass.
#[derive(Debug, Default)]
pub struct Filter {
    /// From and to, in seconds from the first sample on.
    pub time: Option<(f64, f64)>,
    /// Thread ids.
    pub threads: Vec<i32>,
    /// Process ids.
    pub processes: Vec<i32>,
    /// Names of threads.
    pub comm: Patterns,
    /// The name of the event; `None` for the first that has samples.
    pub event: Option<String>,
    /// Functions: stacks without one are left out.
    pub focus: Patterns,
    /// Functions: stacks with one are left out.
    pub ignore: Patterns,
    /// Functions that are taken out of the stacks.
    pub hide: Patterns,
    /// Modules: functions of others are taken out of the stacks.
    pub module: Patterns,
}

/// Compiled patterns, of which one has to match.
#[derive(Debug, Default)]
pub struct Patterns(Vec<regex::bytes::Regex>);

impl Patterns {
    /// Compiles patterns, each up to so many bytes of memory.
    ///
    /// # Errors
    /// If one is wrong or too large: the message of the compiler.
    pub fn new(texts: &[String], most_bytes: usize) -> Result<Self, String> {
        let compile = |text: &String| {
            let mut builder = regex::bytes::RegexBuilder::new(text);
            let built = builder.size_limit(most_bytes).dfa_size_limit(most_bytes).build();
            built.map_err(|error| error.to_string())
        };
        Ok(Self(texts.iter().map(compile).collect::<Result<_, _>>()?))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them is in a text.
    #[must_use]
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.is_match(text))
    }
}

/// Why nothing can be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The profile has no event of that name.
    #[error("there is no event {name}")]
    NoEvent {
        /// The name.
        name: String,
    },
    /// An event is named beside times off the processor.
    #[error("times off the processor are an event of their own")]
    EventOfOffCpu,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_would_backtrack_is_linear() {
        let patterns = Patterns::new(&["(a+)+$".to_owned()], 1 << 20).expect("a pattern");
        let mut text = vec![b'a'; 100_000];
        text.push(b'b');
        assert!(!patterns.are_in(&text));
    }
}
