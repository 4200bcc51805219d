//! The function that keys act on.

use profile::query::FunctionId;
use profile::query::engine::{Patterns, RowKey};

use super::{App, Screen, Step};
use crate::data::{PATTERN_BYTES, Results, safe};

impl Results {
    /// Returns the function of a row.
    pub(crate) fn function(&self, row: u32) -> Option<FunctionId> {
        match self.functions.get(row as usize)?.key {
            RowKey::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Returns the inclusive weight of a function; 0 if it has no row.
    pub(crate) fn inclusive(&self, function: FunctionId) -> u64 {
        let row = self.functions.iter().find(|row| row.key == RowKey::Function(function));
        row.map_or(0, |row| row.inclusive.weight)
    }
}

impl App {
    /// Returns the selected function.
    pub(crate) fn selected(&self) -> Option<FunctionId> {
        match self.screen {
            Screen::Functions => {
                let row = self.rows.get(self.functions.at)?;
                self.results.as_ref()?.function(*row)
            }
            Screen::TopDown => self.trees[0].function(),
            Screen::BottomUp => self.trees[1].function(),
            Screen::Callers => self.callers.selected(),
            Screen::Source => self.source.function,
            Screen::Help | Screen::Info => None,
        }
    }

    /// Returns the key of the selected row of the table of functions.
    pub(super) fn selected_key(&self) -> Option<u64> {
        let row = self.rows.get(self.functions.at)?;
        let function = self.results.as_ref()?.function(*row)?;
        Some(self.data.as_ref()?.key(function))
    }

    /// Returns the name of the selected function, or a message if it has none.
    fn selected_name(&mut self) -> Option<String> {
        let function = self.selected();
        let data = self.data.as_ref()?;
        let name = function.map(|function| data.text(data.function(function).name));
        let name = name.filter(|name| !name.is_empty());
        if name.is_none() {
            self.message = Some(match function {
                Some(_) => "the function has no name; d zooms into its module".to_owned(),
                None => "no function is selected".to_owned(),
            });
        }
        name.map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// Adds a filter on the selected function.
    pub(super) fn filter_selected(&mut self, step: impl FnOnce(String) -> Step) {
        if let Some(name) = self.selected_name() {
            if self.screen == Screen::Functions {
                self.wanted = self.selected_key();
            }
            self.change_filters(|filters| filters.add(step(name)));
        }
    }

    /// Shows only functions of the selected one's module.
    pub(super) fn zoom_into_module(&mut self) {
        let Some(data) = &self.data else { return };
        let path = self.selected().map(|function| data.module(function)).unwrap_or_default();
        if path.is_empty() {
            self.message = Some("the module of this function is unknown".to_owned());
            return;
        }
        self.zoom_into(String::from_utf8_lossy(path).into_owned());
    }

    /// Shows only functions of a module. The modules of the command line stay the only ones.
    fn zoom_into(&mut self, path: String) {
        let given = Patterns::new(&self.filters.base.filter.module, PATTERN_BYTES);
        if given.is_ok_and(|given| given.is_empty() || given.are_in(path.as_bytes())) {
            self.change_filters(|filters| filters.add(Step::Module(path)));
        } else {
            self.message = Some(format!(
                "--show-module shows no function of {}; start without it",
                safe(path.as_bytes())
            ));
        }
    }

    /// Shows only functions of the kernel.
    pub(super) fn zoom_into_kernel(&mut self) {
        let Some(data) = &self.data else { return };
        let is_kernel = |path: &&[u8]| path.starts_with(b"[kernel") || path.starts_with(b"[guest");
        let path = data.functions.rows.iter().map(|it| data.text(it.module)).find(is_kernel);
        match path.map(|path| String::from_utf8_lossy(path).into_owned()) {
            Some(path) => self.zoom_into(path),
            None => self.message = Some("no sample has a function of the kernel".to_owned()),
        }
    }
}
