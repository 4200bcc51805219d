//! Short forms of names that are already readable, for tables that group rows by full names.

use std::borrow::Cow;

use crate::short::{
    end_of_arguments, ends_in_operator, first_operator, is_of_word, operator_symbol,
    without_arguments,
};

/// Beginnings of parts of C++ names in parentheses that are no parameter lists: of namespaces and classes, and of lambdas
/// as debug information places them and as `diff` numbers them.
const UNNAMED: [&str; 4] = ["(anonymous ", "(lambda at ", "(lambda)", "(lambda#"];

/// Returns a readable name without return type, parameters, template and generic arguments, and marks of copies, as
/// [`Style::Short`](crate::Style::Short) writes it. A name in an unknown form stays.
///
/// ```
/// assert_eq!(demangle::short_name("void foo::bar<int>(int)"), "foo::bar");
/// assert_eq!(demangle::short_name("worker(int)::{lambda(float)#1}::operator()(float) const"), "worker::{lambda#1}::operator()");
/// ```
#[must_use]
pub fn short_name(full: &str) -> Cow<'_, str> {
    NameScan::of(full, false).map_or(Cow::Borrowed(full), |scan| Cow::Owned(scan.name))
}

/// Does the same, but includes the parameters of the function, without their template arguments.
#[must_use]
pub fn name_with_parameters(full: &str) -> Cow<'_, str> {
    let Some(NameScan { mut name, parameters, qualifiers, .. }) = NameScan::of(full, false) else {
        return Cow::Borrowed(full);
    };
    name.push_str(&without_arguments(&parameters).unwrap_or(parameters));
    name.push_str(&qualifiers);
    Cow::Owned(name)
}

/// Does the same as [`short_name`], but includes template and generic arguments, without the arguments of those.
///
/// ```
/// assert_eq!(demangle::name_with_arguments("std::vector<A<int>, B>::size() const"), "std::vector<A, B>::size");
/// ```
#[must_use]
pub fn name_with_arguments(full: &str) -> Cow<'_, str> {
    NameScan::of(full, true).map_or(Cow::Borrowed(full), |scan| Cow::Owned(scan.name))
}

/// Parts of a readable name.
#[derive(Debug, Default)]
struct NameScan {
    name: String,
    /// The last parameter list, with its parentheses.
    parameters: String,
    /// Text after the parameters, such as ` const`.
    qualifiers: String,
    /// Number of open braces.
    braces: i32,
    /// True if the name has its template arguments.
    has_arguments: bool,
}

impl NameScan {
    /// Returns the parts; `None` if the name has nothing to omit, or is in an unknown form.
    fn of(full: &str, has_arguments: bool) -> Option<Self> {
        // Names of perf's map of Python, and of code without a symbol, have brackets of another meaning.
        let is_other = full.starts_with('[') || full.starts_with("py::");
        if is_other || !full.contains(['<', '(', '{']) {
            return None;
        }
        let mut scan = Self { has_arguments, ..Self::default() };
        let mut rest = full;
        // Bytes of `name` up to the last parameter list.
        let mut end = None;
        while let Some(char) = rest.chars().next() {
            let length = scan.step(rest, char, &mut end)?;
            rest = rest.get(length..)?;
        }
        if let Some(end) = end {
            scan.qualifiers = scan.name.get(end..)?.to_owned();
            if scan.qualifiers.is_empty() || scan.qualifiers.starts_with([' ', '&']) {
                scan.name.truncate(end);
            } else {
                // A local name follows the last parameter list.
                scan.parameters.clear();
                scan.qualifiers.clear();
            }
            scan.name.drain(..start_of_name(&scan.name));
        }
        (!scan.name.is_empty()).then_some(scan)
    }

