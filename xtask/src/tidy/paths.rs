//! Paths into the same crate in a file: `crate::a::b`, `super::c`, with the groups of `use` expanded.

use super::tokens::Token;

/// A path from the root of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathUse {
    /// Words after `crate::`; the last may be `*` or `self`.
    pub(super) words: Vec<String>,
    /// Name that a `use` introduces for it: the last word, or the one after `as`.
    pub(super) alias: String,
    /// Line of its first word.
    pub(super) line: usize,
}

/// Returns all paths that start with `crate::` or `super::`. `module` is the file's own module path from the root.
pub(super) fn crate_paths(tokens: &[Token<'_>], module: &[String]) -> Vec<PathUse> {
    let mut found = Vec::new();
    let mut scope = Scope { module: module.to_vec(), inline: Vec::new(), depth: 0 };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        scope.enter(tokens, at);
        let starts = at == 0 || tokens[at - 1].text != "::";
        let follows = tokens.get(at + 1).is_some_and(|next| next.text == "::");
        if !(starts && follows && matches!(token.text, "crate" | "super")) {
            at += 1;
            continue;
        }
        let mut prefix = if token.text == "crate" { Vec::new() } else { scope.parent() };
        at += 2;
        while tokens.get(at).is_some_and(|token| token.text == "super")
            && tokens.get(at + 1).is_some_and(|next| next.text == "::")
        {
            prefix.pop();
            at += 2;
        }
        at = tree(tokens, at, &prefix, token.line, &mut found);
    }
    found
}

/// Returns the `use` exports of a crate's root: name and path from the root.
pub(super) fn root_exports(tokens: &[Token<'_>]) -> Vec<PathUse> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.text != "use" {
            continue;
        }
        let mut start = at + 1;
        let own = |word: &str| matches!(word, "crate" | "self");
        if tokens.get(start).is_some_and(|token| own(token.text)) {
            start += 2;
        }
        tree(tokens, start, &[], token.line, &mut found);
    }
    found
}

/// Reads one path or group at `at`; returns the index after it.
fn tree(
    tokens: &[Token<'_>],
    mut at: usize,
    prefix: &[String],
    line: usize,
    found: &mut Vec<PathUse>,
) -> usize {
    let mut words = prefix.to_vec();
    loop {
        let Some(token) = tokens.get(at) else { return at };
        if token.text == "{" {
            return group(tokens, at + 1, &words, found);
        }
        words.push(token.text.to_owned());
        at += 1;
        // After `::` a path continues with a word or a group; `::<` begins arguments.
        let goes_on = tokens.get(at).is_some_and(|next| next.text == "::")
            && tokens.get(at + 1).is_some_and(|next| next.text != "<");
        if goes_on {
            at += 1;
            continue;
        }
        let mut alias = words.last().cloned().unwrap_or_default();
        if alias == "self" {
            alias = words.iter().rev().nth(1).cloned().unwrap_or_default();
        }
        if tokens.get(at).is_some_and(|next| next.text == "as")
            && let Some(name) = tokens.get(at + 1)
        {
            name.text.clone_into(&mut alias);
            at += 2;
        }
        found.push(PathUse { words, alias, line });
        return at;
    }
}

/// Reads the members of `{a, b::c}` after the brace; returns the index after the closing one.
fn group(
    tokens: &[Token<'_>],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<PathUse>,
) -> usize {
    while let Some(token) = tokens.get(at) {
        match token.text {
            "}" => return at + 1,
            "," => at += 1,
            _ => at = tree(tokens, at, prefix, token.line, found),
        }
    }
    at
}

/// The current module: the file's, and those written inside it.
struct Scope {
    module: Vec<String>,
    /// Modules inside the file, with the depth of braces at which each started.
    inline: Vec<(String, usize)>,
    depth: usize,
}

impl Scope {
    /// Counts braces, and remembers `mod NAME {`.
    fn enter(&mut self, tokens: &[Token<'_>], at: usize) {
        match tokens[at].text {
            "{" => self.depth += 1,
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                if self.inline.last().is_some_and(|&(_, depth)| depth == self.depth) {
                    self.inline.pop();
                }
            }
            "mod" if tokens.get(at + 2).is_some_and(|next| next.text == "{") => {
                self.inline.push((tokens[at + 1].text.to_owned(), self.depth));
            }
            _ => {}
        }
    }

    /// Returns the parent of the current module, from the root.
    fn parent(&self) -> Vec<String> {
        let mut words = self.module.clone();
        words.extend(self.inline.iter().map(|(name, _)| name.clone()));
        words.pop();
        words
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::product_tokens;
    use super::{crate_paths, root_exports};

    fn paths(source: &str, module: &[&str]) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|&word| word.to_owned()).collect();
        let (tokens, _) = product_tokens(source);
        let found = crate_paths(&tokens, &module);
        found.iter().map(|path| format!("{}:{}", path.words.join("::"), path.line)).collect()
    }

    #[test]
    fn groups_are_spread_and_calls_are_found() {
        let source = "use crate::{a::{self, B}, c as d};\npub(crate) fn f() { crate::e::g::<u8>() }\nuse std::crate_x::y;";
        assert_eq!(paths(source, &["m"]), ["a::self:1", "a::B:1", "c:1", "e::g:2"]);
    }

    #[test]
    fn super_is_counted_from_where_it_stands() {
        let source = "use super::x::Y;\nmod inner { use super::z; use super::super::w; }\nuse super::super::v;";
        assert_eq!(paths(source, &["a", "b"]), ["a::x::Y:1", "a::b::z:2", "a::w:2", "v:3"]);
    }

    #[test]
    fn exports_of_the_root_have_the_name_they_are_known_by() {
        let (tokens, _) =
            product_tokens("mod a;\npub use a::{B, c::D as E};\npub use crate::f::G;\n");
        let found: Vec<(String, String)> = root_exports(&tokens)
            .into_iter()
            .map(|path| (path.alias.clone(), path.words.join("::")))
            .collect();
        let expected =
            [("B", "a::B"), ("E", "a::c::D"), ("G", "f::G")].map(|(a, b)| (a.into(), b.into()));
        assert_eq!(found, expected);
    }
}
