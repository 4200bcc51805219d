//! Look-up of the function that the user's text names.

use demangle::{name_with_arguments, name_with_parameters, short_name};

use crate::profile::Profile;
use crate::query::functions::{Function, FunctionId, Functions};
use crate::query::marks::FunctionMarks;
use crate::tables::{LocationRow, Table};

/// Predicate: returns true if a function matches one form of the user's text.
pub type FunctionPredicate<'w> = &'w dyn Fn(FunctionId, &Function) -> bool;

/// The user's text, and the functions to search.
#[derive(Clone, Copy, Debug)]
pub struct FunctionQuery<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Its functions.
    pub functions: &'a Functions,
    /// The text.
    pub text: &'a str,
}

/// Returns true if a table shows a function as this text.
fn is_short(name: &[u8], text: &str) -> bool {
    let forms = [short_name, name_with_parameters, name_with_arguments];
    !text.is_empty()
        && std::str::from_utf8(name).is_ok_and(|name| forms.iter().any(|form| form(name) == text))
}

impl FunctionQuery<'_> {
    /// Returns the functions that the text names, by the first of these forms that matches:
    /// name and mark, full name, short name, `FILE:NAME`, address, part of a name.
    /// `matching` returns the functions that a predicate accepts.
    pub fn find<T>(&self, matching: impl Fn(FunctionPredicate<'_>) -> Vec<T>) -> Vec<T> {
        let text = self.text.as_bytes();
        let name = |it: &Function| it.name.map_or(&b""[..], |name| self.profile.strings.get(name));
        let by_mark = |_, it: &Function| {
            let parts = self.text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
            parts.is_some_and(|(own, mark)| {
                !mark.is_empty()
                    && (name(it) == own.as_bytes() || is_short(name(it), own))
                    && FunctionMarks::fits(self.profile, it, mark)
            })
        };
        let by_name = |_, it: &Function| !text.is_empty() && name(it) == text;
        let without_parameters = |_, it: &Function| {
            name(it).strip_prefix(text).is_some_and(|rest| rest.first() == Some(&b'('))
                || is_short(name(it), self.text)
        };
        let in_file = |_, it: &Function| self.is_in_file(it, name(it));
        let starts = self.at_address();
        let at_address = |id, _: &Function| starts.get(id) == Some(&true);
        let contains = |_, it: &Function| {
            !text.is_empty() && name(it).windows(text.len()).any(|part| part == text)
        };
        let predicates: [FunctionPredicate<'_>; 6] =
            [&by_mark, &by_name, &without_parameters, &in_file, &at_address, &contains];
        let found = predicates.into_iter().map(matching);
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns true if the text is `FILE:NAME` and `FILE` is the end of the path of the function's file.
    fn is_in_file(&self, function: &Function, name: &[u8]) -> bool {
        let Some(file) = function.file else { return false };
        let path = self.profile.strings.get(file);
        let own = |rest: &[u8]| {
            rest == name || name.strip_prefix(rest).is_some_and(|rest| rest.starts_with(b"("))
        };
        let text = self.text.as_bytes();
        let colons = text.iter().enumerate().filter(|(_, byte)| **byte == b':');
        colons.into_iter().any(|(at, _)| {
            let (wanted, rest) = text.split_at(at);
            let front = path.strip_suffix(wanted).filter(|_| !wanted.is_empty());
            front.is_some_and(|front| front.is_empty() || front.ends_with(b"/"))
                && rest.get(1..).is_some_and(own)
        })
    }

    /// Returns, by function, true if its code starts at the address in the text or was sampled there.
    fn at_address(&self) -> Table<FunctionId, bool> {
        let mut found = Table::from_vec(vec![false; self.functions.rows.len()]);
        let digits = self.text.strip_prefix("0x");
        let Some(address) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) else {
            return found;
        };
        let is_at = |row: &LocationRow| {
            let start = row.function_offset.and_then(|offset| row.relative.checked_sub(offset));
            start == Some(address) || row.relative == address
        };
        for (location, _) in self.profile.locations.entries().filter(|(_, row)| is_at(row)) {
            let outermost = self.functions.at(location).last();
            if let Some(slot) = outermost.and_then(|at| found.get_mut(at.function)) {
                *slot = true;
            }
        }
        found
    }
}
