//! The filter of a query on a profile.

use serde::{Deserialize, Serialize};

/// Samples and functions that a query covers. An empty list selects all.
///
/// Functions, modules and thread names are given by regular expressions, and one of them has to match a part of the
/// text.
/// First `focus` and `ignore` select recorded stacks. Then `hide`, `module`, `charge` and `collapse_recursion` remove
/// functions from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueryFilter {
    /// Begin and end, in seconds from the first sample.
    pub time: Option<(f64, f64)>,
    /// Thread ids.
    pub threads: Vec<i32>,
    /// Process ids.
    pub processes: Vec<i32>,
    /// Names of threads.
    pub comm: Vec<String>,
    /// Name of the event; by default the first with samples.
    pub event: Option<String>,
    /// Functions: only stacks with one of them count.
    pub focus: Vec<String>,
    /// Functions: stacks with one of them do not count.
    pub ignore: Vec<String>,
    /// Functions to remove from the stacks; their own cost goes to their callers.
    pub hide: Vec<String>,
    /// Modules: functions of other modules are removed from the stacks.
    pub module: Vec<String>,
    /// Functions to remove from the stacks together with their callees; the cost goes to their callers.
    pub charge: Vec<String>,
    /// If true, a recursive call is removed together with the functions between it and the outermost one, which becomes
    /// the caller of its callees.
    pub collapse_recursion: bool,
}

impl QueryFilter {
    /// The lists of patterns.
    #[must_use]
    pub const fn patterns(&self) -> [&Vec<String>; 6] {
        let Self { comm, focus, ignore, hide, module, charge, .. } = self;
        [comm, focus, ignore, hide, module, charge]
    }

    /// Returns the filter with each list sorted and without duplicates, which makes filters with the same meaning
    /// equal.
    #[must_use]
    pub fn normalized(&self) -> Self {
        fn sorted<T: Clone + Ord>(list: &[T]) -> Vec<T> {
            let mut list = list.to_vec();
            list.sort();
            list.dedup();
            list
        }
        Self {
            time: self.time,
            threads: sorted(&self.threads),
            processes: sorted(&self.processes),
            comm: sorted(&self.comm),
            event: self.event.clone(),
            focus: sorted(&self.focus),
            ignore: sorted(&self.ignore),
            hide: sorted(&self.hide),
            module: sorted(&self.module),
            charge: sorted(&self.charge),
            collapse_recursion: self.collapse_recursion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_the_same_meaning_are_equal_when_normalized() {
        let read = |text: &str| serde_json::from_str::<QueryFilter>(text);
        let one = read(r#"{"focus":["b","a","b"],"threads":[2,1]}"#).unwrap();
        let other = read(r#"{"threads":[1,2,2],"focus":["a","b"]}"#).unwrap();
        assert_ne!(one, other);
        assert_eq!(one.normalized(), other.normalized());
        assert!(read(r#"{"focuss":["a"]}"#).is_err());
    }
}
