//! Profile query received over HTTP. Every part is bounded, since the query is untrusted.

use options::{CostKind, GroupBy, QueryFilter, Weight};
use profile::query::engine::{EventChoice, Filter};
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, ProblemKind};

/// Maximum number of rows in an answer.
pub(crate) const MOST_ROWS: usize = 10_000;

/// Query on a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Query {
    /// Requested view.
    pub(crate) view: QueryView,
    /// Grouping of samples in a table.
    pub(crate) group: GroupBy,
    /// Weight of a sample.
    pub(crate) weight: Weight,
    /// Filter for samples.
    pub(crate) filter: QueryFilter,
    /// Cost that determines the order of a table.
    pub(crate) sort: CostKind,
    /// True if a tree starts with the innermost functions.
    pub(crate) inverted: bool,
    /// Maximum depth of a tree.
    pub(crate) depth: Option<usize>,
    /// Maximum number of rows.
    pub(crate) limit: Option<usize>,
    /// Minimum share of the total that a row must have, from 0 to 1.
    pub(crate) min_share: f64,
}

/// Requested view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueryView {
    /// Table of the costliest functions or groups.
    #[default]
    Top,
    /// Call tree, one row per node.
    Tree,
}

impl Query {
    /// Returns the maximum number of rows of the answer.
    pub(crate) fn rows(&self) -> usize {
        self.limit.unwrap_or(MOST_ROWS).min(MOST_ROWS)
    }

    /// Returns the query as text. Queries with the same answer have equal text.
    pub(crate) fn normalized(&self) -> String {
        let is_tree = self.view == QueryView::Tree;
        let query = Self {
            view: self.view,
            group: if is_tree { GroupBy::default() } else { self.group },
            weight: self.weight,
            filter: self.filter.normalized(),
            sort: if is_tree { CostKind::default() } else { self.sort },
            inverted: self.inverted && is_tree,
            depth: self.depth.filter(|_| is_tree),
            limit: Some(self.rows()),
            min_share: self.min_share,
        };
        // Serialization fails only for maps with non-string keys; there are none.
        serde_json::to_string(&query).unwrap_or_default()
    }

    /// Checks that the query can be answered.
    ///
    /// # Errors
    /// If a pattern is invalid or too large, or a number is out of range.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let bad = |text: &str| Err(Problem::new(ProblemKind::BadRequest).detail(text));
        if !(0.0..=1.0).contains(&self.min_share) {
            return bad("min_share is a number from 0 to 1");
        }
        if self.filter.time.is_some_and(|(from, to)| from.is_nan() || to.is_nan() || from > to) {
            return bad("time is [from, to] in seconds");
        }
        self.compiled_filter().map(|_| ())
    }

    /// Returns the events to count.
    pub(crate) fn event(&self) -> EventChoice {
        let group = if self.view == QueryView::Tree { GroupBy::default() } else { self.group };
        EventChoice::of(group, self.filter.event.as_deref())
    }

    /// Compiles the patterns of the filter.
    ///
    /// # Errors
    /// If a pattern is invalid or too large, or there are too many.
    pub(crate) fn compiled_filter(&self) -> Result<Filter, Problem> {
        Filter::bounded(&self.filter)
            .map_err(|text| Problem::new(ProblemKind::BadRequest).detail(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Query, String> {
        let query: Query = serde_json::from_str(text).map_err(|error| error.to_string())?;
        query.check().map_err(|problem| problem.detail.unwrap_or_default())?;
        Ok(query)
    }

    #[test]
    fn an_empty_question_asks_for_the_top() {
        let query = parsed("{}").unwrap();
        assert_eq!(
            (query.view, query.group, query.rows()),
            (QueryView::Top, GroupBy::Function, 10_000)
        );
        assert_eq!(parsed(r#"{"limit":3}"#).unwrap().rows(), 3);
        assert_eq!(parsed(r#"{"limit":30000}"#).unwrap().rows(), 10_000);
    }

    #[test]
    fn questions_that_have_the_same_answer_are_the_same_text() {
        let text = |question: &str| parsed(question).unwrap().normalized();
        let one = r#"{"filter":{"focus":["b","a","b"],"threads":[2,1]},"depth":3,"inverted":true}"#;
        let other = r#"{"limit":20000,"filter":{"threads":[1,2,2],"focus":["a","b"]}}"#;
        assert_eq!(text(one), text(other));
        assert_eq!(text(r#"{"view":"tree","group":"line"}"#), text(r#"{"view":"tree"}"#));
        let all = [
            "{}",
            r#"{"limit":3}"#,
            r#"{"group":"line"}"#,
            r#"{"weight":"period"}"#,
            r#"{"min_share":0.5}"#,
            r#"{"view":"tree"}"#,
            r#"{"view":"tree","inverted":true}"#,
            r#"{"view":"tree","depth":3}"#,
            r#"{"filter":{"time":[0,1]}}"#,
            r#"{"filter":{"event":"a"}}"#,
            r#"{"filter":{"focus":["a"]}}"#,
            r#"{"filter":{"ignore":["a"]}}"#,
            r#"{"filter":{"hide":["a"]}}"#,
            r#"{"filter":{"module":["a"]}}"#,
            r#"{"filter":{"comm":["a"]}}"#,
            r#"{"filter":{"threads":[1]}}"#,
            r#"{"filter":{"processes":[1]}}"#,
            r#"{"filter":{"charge":["a"]}}"#,
            r#"{"filter":{"collapse_recursion":true}}"#,
            r#"{"sort":"inclusive"}"#,
        ];
        let texts: std::collections::BTreeSet<String> = all.into_iter().map(text).collect();
        assert_eq!(texts.len(), all.len());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for text in [
            r#"{"vieww":"top"}"#,
            r#"{"view":"sideways"}"#,
            r#"{"group":"colour"}"#,
            r#"{"min_share":2}"#,
            r#"{"filter":{"time":[2,1]}}"#,
            r#"{"filter":{"focus":["("]}}"#,
            r#"{"filter":{"focus":["(a{1000}){1000}"]}}"#,
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
        let long = format!(r#"{{"filter":{{"hide":["{}"]}}}}"#, "a".repeat(1025));
        assert_eq!(parsed(&long).unwrap_err(), "a pattern of more than 1024 bytes");
    }
}