    /// Reads the next part, and returns its length.
    fn step(&mut self, rest: &str, char: char, end: &mut Option<usize>) -> Option<usize> {
        let name = &mut self.name;
        let begins_part = name.is_empty() || name.ends_with("::");
        if begins_part && UNNAMED.iter().any(|unnamed| rest.starts_with(unnamed)) {
            let length = end_of_parameters(rest)?;
            name.push_str(rest.get(..length)?);
            return Some(length);
        }
        if rest.starts_with(" [clone ") {
            return Some(rest.find(']')? + 1);
        }
        if let Some(symbol) = operator_symbol(name, rest) {
            name.push_str(symbol);
            // A space separates an operator's name from its arguments.
            let space = rest.get(symbol.len()..)?.starts_with(" <");
            return Some(symbol.len() + usize::from(space));
        }
        match char {
            '<' if name.is_empty() => {
                // The type of a Rust method.
                let length = end_of_arguments(rest)?;
                let of_method = without_arguments(rest.get(..length)?)?;
                self.braces += of_method.chars().map(brace).sum::<i32>();
                name.push_str(&of_method);
                Some(length)
            }
            '<' if ends_a_name(name) && self.has_arguments => {
                let length = end_of_arguments(rest)?;
                let inner = rest.get(1..length.checked_sub(1)?)?;
                name.push_str(&format!("<{}>", without_arguments(inner)?.trim_end()));
                Some(length)
            }
            '<' if ends_a_name(name) => {
                if name.ends_with("::") {
                    name.truncate(name.len() - 2);
                }
                end_of_arguments(rest)
            }
            '(' if (ends_a_name(name) && !name.ends_with(':'))
                || (self.has_arguments && name.ends_with('>')) =>
            {
                let length = end_of_parameters(rest)?;
                // Those of a lambda are inside its braces.
                if self.braces == 0 {
                    rest.get(..length)?.clone_into(&mut self.parameters);
                    *end = Some(name.len());
                }
                Some(length)
            }
            '(' | ')' => None,
            _ => {
                self.braces += brace(char);
                name.push(char);
                Some(char.len_utf8())
            }
        }
    }
}

/// Returns 1 for an opening brace, -1 for a closing one.
const fn brace(char: char) -> i32 {
    match char {
        '{' => 1,
        '}' => -1,
        _ => 0,
    }
}

/// Returns true if arguments or parameters can follow the text.
fn ends_a_name(text: &str) -> bool {
    text.ends_with(|last: char| is_of_word(last) || ":]})".contains(last))
        || ends_in_operator(text.trim_end_matches(|char| !is_of_word(char)))
}

/// Returns the length of the parentheses at the start of a text.
fn end_of_parameters(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the start of the name after a return type.
fn start_of_name(text: &str) -> usize {
    // These words are parts of a name.
    if text.starts_with('<') || [" for ", " to ", " thunk "].iter().any(|word| text.contains(word))
    {
        return 0;
    }
    let before = first_operator(text).and_then(|at| text.get(..at)).unwrap_or(text);
    let mut depth = 0_usize;
    for (at, char) in before.char_indices().rev() {
        match char {
            '}' | ')' | ']' | '>' => depth += 1,
            '{' | '(' | '[' | '<' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_other_forms_stay() {
        for name in [
            "main",
            "[unknown]",
            "py::<module>:/x.py",
            "py::<lambda>:/x.py",
            "main.(*T).Method-fm",
            "LazyCompile:~<anonymous> /x.js:1:2",
            "Function: (anonymous) /x.js:1",
            "void (*f(int))(char)",
            "a(b",
            "a<b",
            "type..eq.struct { a int }",
        ] {
            assert_eq!(short_name(name), name);
            assert_eq!(name_with_parameters(name), name);
        }
    }

    #[test]
    fn parameters_come_back() {
        for (full, with) in [
            ("void A<int>::f<char>(std::vector<int>&) const", "A::f(std::vector&) const"),
            (
                "worker(int)::{lambda(float)#1}::operator()(float) const",
                "worker::{lambda#1}::operator()(float) const",
            ),
            ("worker(int)::{lambda(float)#1}", "worker::{lambda#1}"),
            ("operator new(unsigned long)", "operator new(unsigned long)"),
            ("foo(int) [clone .cold]", "foo(int)"),
            ("core::ptr::drop_in_place::<a::B<c>>", "core::ptr::drop_in_place"),
        ] {
            assert_eq!(name_with_parameters(full), with);
        }
    }

    #[test]
    fn arguments_have_no_arguments() {
        for (full, with) in [
            ("void f<int>(int)", "f<int>"),
            (
                "std::vector<std::pair<int, char>, std::allocator<int> >::size() const",
                "std::vector<std::pair, std::allocator>::size",
            ),
            ("std::map<A, B<C> >& g<A, unsigned int>(D<E>)", "g<A, unsigned int>"),
            ("<a::B<C> as d::E>::g::<H<I>, J>", "<a::B as d::E>::g::<H, J>"),
            ("operator<< <std::char_traits<char> >(std::ostream&)", "operator<<<std::char_traits>"),
            ("main", "main"),
        ] {
            assert_eq!(name_with_arguments(full), with);
        }
    }
}
