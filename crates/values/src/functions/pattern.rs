//! Names of functions as users write them, compared with those of the debug information.

use crate::dwarf::is_word_byte;

/// A function's name as given.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// The name as given.
    text: String,
    /// Parts between `::`, outermost first, without blanks.
    parts: Vec<String>,
    /// Types of the parameters, if they are given; words of each in order of the alphabet.
    parameters: Option<Vec<String>>,
}

impl Pattern {
    /// Reads a name.
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let (name, parameters) = split_parameters(text);
        let parts = parts(name).into_iter().map(|part| compact(&part)).collect();
        Self { text: text.to_owned(), parts, parameters }
    }

    /// The name as given.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the last part without arguments of templates.
    pub(super) fn last(&self) -> &str {
        self.parts.last().map_or("", |part| bare(part))
    }

    /// Returns an identifier that each matching name has, at the end of which no identifier goes on; empty if it has
    /// none.
    pub(super) fn word(&self) -> String {
        let (name, _) = split_parameters(&self.text);
        let parts = parts(name);
        let last = parts.last().map_or("", |part| bare(part.trim()));
        let is_part = |c: char| u8::try_from(c).map_or(true, is_word_byte);
        if let Some(rest) = last.strip_prefix("operator") {
            // `operatornew` matches `operator new`.
            return if rest.starts_with(is_part) { String::new() } else { "operator".to_owned() };
        }
        let words = last.split(|c: char| !is_part(c));
        words.max_by_key(|word| word.len()).unwrap_or("").to_owned()
    }

    /// Returns true if it is a linkage name.
    pub(super) fn is_linkage_name(&self, name: &str) -> bool {
        self.text == name
    }

    /// Returns true if a function's own name can match.
    pub(super) fn may_match(&self, name: &str) -> bool {
        self.parts.last().is_some_and(|last| part_matches(last, name)) || self.parts_of(name)
    }

    /// Returns true if the name of the entry has all parts itself, such as `main.handle` or `(*T).Do`.
    fn parts_of(&self, name: &str) -> bool {
        self.parts.len() == 1 && name.contains('.') && name.rsplit('.').next() == Some(self.last())
    }

    /// Returns true if a name within scopes, outermost first, is meant.
    pub(super) fn matches(&self, scopes: &[&str], name: &str) -> bool {
        if !self.may_match(name) {
            return false;
        }
        let Some((_, outer)) = self.parts.split_last() else { return false };
        let mut scopes = scopes.iter().rev().filter(|scope| !scope.starts_with('(')).peekable();
        outer
            .iter()
            .rev()
            .filter(|part| !part.starts_with('('))
            .all(|part| scopes.next().is_some_and(|scope| part_matches(part, scope)))
    }

    /// Returns true if the parameters' types are those given, or none were.
    pub(super) fn takes(&self, types: &[String]) -> bool {
        self.parameters.as_ref().is_none_or(|given| {
            given.len() == types.len()
                && given.iter().zip(types).all(|(one, other)| *one == words(other))
        })
    }

    /// Returns true if parameters' types were given.
    pub(super) const fn has_parameters(&self) -> bool {
        self.parameters.is_some()
    }
}

/// Compares a part as given with one of the debug information, which may have arguments of templates.
fn part_matches(given: &str, name: &str) -> bool {
    let name = compact(name);
    given == name || !given.contains('<') && given == bare(&name)
}

/// Removes blanks.
fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Removes arguments of templates at the end.
fn bare(part: &str) -> &str {
    if part.starts_with("operator") || !part.ends_with('>') {
        return part;
    }
    match part.find('<') {
        Some(at) if at > 0 => part.get(..at).unwrap_or(part),
        _ => part,
    }
}

