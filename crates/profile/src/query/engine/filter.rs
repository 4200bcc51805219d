//! The compiled filter of a query, and the errors of filters that cannot select samples.

use options::{GroupBy, QueryFilter};

/// The counted events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum EventChoice {
    /// The first event in the recording with samples.
    #[default]
    First,
    /// The events with this name.
    Named(String),
    /// All events. A sum over events has no unit other than samples, so each sample has weight 1.
    Every,
}

impl EventChoice {
    /// Returns the events that a table grouped by `group` counts: those of `name`, or all of them if it groups by
    /// event.
    #[must_use]
    pub fn of(group: GroupBy, name: Option<&str>) -> Self {
        match (group, name) {
            (_, Some(name)) => Self::Named(name.to_owned()),
            (GroupBy::Event, None) => Self::Every,
            _ => Self::First,
        }
    }
}

/// Maximum number of calls of [`Filter::narrowed`] with an effect.
pub const MOST_NARROWING: usize = 28;

/// A [`QueryFilter`] with compiled patterns.
#[derive(Debug, Default)]
pub struct Filter {
    pub(super) time: Option<(f64, f64)>,
    pub(super) threads: Vec<i32>,
    pub(super) processes: Vec<i32>,
    pub(super) comm: Patterns,
    pub(super) functions: FunctionFilter,
}

/// The part of a [`QueryFilter`] that selects stacks by their functions, and functions in them.
#[derive(Debug, Default)]
pub struct FunctionFilter {
    pub(super) focus: Patterns,
    /// Further patterns of functions: each has to match a function of the stack.
    pub(super) narrowing: Vec<Patterns>,
    pub(super) ignore: Patterns,
    pub(super) hide: Patterns,
    pub(super) module: Patterns,
    pub(super) charge: Patterns,
    pub(super) collapse_recursion: bool,
    /// The filters in words, such as `focus main`.
    pub(super) words: Vec<String>,
}

impl FunctionFilter {
    /// Compiles the patterns of a filter, each with at most `most_bytes` of memory.
    ///
    /// # Errors
    /// Returns the regex compiler's message if a pattern is invalid or too large.
    pub fn new(filter: &QueryFilter, most_bytes: usize) -> Result<Self, String> {
        let compiled = |texts: &[String]| Patterns::new(texts, most_bytes);
        Ok(Self {
            focus: compiled(&filter.focus)?,
            narrowing: Vec::new(),
            ignore: compiled(&filter.ignore)?,
            hide: compiled(&filter.hide)?,
            module: compiled(&filter.module)?,
            charge: compiled(&filter.charge)?,
            collapse_recursion: filter.collapse_recursion,
            words: words(filter),
        })
    }

    /// Returns true if the filter keeps all stacks with all functions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let patterns = [&self.focus, &self.ignore, &self.hide, &self.module, &self.charge];
        let is_narrow = !self.narrowing.is_empty();
        !self.collapse_recursion
            && !is_narrow
            && patterns.iter().all(|patterns| patterns.is_empty())
    }
}

fn words(filter: &QueryFilter) -> Vec<String> {
    let lists = [
        ("focus", &filter.focus),
        ("ignore", &filter.ignore),
        ("hide", &filter.hide),
        ("charge to caller", &filter.charge),
        ("show module", &filter.module),
    ];
    let patterns = lists.iter().flat_map(|(word, list)| list.iter().map(move |it| (word, it)));
    let mut words: Vec<String> = patterns.map(|(word, it)| format!("{word} {it}")).collect();
    if filter.collapse_recursion {
        words.push("collapse recursion".to_owned());
    }
    words
}

impl Filter {
    /// Compiles the patterns of a filter, each with at most `most_bytes` of memory. The event is a separate
    /// [`EventChoice`].
    ///
    /// # Errors
    /// Returns the regex compiler's message if a pattern is invalid or too large.
    pub fn new(filter: &QueryFilter, most_bytes: usize) -> Result<Self, String> {
        Ok(Self {
            time: filter.time,
            threads: filter.threads.clone(),
            processes: filter.processes.clone(),
            comm: Patterns::new(&filter.comm, most_bytes)?,
            functions: FunctionFilter::new(filter, most_bytes)?,
        })
    }

    /// Restricts the filter to stacks that also have a function that matches `patterns`. A filter takes at most
    /// [`MOST_NARROWING`] of them; further ones have no effect.
    #[must_use]
    pub fn narrowed(mut self, patterns: Patterns) -> Self {
        let narrowing = &mut self.functions.narrowing;
        if narrowing.len() < MOST_NARROWING {
            narrowing.push(patterns);
        }
        self
    }

    /// Maximum number of patterns of a kind in a query that others make, and maximum bytes of each.
    const MOST_PATTERNS: usize = 32;
    const LONGEST_PATTERN: usize = 1024;

    /// Maximum size of a compiled pattern of such a query, in bytes.
    const PATTERN_SIZE: usize = 1 << 20;

    /// Compiles the patterns of a filter that others made.
    ///
    /// # Errors
    /// As for [`Self::new`], and if there are too many patterns, or one is too long.
    pub fn bounded(filter: &QueryFilter) -> Result<Self, String> {
        let (most, longest) = (Self::MOST_PATTERNS, Self::LONGEST_PATTERN);
        for texts in filter.patterns() {
            if texts.len() > most {
                return Err(format!("more than {most} patterns"));
            }
            if texts.iter().any(|text| text.len() > longest) {
                return Err(format!("a pattern of more than {longest} bytes"));
            }
        }
        Self::new(filter, Self::PATTERN_SIZE)
    }
}

/// Compiled regular expressions. A text matches if one of them does.
#[derive(Debug, Default)]
pub struct Patterns(Vec<regex::bytes::Regex>);

impl Patterns {
    /// Compiles regular expressions, each with at most `most_bytes` of memory.
    ///
    /// # Errors
    /// Returns the regex compiler's message if a pattern is invalid or too large.
    pub fn new(texts: &[String], most_bytes: usize) -> Result<Self, String> {
        let compile = |text: &String| {
            let mut builder = regex::bytes::RegexBuilder::new(text);
            let built = builder.size_limit(most_bytes).dfa_size_limit(most_bytes).build();
            built.map_err(|error| error.to_string())
        };
        Ok(Self(texts.iter().map(compile).collect::<Result<_, _>>()?))
    }

    /// Returns true if there are no patterns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if one of the patterns matches a part of `text`.
    #[must_use]
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.is_match(text))
    }
}

/// Reason that a filter cannot select samples.
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
    #[error("off-CPU times are a separate event")]
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
