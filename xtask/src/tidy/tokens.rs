//! Rust source as words with their lines, without comments, strings and test-only code.
//!
//! It knows as much of the language as the checks of folders and of prose need: identifiers, `::`, comments, strings, and
//! single characters for the rest.

/// A word of the source: an identifier, `::`, or one other character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Line number, from 1.
    pub(super) line: usize,
}

/// Returns the words of a file that a build without tests compiles. The second list has the test-only modules in
/// separate files (`#[cfg(test)] mod NAME;`).
pub(super) fn product_tokens(source: &str) -> (Vec<Token<'_>>, Vec<&str>) {
    let all = tokens(source);
    let mut kept = Vec::with_capacity(all.len());
    let mut test_modules = Vec::new();
    let mut at = 0;
    while at < all.len() {
        if !is_test_attribute(&all, at) {
            kept.push(all[at]);
            at += 1;
            continue;
        }
        let end = item_end(&all, at);
        let item = &all[at..end];
        if let [.., keyword, name, semicolon] = item
            && keyword.text == "mod"
            && semicolon.text == ";"
        {
            test_modules.push(name.text);
        }
        at = end;
    }
    (kept, test_modules)
}

/// Returns true if `#[cfg(test)]` or `#[cfg(all(test, …` starts here.
fn is_test_attribute(tokens: &[Token<'_>], at: usize) -> bool {
    let begins = |words: &[&str]| {
        tokens[at..].len() >= words.len()
            && tokens[at..].iter().zip(words).all(|(token, word)| token.text == *word)
    };
    begins(&["#", "[", "cfg", "(", "test", ")", "]"])
        || begins(&["#", "[", "cfg", "(", "all", "(", "test", ","])
}

/// Returns the end of the item with attributes at `at`: after its `;`, or after its closing brace.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut depth = 0_usize;
    let mut braces = 0_usize;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "{" => braces += 1,
            "}" => {
                braces = braces.saturating_sub(1);
                // `use a::{b, c};` continues after its brace.
                if braces == 0 && tokens.get(at).is_none_or(|next| next.text != ";") {
                    return at;
                }
            }
            ";" if depth == 0 && braces == 0 => return at,
            _ => {}
        }
    }
    at
}

/// Returns all words of a file, without comments and strings.
fn tokens(source: &str) -> Vec<Token<'_>> {
    pieces(source).filter(|it| it.0 == PieceKind::Word).map(|it| it.1).collect()
}

/// The kind of a piece of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// An identifier, `::`, or one other character.
    Word,
    /// A comment with its slashes, of one line or of a block.
    Comment,
    /// A string with its quotes.
    Text,
    /// Space between words, or a character in quotes.
    Blank,
}

/// Splits a file into pieces without gaps.
pub(super) fn pieces(source: &str) -> impl Iterator<Item = (PieceKind, Token<'_>)> {
    let (mut at, mut line) = (0, 1);
    std::iter::from_fn(move || {
        let rest = source.get(at..).filter(|rest| !rest.is_empty())?;
        let (length, kind) = next(rest);
        let token = Token { text: &rest[..length], line };
        line += token.text.matches('\n').count();
        at += length;
        Some((kind, token))
    })
}

/// Bytes of the next piece of source, and its kind.
fn next(rest: &str) -> (usize, PieceKind) {
    let first = rest.chars().next().unwrap_or(' ');
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), PieceKind::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), PieceKind::Comment);
    }
    if let Some(length) = raw_string(rest) {
        return (length, PieceKind::Text);
    }
    if let Some(body) = ["\"", "b\"", "c\""].iter().find_map(|open| rest.strip_prefix(open)) {
        return (rest.len() - body.len() + string(body), PieceKind::Text);
    }
    if first == '\'' {
        return (quote(rest), PieceKind::Blank);
    }
    if rest.starts_with("::") {
        return (2, PieceKind::Word);
    }
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if word(first) {
        return (rest.find(|c| !word(c)).unwrap_or(rest.len()), PieceKind::Word);
    }
    let kind = if first.is_whitespace() { PieceKind::Blank } else { PieceKind::Word };
    (first.len_utf8(), kind)
}

/// Returns the size of a block comment in bytes; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the size of a raw string (`r"…"`, `br#"…"#`) in bytes, if one starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inner = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inner.find(&close).map_or(inner.len(), |end| end + close.len());
    Some(rest.len() - inner.len() + end)
}

/// Returns the size of a string after its opening quote in bytes, including the closing one.
fn string(body: &str) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    body.len()
}

/// Returns the size of a character (`'a'`, `'\''`) or of the quote of a lifetime, in bytes.
fn quote(rest: &str) -> usize {
    if rest.starts_with("'\\") {
        // The escaped character is one byte, and may be a quote itself.
        let tail = rest.get(3..).unwrap_or_default();
        return tail.find('\'').map_or(rest.len(), |end| 3 + end + 1);
    }
    let mut characters = rest.char_indices().skip(2);
    match characters.next() {
        Some((at, '\'')) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{product_tokens, tokens};

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_characters_are_no_words() {
        let source = "a /* b /* c */ d */ \"e \\\" f\" r#\"g \" h\"# 'i' '\\'' '\\n' b\"j\" k<'l> // m\nn::o";
        assert_eq!(texts(source), ["a", "k", "<", "l", ">", "n", "::", "o"]);
    }

    #[test]
    fn lines_are_counted_over_everything() {
        let found: Vec<(&str, usize)> = tokens("a\n\"x\ny\"\n/*\n*/ b\n")
            .into_iter()
            .map(|token| (token.text, token.line))
            .collect();
        assert_eq!(found, [("a", 1), ("b", 5)]);
    }

    #[test]
    fn what_only_tests_compile_is_left_out() {
        let source = "use a;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nuse b::{c, d};\n\
                      #[cfg(test)]\n#[allow(x)]\nmod other { fn f() { g(); } }\n#[cfg(all(test, unix))]\nfn h(i: [u8; 3]) {}\nj";
        let (kept, modules) = product_tokens(source);
        let kept: Vec<&str> = kept.into_iter().map(|token| token.text).collect();
        assert_eq!(kept, ["use", "a", ";", "j"]);
        assert_eq!(modules, ["tests"]);
    }
}