/// Splits at `::` outside of brackets.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut rest) = (0_u32, name);
    while let Some(c) = rest.chars().next() {
        if let (0, Some(after)) = (depth, rest.strip_prefix("::")) {
            parts.push(String::new());
            rest = after;
            continue;
        }
        match c {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Splits off a list of parameters at the end.
fn split_parameters(text: &str) -> (&str, Option<Vec<String>>) {
    let text = text.strip_suffix("const").map_or(text, str::trim_end);
    let none = (text, None);
    let Some(inner) = text.strip_suffix(')') else { return none };
    let mut depth = 1;
    let open = inner.char_indices().rev().find(|&(_, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some((at, _)) = open else { return none };
    let (name, list) =
        (inner.get(..at).unwrap_or_default(), inner.get(at + 1..).unwrap_or_default());
    // `operator()` and Go's `(*T).Do` have parentheses that hold no parameters.
    if name.is_empty() || name.ends_with("operator") {
        return none;
    }
    let list = list.trim();
    if list.is_empty() || list == "void" {
        return (name, Some(Vec::new()));
    }
    let (mut types, mut depth) = (vec![String::new()], 0_u32);
    for c in list.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = types.last_mut() {
            last.push(c);
        }
    }
    (name, Some(types.iter().map(|it| words(it)).collect()))
}

/// Returns the words of a type in order of the alphabet, so that `char const*` equals `const char *`.
/// Scopes are left out, since names of types are stated without them.
fn words(text: &str) -> String {
    let mut words = Vec::<String>::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ':' && chars.peek() == Some(&':') {
            chars.next();
            word.clear();
        } else if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            words.push(std::mem::take(&mut word));
            if !c.is_whitespace() {
                words.push(c.to_string());
            }
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.sort();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, scopes: &[&str], name: &str) -> bool {
        Pattern::new(pattern).matches(scopes, name)
    }

    #[test]
    fn names_match_from_their_end() {
        assert!(matches("handle", &[], "handle"));
        assert!(matches("handle", &["ns", "A"], "handle"));
        assert!(matches("A::handle", &["ns", "A"], "handle"));
        assert!(matches("ns::A::handle", &["ns", "(anonymous namespace)", "A"], "handle"));
        assert!(!matches("B::handle", &["ns", "A"], "handle"));
        assert!(!matches("x::ns::A::handle", &["ns", "A"], "handle"));
        assert!(!matches("handle", &[], "handle2"));
        assert!(
            matches("handle", &[], "main.handle") && matches("main.handle", &[], "main.handle")
        );
        assert!(matches("main.(*T).Do", &[], "main.(*T).Do"));
    }

    #[test]
    fn arguments_of_templates_are_optional() {
        assert!(matches("f", &[], "f<int>"));
        assert!(matches("f<int, char>", &["ns"], "f<int,char>"));
        assert!(!matches("f<int>", &[], "f<char>"));
        assert!(matches("A::f", &["A<int, B<int> >"], "f"));
        assert!(matches("operator<", &[], "operator<") && !matches("operator", &[], "operator<"));
        assert!(matches("operator()", &["F"], "operator()"));
        assert!(matches("{closure#0}", &["main"], "{closure#0}"));
    }

    #[test]
    fn each_matching_name_has_the_word() {
        for (pattern, word) in [
            ("handle", "handle"),
            ("ns::A<int>::handle", "handle"),
            ("f<int>", "f"),
            ("main.(*T).Handle", "Handle"),
            ("operator new", "operator"),
            ("operatornew", ""),
            ("operator_of", ""),
            ("T::operator()", "operator"),
            ("_ZN1A1fEv", "_ZN1A1fEv"),
            ("main::{closure#0}", "closure"),
            ("größe", "größe"),
            ("f.part.0", "part"),
            ("()", ""),
        ] {
            assert_eq!(Pattern::new(pattern).word(), word, "{pattern}");
        }
    }

    #[test]
    fn parameters_choose_among_overloads() {
        let pattern = Pattern::new("ns::f(int, std::string const&, char const*)");
        assert!(pattern.matches(&["ns"], "f"));
        let types = |types: [&str; 3]| types.map(str::to_owned);
        assert!(pattern.takes(&types(["int", "const string &", "const char *"])));
        assert!(!pattern.takes(&types(["int", "string &", "const char *"])));
        assert!(Pattern::new("f()").takes(&[]) && !Pattern::new("f()").takes(&["int".to_owned()]));
        assert!(Pattern::new("f").takes(&["int".to_owned()]));
    }
}
