//! Paths of jumps from one function to another.

use crate::join::CodeContext;
use crate::tails::files::{BoundFunction, FdeRange, FileAddress, FileLookups};
use crate::tails::units::{Callee, Unit, Units};

/// A function that left by a tail call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TailCaller {
    pub(super) function: FdeRange,
    /// Its jump; `None` if several of its jumps are possible.
    pub(super) site: Option<FileAddress>,
}

/// Functions between a call's target and the running function, outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Between {
    /// None: the call targets the running function, or the code is unclear.
    Nothing,
    /// The only path.
    Path(Vec<TailCaller>),
    /// Common start and end of all paths, if there are several paths or some are unknown.
    Several(Vec<TailCaller>, Vec<TailCaller>),
    /// All paths are known, and none leads there.
    NoPath,
}

/// Search for paths.
pub(super) struct PathSearch<'s> {
    pub(super) files: &'s mut FileLookups,
    pub(super) units: &'s mut Units,
    pub(super) code: CodeContext<'s>,
}

/// Intermediate result of a search.
struct SearchState {
    paths: Vec<Vec<TailCaller>>,
    /// Functions of a path with a later jump back to them: each may have run several times.
    circles: Vec<FdeRange>,
    /// Number of functions that may still be visited.
    left: usize,
}

/// Not all paths can be determined: one leads through a register, or there are too many.
#[derive(Debug)]
struct UnknownPaths;

/// Maximum number of functions on a path.
const LONGEST: usize = 8;
const MOST_PATHS: usize = 32;
/// Maximum number of functions that a search visits.
const MOST_STEPS: usize = 256;

impl PathSearch<'_> {
    /// Returns the functions between the called one and an address of the running function.
    pub(super) fn between(&mut self, called: FdeRange, goal: FileAddress) -> Between {
        let unit = self.units.get(called, self.files, self.code);
        if unit.contains(goal.file, goal.svma) {
            return Between::Nothing;
        }
        if unit.is_unclear {
            return Between::Nothing;
        }
        let mut found = SearchState { paths: Vec::new(), circles: Vec::new(), left: MOST_STEPS };
        if self.follow(called, &unit, goal, &mut Vec::new(), &mut found).is_err() {
            // All paths begin with the called function.
            let called = TailCaller { function: called, site: None };
            return Between::Several(vec![called], Vec::new());
        }
        let is_in_circle = |left: &TailCaller| found.circles.contains(&left.function);
        let has_circle = found.paths.iter().flatten().any(is_in_circle);
        match &found.paths[..] {
            [] => Between::NoPath,
            [_] if !has_circle => Between::Path(found.paths.swap_remove(0)),
            [path] => around(path.clone(), path.clone(), &found.circles),
            paths => {
                let (before, after) = common(paths);
                around(before, after, &found.circles)
            }
        }
    }

    /// Follows the jumps of a function, which is the last of the path.
    fn follow(
        &mut self,
        function: FdeRange,
        unit: &Unit,
        goal: FileAddress,
        path: &mut Vec<TailCaller>,
        found: &mut SearchState,
    ) -> Result<(), UnknownPaths> {
        if unit.is_open || unit.is_unclear {
            return Err(UnknownPaths);
        }
        let mut done: Vec<FdeRange> = Vec::new();
        for tail in &unit.tails {
            let next = match tail.to {
                Callee::Function(next) => Some(next),
                Callee::Symbol(name) => match self.files.symbol(name, goal.file, self.code) {
                    BoundFunction::Function(next) => Some(next),
                    BoundFunction::Elsewhere | BoundFunction::Unknown => None,
                },
            };
            let next = next.ok_or(UnknownPaths)?;
            if next == function || path.iter().any(|left| left.function == next) {
                found.circles.push(next);
                continue;
            }
            if done.contains(&next) {
                continue;
            }
            done.push(next);
            if found.left == 0 || path.len() + 1 >= LONGEST || found.paths.len() >= MOST_PATHS {
                return Err(UnknownPaths);
            }
            found.left -= 1;
            let others = unit.tails.iter().filter(|other| other.to == tail.to).count();
            let site =
                (others == 1).then_some(FileAddress { file: function.file, svma: tail.site });
            path.push(TailCaller { function, site });
            let unit = self.units.get(next, self.files, self.code);
            if unit.contains(goal.file, goal.svma) {
                found.paths.push(path.clone());
            } else {
                self.follow(next, &unit, goal, path, found)?;
            }
            path.pop();
        }
        Ok(())
    }
}

/// Truncates the common ends of all paths at the functions that may have run several times.
fn around(
    mut before: Vec<TailCaller>,
    mut after: Vec<TailCaller>,
    circles: &[FdeRange],
) -> Between {
    let is_in_circle = |left: &TailCaller| circles.contains(&left.function);
    if let Some(first) = before.iter().position(is_in_circle) {
        before.truncate(first + 1);
        // It left either by its forward jump or by the one in the circle.
        before.iter_mut().skip(first).for_each(|left| left.site = None);
    }
    if let Some(last) = after.iter().rposition(is_in_circle) {
        after.drain(..=last);
    }
    Between::Several(before, after)
}

/// Returns the common start and the common end of all paths.
fn common(paths: &[Vec<TailCaller>]) -> (Vec<TailCaller>, Vec<TailCaller>) {
    let Some((first, others)) = paths.split_first() else { return Default::default() };
    let shared = |from_end: bool| {
        let at = |path: &Vec<TailCaller>, index: usize| {
            let index = if from_end { path.len().checked_sub(index + 1)? } else { index };
            path.get(index).copied()
        };
        let is_shared = |&index: &usize| {
            let function = |path| at(path, index).map(|left| left.function);
            others.iter().all(|other| function(other) == function(first))
        };
        (0..first.len())
            .take_while(is_shared)
            .filter_map(|index| {
                let mut left = at(first, index)?;
                let is_one = others
                    .iter()
                    .all(|other| at(other, index).map(|it| it.site) == Some(left.site));
                left.site = left.site.filter(|_| is_one);
                Some(left)
            })
            .collect::<Vec<_>>()
    };
    let prefix = shared(false);
    let mut suffix = shared(true);
    suffix.reverse();
    let shortest = paths.iter().map(Vec::len).min().unwrap_or(0);
    suffix.drain(..suffix.len().saturating_sub(shortest.saturating_sub(prefix.len())));
    (prefix, suffix)
}
