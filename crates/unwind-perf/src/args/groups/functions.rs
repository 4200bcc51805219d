//! The arguments that choose functions.

use clap::Args;
use options::QueryFilter;
use profile::query::engine::{FunctionFilter, Patterns};

/// The memory that a compiled pattern may take, in bytes.
const PATTERN_BYTES: usize = 64 << 20;

/// The functions that are counted. All patterns are regular expressions that match a part of a name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Functions")]
pub(crate) struct FunctionArgs {
    /// Only stacks with a function of this name; names are regular expressions
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) focus: Vec<String>,

    /// Omit stacks with a function of this name
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) ignore: Vec<String>,

    /// Remove functions of this name from stacks; their cost goes to their callers
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) hide: Vec<String>,

    /// Remove functions of this name and their callees; the cost goes to their callers
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) charge_to_caller: Vec<String>,

    /// Only functions of programs and libraries with this path
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) show_module: Vec<String>,

    /// Show a recursive function once per stack
    #[arg(long)]
    pub(crate) collapse_recursion: bool,
}

/// A pattern that can be compiled.
fn pattern(text: &str) -> Result<String, String> {
    let text = text.to_owned();
    Patterns::new(std::slice::from_ref(&text), PATTERN_BYTES)?;
    Ok(text)
}

impl FunctionArgs {
    /// Whether any filter was given.
    pub(crate) fn is_empty(&self) -> bool {
        let lists =
            [&self.focus, &self.ignore, &self.hide, &self.charge_to_caller, &self.show_module];
        !self.collapse_recursion && lists.iter().all(|list| list.is_empty())
    }

    /// The patterns of `--focus`.
    ///
    /// # Errors
    /// If a pattern cannot be compiled.
    pub(crate) fn focus_patterns(&self) -> anyhow::Result<Patterns> {
        Patterns::new(&self.focus, PATTERN_BYTES).map_err(anyhow::Error::msg)
    }

    /// The filter.
    ///
    /// # Errors
    /// If a pattern cannot be compiled.
    pub(crate) fn filter(&self) -> anyhow::Result<FunctionFilter> {
        FunctionFilter::new(&self.query_filter(), PATTERN_BYTES).map_err(anyhow::Error::msg)
    }

    /// The filter before its patterns are compiled.
    pub(crate) fn query_filter(&self) -> QueryFilter {
        QueryFilter {
            focus: self.focus.clone(),
            ignore: self.ignore.clone(),
            hide: self.hide.clone(),
            module: self.show_module.clone(),
            charge: self.charge_to_caller.clone(),
            collapse_recursion: self.collapse_recursion,
            ..QueryFilter::default()
        }
    }
}
