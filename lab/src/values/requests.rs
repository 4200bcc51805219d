//! The requests for all variables of a program that gdb names.

use std::collections::BTreeMap;

use ::values::{Error, Path as ValuePath, Request};

use super::theirs::{Function, Run};

/// Requests of a program, by function and path.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// All that can be parsed.
    pub(super) all: Vec<Request>,
    indexes: BTreeMap<(String, String), Result<usize, String>>,
}

impl Requests {
    /// Returns the requests for the variables of a run.
    pub(super) fn of(run: &Run) -> Self {
        let mut requests = Self::default();
        for function in run.stops.iter().flat_map(|it| &it.frames).flat_map(|it| &it.functions) {
            for path in function.variables.iter().filter_map(|variable| variable.first()) {
                requests.add(plain(&function.name), path);
            }
        }
        requests
    }

    fn add(&mut self, name: String, path: &str) {
        let all = &mut self.all;
        self.indexes.entry((name.clone(), path.to_owned())).or_insert_with(|| {
            let path = ValuePath::parse(path)?;
            all.push(Request { function: name, path });
            Ok(all.len() - 1)
        });
    }

    /// Replaces requests by their errors, which are in the same order.
    pub(super) fn refuse(&mut self, errors: &[Option<Error>]) {
        for index in self.indexes.values_mut() {
            let Ok(at) = *index else { continue };
            if let Some(Some(error)) = errors.get(at) {
                *index = Err(error.to_string());
            }
        }
    }

    /// Returns the request for a variable of a function, or the reason that there is none.
    pub(super) fn index(&self, name: &str, path: &str) -> Result<usize, String> {
        let index = self.indexes.get(&(name.to_owned(), path.to_owned()));
        index.cloned().unwrap_or_else(|| Err("no request".to_owned()))
    }

    /// Returns the requests with a variable, by index.
    pub(super) fn answered(&self) -> Vec<(usize, &Request)> {
        let mut found: Vec<usize> =
            self.indexes.values().filter_map(|it| it.clone().ok()).collect();
        found.sort_unstable();
        found.into_iter().filter_map(|at| Some((at, self.all.get(at)?))).collect()
    }
}

impl Function {
    /// Name without parameters.
    pub(super) fn plain(&self) -> String {
        plain(&self.name)
    }
}

/// Returns a name without its parameters.
fn plain(name: &str) -> String {
    let name = name.replace("(anonymous namespace)::", "");
    let (mut depth, mut end) = (0_u32, name.len());
    for (at, c) in name.char_indices() {
        match c {
            '(' if depth == 0 && !name[..at].ends_with("operator") => {
                end = at;
                break;
            }
            '<' | '{' | '(' => depth += 1,
            '>' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name[..end].to_owned()
}
