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
    /// Shortens the names of a table. Names that would be equal get their parameters back, or else their template
    /// arguments. If that is not enough, they stay.
    pub(super) fn new(
        profile: &Profile,
        names: impl IntoIterator<Item = Option<StringId>>,
    ) -> Self {
        let names: HashSet<StringId> = names.into_iter().flatten().collect();
        let names: Vec<StringId> = names.into_iter().collect();
        let text = |id: StringId| (id, labels::text(profile.strings.get(id)));
        let mut left: Vec<(StringId, String)> = names.into_par_iter().map(text).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_parameters_or_stay() {
        let mut profile = Profile::default();
        let mut shown = |names: &[&str]| -> Vec<String> {
            let ids: Vec<_> =
                names.iter().map(|it| profile.strings.intern(it.as_bytes())).collect();
            let short = ShortNames::new(&profile, ids.iter().copied().map(Some));
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
}
