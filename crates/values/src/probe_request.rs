//! Requests of probes as users write them: `FILE:FUNCTION(FIELD,…)`, `FUNCTION%return`.

use std::fmt;

use crate::error::Error;
use crate::request::Path;

/// A function to probe, with the fields of its events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeRequest {
    /// File with the function: a path, or the name of a library.
    pub file: Option<String>,
    /// Function, as in [`crate::Request`].
    pub function: String,
    /// Fields in the order of the request.
    pub fields: Vec<ProbeField>,
    /// True for the return from the function.
    pub is_return: bool,
}

/// A value of an argument, as a field of an event: `path` or `name=path`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeField {
    /// Name of the field, if the user chose one.
    pub chosen: Option<String>,
    /// Path from an argument to the value.
    pub path: Path,
}

/// End of a request for the return from a function.
const RETURN: &str = "%return";

impl ProbeRequest {
    /// Parses a request. The last parentheses hold the fields: `f(int)(x)` is `x` of `f(int)`.
    ///
    /// # Errors
    /// The problem as a sentence.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let problem = |problem: &str| Error::ProbeSyntax {
            text: text.to_owned(),
            problem: problem.to_owned(),
        };
        let (file, rest) = split_file(text.trim());
        let (rest, is_return) = match rest.strip_suffix(RETURN) {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        if let Some((_, after)) =
            rest.split_once(RETURN).filter(|(_, after)| after.starts_with('('))
        {
            return Err(problem(&format!("a return has no arguments; omit {after}")));
        }
        let (function, fields) = match rest.strip_suffix(')').filter(|_| !is_return) {
            Some(inner) => inner.rsplit_once('(').ok_or_else(|| problem("no ( before )"))?,
            None => (rest, ""),
        };
        let function = function.trim();
        if function.is_empty() {
            return Err(problem("no function"));
        }
        let is_given = |it: &&str| !it.trim().is_empty();
        let fields = Some(fields).filter(is_given).into_iter().flat_map(|it| it.split(','));
        let fields = fields.map(ProbeField::parse).collect::<Result<Vec<_>, _>>();
        let fields = fields.map_err(|it| problem(&it))?;
        let mut names: Vec<String> = fields.iter().map(ProbeField::name).collect();
        names.sort_unstable();
        if let Some(name) = names.windows(2).find_map(|pair| (pair[0] == pair[1]).then(|| &pair[0]))
        {
            return Err(problem(&format!(
                "two fields are called {name}; choose a name: NAME=PATH"
            )));
        }
        let file = file.map(str::to_owned);
        Ok(Self { file, function: function.to_owned(), fields, is_return })
    }
}

/// Splits the file off: it ends at the first single colon before parentheses and arguments of templates.
fn split_file(text: &str) -> (Option<&str>, &str) {
    let end = text.find(['(', '<']).unwrap_or(text.len());
    let head = text.as_bytes();
    let is_single = |at: &usize| {
        let is_colon = |at: usize| head.get(at) == Some(&b':');
        is_colon(*at) && !is_colon(at + 1) && !at.checked_sub(1).is_some_and(is_colon)
    };
    let split = (0..end).find(is_single).and_then(|at| text.split_at_checked(at));
    let (file, rest) = split.map_or((None, text), |(file, rest)| (Some(file), rest));
    (file.filter(|it| !it.is_empty()), rest.strip_prefix(':').unwrap_or(rest))
}

impl ProbeField {
    /// Parses `path` or `name=path`.
    ///
    /// # Errors
    /// The problem as a phrase.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (chosen, path) = match text.split_once('=') {
            Some((name, path)) => (Some(name.trim()), path),
            None => (None, text),
        };
        let is_name = |it: &&str| {
            it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if let Some(name) = chosen.filter(|it| !is_name(it)) {
            return Err(format!("{name} is not a name of letters, digits and _"));
        }
        Ok(Self { chosen: chosen.map(str::to_owned), path: Path::parse(path)? })
    }

    /// Name of the field: the chosen one, or the path with `_` between its parts.
    #[must_use]
    pub fn name(&self) -> String {
        if let Some(name) = &self.chosen {
            return name.clone();
        }
        let name = self.path.to_string();
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
        let name = name.trim_matches('_');
        let is_digit = name.starts_with(|c: char| c.is_ascii_digit());
        if is_digit || name.is_empty() { format!("arg_{name}") } else { name.to_owned() }
    }
}

impl fmt::Display for ProbeRequest {
    /// Formats the request as it is parsed, without its fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        f.write_str(&self.function)?;
        if self.is_return { f.write_str(RETURN) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match ProbeRequest::parse(text) {
            Ok(it) => {
                let fields: Vec<_> = it
                    .fields
                    .iter()
                    .map(|field| format!("{}={}", field.name(), field.path))
                    .collect();
                format!("{it} | {}", fields.join(" "))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn forms_of_requests() {
        assert_eq!(parsed("handle"), "handle | ");
        assert_eq!(parsed("handle()"), "handle | ");
        assert_eq!(parsed("handle%return"), "handle%return | ");
        assert_eq!(parsed("handle(kind, r->path)"), "handle | kind=kind r_path=r.path");
        assert_eq!(parsed("f(size=r.n[3],*p)"), "f | size=r.n[3] p=*p");
        assert_eq!(parsed("./a b:ns::A<x::y>::f(x)"), "./a b:ns::A<x::y>::f | x=x");
        assert_eq!(parsed("libc.so.6:malloc(n)"), "libc.so.6:malloc | n=n");
        assert_eq!(parsed("ns::f%return"), "ns::f%return | ");
        assert_eq!(parsed("main.(*T).Do(query)"), "main.(*T).Do | query=query");
        assert_eq!(parsed("f(int, char*)(x)"), "f(int, char*) | x=x");
        assert_eq!(parsed("operator()(x)"), "operator() | x=x");
        assert_eq!(parsed("f(0)"), "f | arg_0=0");
    }

    #[test]
    fn problems_are_named() {
        let form = "expected FUNCTION(ARGUMENT,…) or FUNCTION%return";
        for (text, problem) in [
            ("", "no function"),
            ("a:(x)", "no function"),
            ("f)", "no ( before )"),
            ("f(x,,y)", "no variable"),
            ("f(a-b=x)", "a-b is not a name of letters, digits and _"),
            ("f(x,x)", "two fields are called x; choose a name: NAME=PATH"),
            ("f%return(x)", "a return has no arguments; omit (x)"),
        ] {
            assert_eq!(parsed(text), format!("{text}: {form}: {problem}"));
        }
    }
}
