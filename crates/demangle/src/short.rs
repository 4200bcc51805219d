//! Short names, made by removing template and generic arguments from readable names.

use crate::style::Style;

/// Returns the name in the requested style.
pub(crate) fn shortened(name: String, style: Style) -> String {
    if style == Style::Short { without_arguments(&name).unwrap_or(name) } else { name }
}

/// Removes template and generic arguments: `a::b<c>::d` becomes `a::b::d`, `a::b::<c>` becomes `a::b`. Type names (`<a
/// as b>::c`) and operators stay. `None` if the brackets do not match.
pub(crate) fn without_arguments(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        if let Some(symbol) = operator_symbol(&out, rest) {
            out.push_str(symbol);
            rest = rest.get(symbol.len()..)?;
            // A space separates an operator's name from its arguments.
            rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('<')).unwrap_or(rest);
            if rest.starts_with('<') {
                rest = rest.get(end_of_arguments(rest)?..)?;
            }
            continue;
        }
        let begins_arguments = char == '<'
            && out.ends_with(|last: char| {
                last.is_alphanumeric() || matches!(last, '_' | ':' | ']' | ')' | '}')
            });
        if begins_arguments {
            rest = rest.get(end_of_arguments(rest)?..)?;
            if out.ends_with("::") {
                out.truncate(out.len() - 2);
            }
            continue;
        }
        out.push(char);
        rest = rest.get(char.len_utf8()..)?;
    }
    Some(out)
}

/// Returns true if the last word of the text is `operator`.
pub(crate) fn ends_in_operator(text: &str) -> bool {
    text.strip_suffix(OPERATOR).is_some_and(|before| !before.ends_with(is_of_word))
}

/// Returns the start of the first word `operator` of a text.
pub(crate) fn first_operator(text: &str) -> Option<usize> {
    let mut found = text.match_indices(OPERATOR).map(|(at, _)| at);
    found.find(|&at| {
        let (before, after) = (text.get(..at), text.get(at + OPERATOR.len()..));
        !before.is_some_and(|it| it.ends_with(is_of_word))
            && !after.is_some_and(|it| it.starts_with(is_of_word))
    })
}

const OPERATOR: &str = "operator";

/// Returns true if a character is a part of words.
pub(crate) fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the symbol with brackets at the start of `rest`, if it completes the name of an operator.
pub(crate) fn operator_symbol(before: &str, rest: &str) -> Option<&'static str> {
    const SYMBOLS: &[&str] =
        &["()", "<=>", "<<=", "<<", "<=", "<", "->*", "->", ">>=", ">>", ">=", ">"];
    if !ends_in_operator(before) {
        return None;
    }
    SYMBOLS.iter().copied().find(|symbol| rest.starts_with(symbol))
}

/// Returns the end of the arguments at the start of a text, after the bracket that closes the first one.
pub(crate) fn end_of_arguments(text: &str) -> Option<usize> {
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, char) in text.char_indices() {
        match char {
            '<' => depth += 1,
            '>' if last != '-' && last != '=' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        last = char;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_have_no_arguments() {
        for (full, short) in [
            ("a::b<c<d>, e>::f", "a::b::f"),
            ("core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"),
            ("<a::B<C> as d::E<F>>::g::<H>", "<a::B as d::E>::g"),
            ("A::operator<", "A::operator<"),
            ("operator<< <std::char_traits<char> >", "operator<<"),
            ("A<b>::operator-><c>", "A::operator->"),
            ("f<&(A::operator->)>::g", "f::g"),
            ("a<b", "a<b"),
            ("{closure#0}::<a>", "{closure#0}"),
            ("<impl a for b<c>>::d", "<impl a for b>::d"),
        ] {
            assert_eq!(shortened(full.to_owned(), Style::Short), short);
            assert_eq!(shortened(full.to_owned(), Style::Full), full);
        }
    }
}
