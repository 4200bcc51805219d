//! Filters of functions: applied to the profile of a run, before anything is printed.

use std::cmp::Reverse;

use anyhow::bail;
use hashbrown::HashSet;
use profile::{Profile, StringId};

use crate::args::{FunctionArgs, LIKE_ENOUGH, likeness};
use crate::terminal::shown;

/// Maximum number of similar names that are listed.
const NAMED: usize = 5;

/// Applies the filters of the arguments, if there are any. With `inlines`, inlined functions are separate functions.
///
/// # Errors
/// If they leave no sample; the message lists similar names, or the filters to change.
pub(crate) fn filter_functions(
    profile: &mut Profile,
    args: &FunctionArgs,
    inlines: bool,
) -> anyhow::Result<()> {
    let filter = args.filter()?;
    let counts = profile.filter_functions(&filter, inlines);
    if counts.left > 0 || counts.before == 0 {
        return Ok(());
    }
    let focus = args.focus_patterns()?;
    let names = names(profile);
    if !focus.is_empty() && !names.iter().any(|name| focus.are_in(name)) {
        let texts: Vec<String> =
            args.focus.iter().map(|text| format!("'{}'", shown(text))).collect();
        let similar = similar(&args.focus, &names);
        let help = if similar.is_empty() {
            "unwind-perf top lists the functions".to_owned()
        } else {
            format!("similar: {}", similar.join(", "))
        };
        bail!("no function matches --focus {}; {help}", texts.join(" or "));
    }
    let given = |option: &str, texts: &[String]| -> Vec<String> {
        texts.iter().map(|text| format!("{option} '{}'", shown(text))).collect()
    };
    let filters = [given("--focus", &args.focus), given("--ignore", &args.ignore)].concat();
    bail!(
        "no sample passes the filters: none of {} samples passes {}",
        counts.before,
        filters.join(" ")
    )
}

/// Returns the names of all functions.
fn names(profile: &Profile) -> Vec<&[u8]> {
    let mut seen: HashSet<StringId> = HashSet::new();
    let ids = profile.inlines.iter().filter_map(|row| row.function);
    ids.filter(|&id| seen.insert(id)).map(|id| profile.strings.get(id)).collect()
}

/// Returns names that resemble a word of the patterns, the most similar first.
fn similar(patterns: &[String], names: &[&[u8]]) -> Vec<String> {
    let words: Vec<String> = patterns.iter().filter_map(|pattern| longest_word(pattern)).collect();
    let mut found: Vec<(f64, String)> = Vec::new();
    for name in names {
        let name = String::from_utf8_lossy(name);
        let lower = name.to_lowercase();
        let of_word = |word: &String| {
            if lower.contains(word.as_str()) {
                return 1.0;
            }
            let parts = lower.split(|letter| !is_of_word(letter));
            parts.map(|part| likeness(part, word)).fold(0.0, f64::max)
        };
        let alike = words.iter().map(of_word).fold(0.0, f64::max);
        if alike >= LIKE_ENOUGH {
            found.push((alike, shown(&name)));
        }
    }
    // Of equally similar names, the shortest has the fewest other words.
    found.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(&b.1))
    });
    found.into_iter().take(NAMED).map(|(_, name)| name).collect()
}

/// Returns the longest word of a pattern in lower case.
fn longest_word(pattern: &str) -> Option<String> {
    let words = pattern.split(|letter| !is_of_word(letter)).filter(|word| word.len() > 1);
    words.min_by_key(|word| Reverse(word.len())).map(str::to_lowercase)
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_listed() {
        let names: [&[u8]; 5] =
            [b"ns::parse_line(int)", b"main", b"Parser::run", b"spin.constprop.0", b"<f as g>::h"];
        let similar_to = |pattern: &str| similar(&[pattern.to_owned()], &names);
        assert_eq!(similar_to("^PARSE"), ["Parser::run", "ns::parse_line(int)"]);
        assert_eq!(similar_to("^mian$"), ["main"]);
        assert_eq!(similar_to("spni"), ["spin.constprop.0"]);
        assert_eq!(similar_to("zzz"), [""; 0]);
        assert_eq!(similar_to("^.$"), [""; 0]);
    }
}
