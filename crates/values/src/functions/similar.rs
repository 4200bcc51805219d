//! Names that a misspelt one may mean.

/// Maximum number of names that are suggested.
const MAX_NAMES: usize = 5;
/// Longest name that is compared letter by letter.
const MAX_LETTERS: usize = 128;

/// The names closest to a name, best first.
#[derive(Clone, Debug)]
pub(crate) struct Closest<'t> {
    target: &'t str,
    /// Distance and name, sorted.
    found: Vec<(usize, String)>,
}

/// Returns the names that are close to `target`, best first.
pub(crate) fn closest<'n>(target: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut closest = Closest::new(target);
    names.for_each(|name| closest.add(name, name));
    closest.into_names()
}

impl<'t> Closest<'t> {
    /// Creates the list for a name.
    pub(crate) const fn new(target: &'t str) -> Self {
        Self { target, found: Vec::new() }
    }

    /// Considers a name; `shown` is its form in the list.
    pub(crate) fn add(&mut self, name: &str, shown: &str) {
        let Some(distance) = self.distance(name) else { return };
        let entry = (distance, shown.to_owned());
        if let Err(at) = self.found.binary_search(&entry) {
            self.found.insert(at, entry);
            self.found.truncate(MAX_NAMES);
        }
    }

    /// Returns the names, best first.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.found.into_iter().map(|(_, name)| name).collect()
    }

    /// Number of changed letters; `None` if the names have little in common.
    fn distance(&self, name: &str) -> Option<usize> {
        let worst = (self.target.len() / 3).max(1);
        if name.len().min(self.target.len()) > MAX_LETTERS {
            return None;
        }
        if name.len().abs_diff(self.target.len()) <= worst {
            let distance = changes(self.target.as_bytes(), name.as_bytes());
            if distance <= worst {
                return Some(distance);
            }
        }
        let is_part = self.target.len() >= 3 && name.contains(self.target);
        is_part.then(|| worst + name.len() - self.target.len())
    }
}

/// Number of inserted, removed and replaced bytes between two names, ignoring the case of letters.
fn changes(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, a) in one.iter().enumerate() {
        let mut before = index;
        let mut left = index + 1;
        for (b, cell) in other.iter().zip(row.iter_mut().skip(1)) {
            let replaced = before + usize::from(!a.eq_ignore_ascii_case(b));
            before = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        let names = ["handle", "handler", "Handle", "handle_request", "other", "candle"];
        let found = closest("handel", names.into_iter());
        assert_eq!(found, ["Handle", "handle", "handler"]);
        assert_eq!(
            closest("handle", names.into_iter()).first().map(String::as_str),
            Some("Handle")
        );
        assert_eq!(closest("request", names.into_iter()), ["handle_request"]);
        assert_eq!(closest("zzzz", names.into_iter()), Vec::<String>::new());
    }

    #[test]
    fn changes_are_counted() {
        let count = |one: &str, other: &str| changes(one.as_bytes(), other.as_bytes());
        assert_eq!(
            [count("abc", "abc"), count("abc", "abd"), count("abc", "ab"), count("", "ab")],
            [0, 1, 1, 2]
        );
    }
}
