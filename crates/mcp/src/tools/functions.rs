//! Functions that a call names.

use profile::Profile;
use profile::query::engine::{RowKey, Selection, TableShape, table};
use profile::query::{FunctionId, FunctionQuery, Functions};

use crate::refusal::Refusal;
use crate::text::safe;

/// Most other functions of a similar name.
pub(super) const OTHERS: usize = 5;

/// Minimum similarity of a suggested name.
const ALIKE: f64 = 0.7;

/// Returns the selected functions that a text names, sorted by decreasing own cost.
pub(super) fn find(
    profile: &Profile,
    selection: &Selection<'_>,
    functions: &Functions,
    text: &str,
) -> Result<Vec<FunctionId>, Refusal> {
    let (rows, _) = table(selection, TableShape::all(options::GroupBy::Function));
    let ids: Vec<FunctionId> = rows
        .iter()
        .filter_map(|row| match row.key {
            RowKey::Function(id) => Some(id),
            _ => None,
        })
        .collect();
    let found = FunctionQuery { profile, functions, text }.find(|is_wanted| {
        let wanted = |id: &&FunctionId| {
            functions.rows.get(**id).is_some_and(|function| is_wanted(**id, function))
        };
        ids.iter().filter(wanted).copied().collect()
    });
    if found.is_empty() { Err(unknown(profile, functions, text)) } else { Ok(found) }
}

/// Returns the refusal of a name, with similar names.
pub(super) fn unknown(profile: &Profile, functions: &Functions, text: &str) -> Refusal {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
    let mut alike: Vec<(f64, String)> = functions
        .rows
        .iter()
        .filter_map(|function| {
            let name = safe(profile.strings.get(function.name?));
            let plain = name.split(['(', '<']).next().unwrap_or(&name);
            let whole = strsim::jaro_winkler(plain, text);
            Some((whole.max(strsim::jaro_winkler(&last(plain), &last(text))), name))
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut names: Vec<String> = alike.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    names.truncate(OTHERS);
    let similar = match names.as_slice() {
        [] => "top lists them".to_owned(),
        names => format!("similar names: {}", names.join(", ")),
    };
    Refusal::new(format!("no counted function has {text:?} in its name; {similar}"))
}
