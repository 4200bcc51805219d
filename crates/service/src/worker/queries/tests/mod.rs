//! Comparison of answers with those of a simple model, byte for byte, for random profiles and queries.

mod made_up;
mod model;

use super::rows;
use crate::protocol::{Query, QueryView};
use made_up::{Numbers, profile};
use options::{CostKind, GroupBy, QueryFilter, Weight};
use profile::query::engine::Index;

#[test]
fn answers_are_those_that_counting_each_sample_gives() {
    let mut asked = [0; 2];
    for seed in 1..=60 {
        let mut numbers = Numbers::new(seed);
        let profile = profile(&mut numbers);
        let inlines = numbers.below(2) == 0;
        let index = Index::new(&profile, inlines);
        for _ in 0..60 {
            let query = query(&mut numbers);
            let expected = model::answer(&profile, &query, inlines);
            let answer = rows(&profile, &index, &query).map_err(|problem| problem.detail);
            let answer = answer.map(|answer| serde_json::to_string(&answer).unwrap());
            assert_eq!(answer, expected, "seed {seed}, {query:?}");
            asked[usize::from(answer.is_ok_and(|text| !text.ends_with("\"rows\":[]}")))] += 1;
        }
    }
    // Most queries have a non-empty answer.
    assert!(asked[1] > asked[0], "{asked:?}");
}

/// Rows repeat the paths of modules, which can have any length.
#[test]
fn long_texts_are_cut() {
    let mut profile = profile(&mut Numbers::new(3));
    let long = profile.strings.intern(&vec![b'x'; 65_000]);
    profile.modules.iter_mut().for_each(|module| module.path = long);
    let index = Index::new(&profile, true);
    for view in [QueryView::Top, QueryView::Tree] {
        let query = Query { view, ..Query::default() };
        let text = serde_json::to_string(&rows(&profile, &index, &query).unwrap()).unwrap();
        let cut = format!("\"module\":\"{}…#1442c965\"", "x".repeat(4084));
        assert!(text.contains(&cut) && !text.contains(&"x".repeat(4085)), "{view:?}");
    }
}

/// Returns a random query.
fn query(numbers: &mut Numbers) -> Query {
    let mut some = |all: &[&str]| -> Vec<String> {
        let taken = all.iter().filter(|_| numbers.below(15) == 0);
        taken.map(|text| (*text).to_owned()).collect()
    };
    let filter = QueryFilter {
        comm: some(&["worker", "r1$", "nobody"]),
        focus: some(&["function1", "2$", "3|4"]),
        ignore: some(&["function11", "9$"]),
        hide: some(&["n0$", "n1$", "5", "^function2"]),
        module: some(&["one", "two"]),
        charge: some(&["function3", "6$"]),
        ..QueryFilter::default()
    };
    let filter = QueryFilter {
        time: (numbers.below(3) == 0).then(|| {
            let from = f64::from(numbers.below(40)) / 10.0 - 0.5;
            (from, from + f64::from(numbers.below(30)) / 10.0)
        }),
        threads: (0..numbers.below(12) / 10).map(|_| numbers.below(4) as i32 + 10).collect(),
        processes: (0..numbers.below(12) / 10).map(|_| numbers.below(2) as i32 + 1).collect(),
        event: match numbers.below(12) {
            0 => Some("cycles".to_owned()),
            1 => Some("nothing".to_owned()),
            _ => None,
        },
        collapse_recursion: numbers.below(4) == 0,
        ..filter
    };
    let weights = [Weight::Samples, Weight::Period, Weight::OffCpu];
    Query {
        view: if numbers.below(2) == 0 { QueryView::Top } else { QueryView::Tree },
        group: GroupBy::ALL[numbers.below(GroupBy::ALL.len() as u32) as usize].into(),
        weight: weights[numbers.below(10) as usize / 4].into(),
        filter,
        sort: CostKind::ALL[numbers.below(2) as usize],
        inverted: numbers.below(2) == 0,
        depth: (numbers.below(4) == 0).then(|| numbers.below(4) as usize),
        limit: (numbers.below(2) == 0).then(|| numbers.below(12) as usize + 1),
        min_share: f64::from(numbers.below(3) * numbers.below(10)) / 100.0,
        options: None,
    }
}
