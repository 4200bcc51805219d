//! Short names of functions in tables, whose rows are grouped by full names.

use std::borrow::Cow;

use demangle::{name_with_arguments, name_with_parameters, short_name};
use hashbrown::{HashMap, HashSet};
use profile::{Profile, StringId};
use rayon::prelude::*;

use super::labels;

/// Short names by full name; full names of functions that have none.
#[derive(Debug, Default)]
pub(super) struct ShortNames(HashMap<StringId, String>);

impl ShortNames {
    /// Shortens the shown names of a table. Names that would be equal to others, shown or not, get their parameters
    /// back, or else their template arguments. If that is not enough, they stay.
    pub(super) fn new(
        profile: &Profile,
        shown: impl IntoIterator<Item = Option<StringId>>,
        all: impl IntoIterator<Item = Option<StringId>>,
    ) -> Self {
        let text = |id: StringId| labels::text(profile.strings.get(id));
        let shown: HashSet<StringId> = shown.into_iter().flatten().collect();
        let shortest: HashSet<String> =
            shown.iter().map(|&id| short_name(&text(id)).into_owned()).collect();
        let words: HashSet<&[u8]> = shortest.iter().map(|name| last_word(name)).collect();
        let all: HashSet<StringId> = all.into_iter().flatten().collect();
        let all: Vec<StringId> = all.into_iter().collect();
        let mut left: Vec<(StringId, String)> = all
            .into_par_iter()
            .filter(|id| shown.contains(id) || has_word(profile.strings.get(*id), &words))
            .map(|id| (id, text(id)))
            .filter(|(_, full)| shortest.contains(&*short_name(full)))
            .collect();
        left.sort_unstable();
        let mut short = HashMap::new();
        let forms: [fn(&str) -> Cow<'_, str>; 3] =
            [short_name, name_with_parameters, name_with_arguments];
        for form in forms {
            let mut by_form: HashMap<String, Vec<(StringId, String)>> = HashMap::new();
            let names = left.par_iter().map(|(_, full)| form(full).into_owned());
            let names: Vec<String> = names.collect();
            for (name, of_name) in names.into_iter().zip(left.drain(..)) {
                by_form.entry(name).or_default().push(of_name);
            }
            for (name, group) in by_form {
                match &*group {
                    [(id, full)] if *full != name => {
                        short.insert(*id, name);
                    }
                    [_] => {}
                    _ => left.extend(group),
                }
            }
        }
        Self(short)
    }

    /// Returns the short name; `None` if the full one is shown.
    pub(super) fn of(&self, name: StringId) -> Option<&str> {
        self.0.get(&name).map(String::as_str)
    }
}

/// Returns the last word of a short name, which every name with this short form contains; empty if it has no word.
fn last_word(short: &str) -> &[u8] {
    short.as_bytes().split(|byte| !is_of_word(*byte)).rfind(|word| !word.is_empty()).unwrap_or(b"")
}

/// Returns true if a name contains one of the words, or if one is empty.
fn has_word(name: &[u8], words: &HashSet<&[u8]>) -> bool {
    words.contains(&b""[..]) || name.split(|byte| !is_of_word(*byte)).any(|it| words.contains(it))
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_parameters_or_stay() {
        let mut profile = Profile::default();
        let mut shown = |names: &[&str]| -> Vec<String> {
            let ids: Vec<_> =
                names.iter().map(|it| profile.strings.intern(it.as_bytes())).collect();
            let all = || ids.iter().copied().map(Some);
            let short = ShortNames::new(&profile, all(), all());
            let text = |(&id, full): (&StringId, &&str)| short.of(id).unwrap_or(full).to_owned();
            ids.iter().zip(names).map(text).collect()
        };
        assert_eq!(shown(&["a::b<int>(int)", "main"]), ["a::b", "main"]);
        assert_eq!(shown(&["f(int)", "f(float) const", "g()"]), ["f(int)", "f(float) const", "g"]);
        let vectors = ["std::vector<int>::size() const", "std::vector<char>::size() const"];
        assert_eq!(shown(&vectors), ["std::vector<int>::size", "std::vector<char>::size"]);
        let nested = ["A<B<int>>::f()", "A<B<char>>::f()"];
        assert_eq!(shown(&nested), nested);
        // A plain name and one that becomes equal to it.
        assert_eq!(shown(&["f", "f(int)"]), ["f", "f(int)"]);
        assert_eq!(shown(&["f<int>()", "f<char>()", "f(int)"]), ["f<int>", "f<char>", "f(int)"]);
    }

    #[test]
    fn names_that_are_not_shown_can_be_equal() {
        let names = ["a::f(int)", "a::f(float)", "g<int>()", "g_(int)", "a::h(int)", "b::h()", ""];
        let mut profile = Profile::default();
        let ids = names.map(|it| profile.strings.intern(it.as_bytes()));
        let shown = [ids[0], ids[2], ids[4]].map(Some);
        let short = ShortNames::new(&profile, shown, ids.map(Some));
        let expected = [Some("a::f(int)"), Some("a::f(float)"), Some("g"), None, Some("a::h")];
        let expected = expected.map(|name| name.filter(|it| !names.contains(it)));
        assert_eq!([0, 1, 2, 3, 4].map(|at| short.of(ids[at])), expected);
        assert_eq!([5, 6].map(|at| short.of(ids[at])), [None; 2]);
    }

    #[test]
    fn names_have_the_last_word_of_their_short_form() {
        for (short, word) in [
            ("a::b_1", "b_1"),
            ("operator()", "operator"),
            ("worker::{lambda#1}", "1"),
            ("größe", "größe"),
            ("<>", ""),
            ("", ""),
        ] {
            assert_eq!(last_word(short), word.as_bytes());
        }
        let words = HashSet::from([&b"size"[..], b"main"]);
        assert!(has_word(b"std::vector<int>::size() const", &words));
        assert!(has_word(b"main", &words));
        assert!(!has_word(b"main_size(mains)", &words));
        assert!(has_word(b"anything", &HashSet::from([&b""[..]])));
    }
}
