//! The names of functions and modules of a difference, as people and programs read them.

use std::borrow::Cow;

use profile::query::diff::{Diff, DiffFunction, DiffModuleId, DiffName};

use crate::render::cut::push_repeated;
use crate::render::text::push_line_safe;

/// The name of a function; `[unknown]` for code whose function is not known.
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

/// The same where no module stands beside it: `[unknown] in libx.so`.
pub(super) fn full_function<'a>(diff: &'a Diff, row: &DiffFunction) -> Cow<'a, [u8]> {
    match (row.name, row.module) {
        (DiffName::Unknown, Some(id)) => Cow::Owned([b"[unknown] in ", module(diff, id)].concat()),
        _ => function(diff, row),
    }
}

/// The name of a function with its module in brackets, as a line shows it.
#[must_use]
pub fn diff_function_name(diff: &Diff, row: &DiffFunction) -> String {
    with_module(&shown(&function(diff, row)), row.module.map(|id| shown(module(diff, id))))
}

/// `function [module]`; a module whose name is in brackets gets no others.
pub(super) fn with_module(function: &str, module: Option<String>) -> String {
    match module {
        None => function.to_owned(),
        Some(module) if module.starts_with('[') => format!("{function} {module}"),
        Some(module) => format!("{function} [{module}]"),
    }
}

/// A name as text that does nothing to a terminal.
pub(super) fn shown(name: &[u8]) -> String {
    let mut out = Vec::with_capacity(name.len());
    push_repeated(&mut out, name, push_line_safe);
    String::from_utf8_lossy(&out).into_owned()
}

/// The name of a module.
pub(super) fn module(diff: &Diff, id: DiffModuleId) -> &[u8] {
    diff.modules.get(id).map_or(b"", |module| diff.text(module.name))
}
