//! The function that keys act on.

use options::GroupBy;
use profile::query::FunctionId;
use profile::query::engine::RowKey;

use super::menu::{Action, Menu};
use super::{App, Screen, Step};
use crate::data::{Results, safe, share_of};

/// Maximum number of threads or processes in a menu.
const MOST_IN_MENU: usize = 1000;

impl Results {
    /// Returns the function of a row.
    pub(crate) fn function(&self, row: u32) -> Option<FunctionId> {
        match self.functions.get(row as usize)?.key {
            RowKey::Function(function) => Some(function),
            _ => None,
        }
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
        let path = String::from_utf8_lossy(path).into_owned();
        self.change_filters(|filters| filters.add(Step::Module(path)));
    }

    /// Shows only functions of the kernel.
    pub(super) fn zoom_into_kernel(&mut self) {
        let Some(data) = &self.data else { return };
        let is_kernel = |path: &&[u8]| path.starts_with(b"[kernel") || path.starts_with(b"[guest");
        let path = data.functions.rows.iter().map(|it| data.text(it.module)).find(is_kernel);
        match path.map(|path| String::from_utf8_lossy(path).into_owned()) {
            Some(path) => self.change_filters(|filters| filters.add(Step::Module(path))),
            None => self.message = Some("no sample has a function of the kernel".to_owned()),
        }
    }

    /// Returns the threads or processes with samples, most costly first, each with the filter for it.
    pub(super) fn task_menu(&mut self, group: GroupBy) -> Option<Menu> {
        let data = self.data.as_ref()?;
        let total = self.results.as_ref()?.total.weight;
        let rows = match self.filters.query().table(data, group) {
            Ok(rows) => rows,
            Err(error) => {
                self.message = Some(safe(error.as_bytes()));
                return None;
            }
        };
        let item = |row: &profile::query::engine::TableRow| {
            let (label, step): (String, fn(i32, String) -> Step) = match row.key {
                RowKey::Thread(id) => {
                    let thread = data.profile.threads.get(id)?;
                    let name = safe(data.text(Some(thread.comm)));
                    (format!("{name} {}", thread.tid.0), Step::Thread)
                }
                RowKey::Process(key) => {
                    let name = safe(data.text(Some(key.name)));
                    (format!("{name} {}", key.pid.0), Step::Process)
                }
                _ => return None,
            };
            let number = label.rsplit(' ').next()?.parse().ok()?;
            let text = format!("{} {label}", share_of(row.own.weight, total));
            Some((text, Action::Filter(step(number, label))))
        };
        let items: Vec<_> = rows.iter().take(MOST_IN_MENU).filter_map(item).collect();
        let title =
            if group == GroupBy::Process { "Zoom into a process" } else { "Zoom into a thread" };
        Some(Menu::new(title, items))
    }
}
