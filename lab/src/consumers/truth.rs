//! Costs of functions from our own folded stacks, and the comparison of a consumer's costs with them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::TOP;

/// Name of a frame without one.
const NAMELESS: &str = "[no name]";

/// Costs by name: of the function itself, and inclusive of its callees, with each sample counted once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Costs {
    pub(super) own: BTreeMap<String, u64>,
    pub(super) inclusive: BTreeMap<String, u64>,
}

impl Costs {
    /// Reads `own<tab>inclusive<tab>name` lines.
    pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut costs = Self::default();
        for line in lines {
            let mut parts = line.splitn(3, '\t');
            let mut number = || parts.next().and_then(|text| text.parse::<u64>().ok());
            let (Some(own), Some(inclusive)) = (number(), number()) else { bail!("{line}") };
            // Our folded stacks cannot contain a semicolon in a name.
            let name = parts.next().unwrap_or_default().replace(';', ":");
            *costs.own.entry(name.clone()).or_default() += own;
            *costs.inclusive.entry(name).or_default() += inclusive;
        }
        Ok(costs)
    }
}

/// Costs of our own output.
#[derive(Debug, Default)]
pub(super) struct Truth {
    pub(super) total: u64,
    pub(super) costs: Costs,
}

/// Returns true for a placeholder of code without a name: its module or a word in brackets.
fn is_nameless(name: &str) -> bool {
    name.starts_with('[') && name.ends_with(']')
}

impl Truth {
    /// Reads folded stacks without roots.
    pub(super) fn of_folded(text: &str) -> Result<Self> {
        let mut truth = Self::default();
        for line in text.lines() {
            let (stack, weight) = line.rsplit_once(' ').context("no weight")?;
            let weight: u64 = weight.parse().with_context(|| line.to_owned())?;
            truth.total += weight;
            truth.add(stack.rsplit(';').map(str::to_owned).collect(), weight);
        }
        Ok(truth)
    }

    /// Reads the lines of samples of all events; each sample counts once.
    pub(super) fn of_samples(text: &str) -> Result<Self> {
        let mut truth = Self::default();
        for line in text.lines() {
            let sample: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
            let Some(frames) = sample.get("frames").and_then(Value::as_array) else { continue };
            let name = |frame: &Value| match frame.get("function").and_then(Value::as_str) {
                Some(name) => name.replace(';', ":"),
                None => NAMELESS.to_owned(),
            };
            truth.total += 1;
            truth.add(frames.iter().map(name).collect(), 1);
        }
        Ok(truth)
    }

    /// Adds a chain, leaf first.
    fn add(&mut self, mut names: Vec<String>, weight: u64) {
        if let Some(leaf) = names.first() {
            *self.costs.own.entry(leaf.clone()).or_default() += weight;
        }
        names.sort_unstable();
        names.dedup();
        for name in names {
            *self.costs.inclusive.entry(name).or_default() += weight;
        }
    }

    /// Compares the total and the most costly functions. A consumer without a table of functions passes an empty table,
    /// which is not compared; a missing function is a difference.
    pub(super) fn compare(&self, total: u64, theirs: &Costs) -> Result<String> {
        self.compare_named(total, theirs, |name| !is_nameless(name))
    }

    /// Same as [`Self::compare`], for consumers that omit or shorten names that start with a parenthesis, as in
    /// anonymous namespaces. The text of perf script writes names of processes in that form.
    pub(super) fn compare_text(&self, total: u64, theirs: &Costs) -> Result<String> {
        self.compare_named(total, theirs, |name| !is_nameless(name) && !name.starts_with('('))
    }

    fn compare_named(
        &self,
        total: u64,
        theirs: &Costs,
        is_named: fn(&str) -> bool,
    ) -> Result<String> {
        if total != self.total {
            bail!("the total is {total}, ours {}", self.total);
        }
        let own = compare_top("own", (&self.costs.own, &theirs.own), is_named)?;
        let inclusive =
            compare_top("inclusive", (&self.costs.inclusive, &theirs.inclusive), is_named)?;
        Ok(format!("total {total}, {own} own and {inclusive} inclusive costs agree"))
    }
}

fn compare_top(
    what: &str,
    (ours, theirs): (&BTreeMap<String, u64>, &BTreeMap<String, u64>),
    is_named: fn(&str) -> bool,
) -> Result<usize> {
    if theirs.is_empty() {
        return Ok(0);
    }
    let mut top: Vec<(&String, &u64)> = ours.iter().filter(|(name, _)| is_named(name)).collect();
    top.sort_by_key(|&(name, &cost)| (std::cmp::Reverse(cost), name));
    top.truncate(TOP);
    for &(name, &cost) in &top {
        let found = theirs.get(name).copied();
        if found != Some(cost) {
            bail!("{what} cost of {name}: {found:?}, ours {cost}");
        }
    }
    Ok(top.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_all_events_count() {
        let text = concat!(
            "{\"event\":\"a\",\"frames\":[{\"function\":\"f;g\"},{\"module\":\"m\"},{\"function\":\"main\"}]}\n",
            "{\"event\":\"b\",\"frames\":[{\"function\":\"main\"}]}\n",
            "{\"summary\":{}}\n",
        );
        let truth = Truth::of_samples(text).unwrap();
        assert_eq!(truth.total, 2);
        assert_eq!((truth.costs.own["f:g"], truth.costs.own["main"]), (1, 1));
        assert_eq!((truth.costs.inclusive["main"], truth.costs.inclusive[NAMELESS]), (2, 1));
    }

    #[test]
    fn recursion_counts_once_and_differences_are_told() {
        let truth = Truth::of_folded("a;b c;a 3\na 2\n[no frames] 1\n").unwrap();
        assert_eq!(truth.total, 6);
        assert_eq!(truth.costs.own["a"], 5);
        assert_eq!(truth.costs.inclusive["a"], 5);
        assert_eq!(truth.costs.inclusive["b c"], 3);
        let mut theirs = truth.costs.clone();
        let reported = truth.compare(6, &theirs).unwrap();
        assert_eq!(reported, "total 6, 1 own and 2 inclusive costs agree");
        theirs.inclusive.insert("a".to_owned(), 8);
        let error = truth.compare(6, &theirs).unwrap_err().to_string();
        assert_eq!(error, "inclusive cost of a: Some(8), ours 5");
        assert_eq!(truth.compare(5, &theirs).unwrap_err().to_string(), "the total is 5, ours 6");
    }
}
