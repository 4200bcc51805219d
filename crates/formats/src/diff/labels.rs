//! Names of a difference's functions and modules, for people and programs.

use std::borrow::Cow;

use profile::query::diff::{Diff, DiffFunction, DiffModuleId, DiffName};

use crate::render::text::push_line_safe;
use crate::render::truncation::push_repeated;

/// Returns the name of a function; `[unknown]` for code with an unknown function.
pub(super) fn function<'a>(diff: &'a Diff, row: &DiffFunction) -> Cow<'a, [u8]> {
    match row.name {
        DiffName::Named(name) => Cow::Borrowed(diff.text(name)),
        DiffName::At(start) => {
            let mut text = row.module.map_or(Vec::new(), |id| module(diff, id).to_vec());
            text.extend_from_slice(format!("+{start:#x}").as_bytes());
            Cow::Owned(text)
        }
        DiffName::Unknown => Cow::Borrowed(b"[unknown]"),
        DiffName::Gap => Cow::Borrowed(b"[gap]"),
        DiffName::TailCalls => Cow::Borrowed(b"[tail calls]"),
        DiffName::NoFrames => Cow::Borrowed(b"[no frames]"),
    }
}

/// Returns the name for output without a module column: `[unknown] in libx.so`.
pub(super) fn full_function<'a>(diff: &'a Diff, row: &DiffFunction) -> Cow<'a, [u8]> {
    match (row.name, row.module) {
        (DiffName::Unknown, Some(id)) => Cow::Owned([b"[unknown] in ", module(diff, id)].concat()),
        _ => function(diff, row),
    }
}

/// Returns the name of a function with its module in brackets, on one line.
#[must_use]
pub fn diff_function_name(diff: &Diff, row: &DiffFunction) -> String {
    let (function, module) = diff_function(diff, row);
    with_module(&function, module)
}

/// Returns the name of a function and that of its module, each on one line.
#[must_use]
pub fn diff_function(diff: &Diff, row: &DiffFunction) -> (String, Option<String>) {
    (printable(&function(diff, row)), row.module.map(|id| printable(module(diff, id))))
}

/// Formats `function [module]`; a module that is already in brackets gets no others.
pub(super) fn with_module(function: &str, module: Option<String>) -> String {
    match module {
        None => function.to_owned(),
        Some(module) if module.starts_with('[') => format!("{function} {module}"),
        Some(module) => format!("{function} [{module}]"),
    }
}

/// Returns a name as text that is safe to print on a terminal.
pub(super) fn printable(name: &[u8]) -> String {
    let mut out = Vec::with_capacity(name.len());
    push_repeated(&mut out, name, push_line_safe);
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) fn module(diff: &Diff, id: DiffModuleId) -> &[u8] {
    diff.modules.get(id).map_or(b"", |module| diff.text(module.name))
}
