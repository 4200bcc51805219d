//! Profile query received over HTTP. Every part is bounded, since the query is untrusted.

use options::{ChoiceOrValue, CostKind, GroupBy, QueryFilter, Weight};
use profile::query::engine::{EventChoice, Filter};
use serde::{Deserialize, Serialize};

use super::options::RunOptions;
use crate::problem::{Problem, ProblemKind};

/// Maximum number of rows in an answer.
pub(crate) const MOST_ROWS: usize = 10_000;

/// Maximum number of rows of spans, which have histograms.
const MOST_SPAN_ROWS: usize = 1_000;

/// Query on a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Query {
    /// Requested view.
    pub(crate) view: QueryView,
    /// Grouping of samples in a table, or of spans: a choice, or the values of a label, field or variable.
    pub(crate) group: ChoiceOrValue<GroupBy>,
    /// Weight of a sample: a choice, or a field of numbers, or the duration of spans.
    pub(crate) weight: ChoiceOrValue<Weight>,
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
    /// Options of the run, if the query states them instead of the address.
    pub(crate) options: Option<RunOptions>,
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
    /// Durations of spans, one row per name and value.
    Spans,
}

impl Query {
    /// Returns the maximum number of rows of the answer.
    pub(crate) fn rows(&self) -> usize {
        let most = if self.view == QueryView::Spans { MOST_SPAN_ROWS } else { MOST_ROWS };
        self.limit.unwrap_or(most).min(most)
    }

    /// Returns the query as text. Queries with the same answer have equal text.
    pub(crate) fn normalized(&self) -> String {
        let (is_tree, is_top) = (self.view == QueryView::Tree, self.view == QueryView::Top);
        let query = Self {
            view: self.view,
            group: if is_tree { GroupBy::default().into() } else { self.group.clone() },
            weight: self.weight.clone(),
            filter: self.filter.normalized(),
            sort: if is_top { self.sort } else { CostKind::default() },
            inverted: self.inverted && is_tree,
            depth: self.depth.filter(|_| is_tree),
            limit: Some(self.rows()),
            min_share: self.min_share,
            // They are part of the key of the profile.
            options: None,
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
        if self.view == QueryView::Spans {
            let Self { filter, weight, group, .. } = self;
            if *filter != QueryFilter::default() || *weight != Weight::default().into() {
                return bad(
                    "filter and weight have no effect on spans; select their begins by conditions, the option `where`",
                );
            }
            if group.choice().is_some_and(|group| group != GroupBy::default()) {
                return bad(
                    "spans are grouped by a label or field of their begin; omit group for all",
                );
            }
        }
        self.compiled_filter().map(|_| ())
    }

    /// Returns the options of the run that the query needs. `given` are those of the address.
    ///
    /// # Errors
    /// If options are stated twice, or spans are requested that no option describes.
    pub(crate) fn run_options(&mut self, given: RunOptions) -> Result<RunOptions, Problem> {
        let bad = |text: &str| Err(Problem::new(ProblemKind::BadRequest).detail(text));
        let mut options = match self.options.take() {
            None => given,
            Some(options) if given == RunOptions::default() => options,
            Some(_) => return bad("options are in the address or in the body, not in both"),
        };
        if let ChoiceOrValue::Value(field) = &self.weight {
            options.values.weigh_by(field);
        }
        if self.weight() == Weight::OffCpu {
            options.usual.off_cpu = Some(true);
        }
        if self.view != QueryView::Tree
            && let Some(name) = self.group.value()
        {
            options.values.add_values(name);
        }
        if self.view == QueryView::Spans && !options.values.has_spans() {
            return bad("spans need the option span, such as request=server:start,server:done");
        }
        Ok(options)
    }

    /// Returns the weight of a sample. Values of a field are its period.
    pub(crate) fn weight(&self) -> Weight {
        self.weight.choice().unwrap_or(Weight::Period)
    }

    /// Adds the possible groups, and the labels, to the problem of an unknown group.
    pub(crate) fn hinted(&self, mut problem: Problem, options: &RunOptions) -> Problem {
        if !problem.is(ProblemKind::UnknownName) || self.group.value().is_none() {
            return problem;
        }
        let labels = options.values.labels().map(str::to_owned);
        problem.known = problem.known.into_iter().chain(labels).collect();
        let words = GroupBy::WORDS.join(", ");
        problem.hint(format!("group is one of {words}, or a label, field or FUNCTION(PATH)"))
    }

    /// Returns the events to count.
    pub(crate) fn event(&self) -> EventChoice {
        let group = self.group.choice().filter(|_| self.view == QueryView::Top);
        EventChoice::of(group.unwrap_or_default(), self.filter.event.as_deref())
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
            (query.view, query.rows(), query.group),
            (QueryView::Top, 10_000, GroupBy::Function.into())
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
            r#"{"group":"query"}"#,
            r#"{"group":"field:line"}"#,
            r#"{"weight":"bytes"}"#,
            r#"{"view":"spans"}"#,
            r#"{"view":"spans","group":"query"}"#,
        ];
        let texts: std::collections::BTreeSet<String> = all.into_iter().map(text).collect();
        assert_eq!(texts.len(), all.len());
    }

    #[test]
    fn options_follow_from_the_question() {
        let text = r#"{"group":"query","weight":"bytes","options":{"label":"query=p:r/query"}}"#;
        let mut query = parsed(text).unwrap();
        let options = query.run_options(RunOptions::default()).unwrap();
        let values = serde_json::to_value(options.values.to_object()).unwrap();
        let expected = r#"{"label":["query=p:r/query"],"weight_field":"bytes"}"#;
        assert_eq!((values.to_string().as_str(), query.weight()), (expected, Weight::Period));
        assert_eq!(query.options, None);
        let mut twice = parsed(text).unwrap();
        assert!(twice.run_options(options).is_err());
        let mut field = parsed(r#"{"group":"field:line"}"#).unwrap();
        let options = field.run_options(RunOptions::default()).unwrap();
        assert_eq!(options.values.to_object()["with_fields"], serde_json::json!(["line"]));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for text in [
            r#"{"vieww":"top"}"#,
            r#"{"view":"sideways"}"#,
            r#"{"view":"spans","group":"line"}"#,
            r#"{"view":"spans","filter":{"comm":["a"]}}"#,
            r#"{"options":{"sysroot":"/"}}"#,
            r#"{"min_share":2}"#,
            r#"{"filter":{"time":[2,1]}}"#,
            r#"{"filter":{"focus":["("]}}"#,
            r#"{"filter":{"focus":["(a{1000}){1000}"]}}"#,
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
        let mut spans = parsed(r#"{"view":"spans"}"#).unwrap();
        assert!(spans.run_options(RunOptions::default()).is_err());
        let long = format!(r#"{{"filter":{{"hide":["{}"]}}}}"#, "a".repeat(1025));
        assert_eq!(parsed(&long).unwrap_err(), "a pattern of more than 1024 bytes");
    }
}
