//! Menus of actions.

use options::{GroupBy, Weight};

use ratatui::termion::event::Key;

use super::list::List;
use super::{App, Screen, Step};
use crate::data::{events, safe};

/// An action that a menu offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Show(Screen),
    /// Opens or closes the selected node.
    Toggle,
    Filter(Step),
    Focus,
    Ignore,
    Hide,
    Charge,
    Module,
    Threads,
    Processes,
    Undo,
    /// Counts an event with a weight.
    Count(Option<String>, Weight),
    Exit,
}

/// A row of a menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MenuItem {
    /// The key that acts at once.
    key: Option<Key>,
    pub(crate) label: String,
    action: Action,
}

impl MenuItem {
    /// Returns a row without a key.
    pub(super) const fn new(label: String, action: Action) -> Self {
        Self { key: None, label, action }
    }

    /// Returns a row with a key, which the label begins with.
    fn with_key(key: Key, label: &str, action: Action) -> Self {
        let name = match key {
            Key::Char(char) => char.to_string(),
            other => format!("{other:?}"),
        };
        Self { key: Some(key), label: format!("{name}  {label}"), action }
    }
}

/// A menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Menu {
    pub(crate) title: &'static str,
    pub(crate) items: Vec<MenuItem>,
    pub(crate) list: List,
}

impl Menu {
    pub(super) fn new(title: &'static str, items: Vec<MenuItem>) -> Self {
        Self { title, items, list: List::default() }
    }

    /// Returns the action of a key.
    pub(super) fn action(&self, key: Key) -> Option<Action> {
        let item = match key {
            Key::Char('\n') => self.items.get(self.list.at),
            key => self.items.iter().find(|item| item.key == Some(key)),
        };
        item.map(|item| item.action.clone())
    }
}

impl App {
    /// Opens the menu of the selected function.
    pub(super) fn open_menu(&mut self) {
        let mut items = Vec::new();
        let mut add = |key, label: &str, action| items.push(MenuItem::with_key(key, label, action));
        if let Some(function) = self.selected()
            && let Some(data) = &self.data
        {
            let name = data.name(function, self.full_names);
            let module = data.module_name(function);
            if matches!(self.screen, Screen::TopDown | Screen::BottomUp) {
                add(Key::Char('+'), "Open or close", Action::Toggle);
            }
            if self.screen != Screen::Source {
                add(Key::Char('a'), &format!("Annotate {name}"), Action::Show(Screen::Source));
            }
            add(Key::Char('b'), "Callers and callees", Action::Show(Screen::Callers));
            add(Key::Char('f'), "Focus: only stacks with it", Action::Focus);
            add(Key::Char('x'), "Ignore: omit stacks with it", Action::Ignore);
            add(Key::Char('z'), "Hide: its cost goes to its callers", Action::Hide);
            add(Key::Char('u'), "Charge it and its callees to its callers", Action::Charge);
            if !module.is_empty() {
                add(Key::Char('d'), &format!("Zoom into module {module}"), Action::Module);
            }
        }
        add(Key::Char('t'), "Zoom into a thread", Action::Threads);
        add(Key::Char('p'), "Zoom into a process", Action::Processes);
        if !self.filters.steps.is_empty() {
            add(Key::Backspace, "Undo the last filter", Action::Undo);
        }
        add(Key::Char('i'), "Summary of the recording", Action::Show(Screen::Info));
        add(Key::Char('q'), "Exit", Action::Exit);
        self.menu = Some(Menu::new("Menu", items));
    }

    /// Opens the menu of events.
    pub(super) fn open_events(&mut self) {
        let Some(data) = &self.data else { return };
        let mut items = Vec::new();
        for name in events(data) {
            // Events are found by name; one that is not text cannot be asked for.
            let Ok(event) = String::from_utf8(name) else { continue };
            let label = safe(event.as_bytes());
            let count = |weight| Action::Count(Some(event.clone()), weight);
            items.push(MenuItem::new(format!("{label}, samples"), count(Weight::Samples)));
            items.push(MenuItem::new(format!("{label}, periods"), count(Weight::Period)));
        }
        if data.profile.off_cpu.is_some() {
            let count = Action::Count(None, Weight::OffCpu);
            items.push(MenuItem::new("time off the processor".to_owned(), count));
        }
        let mut menu = Menu::new("Count", items);
        let base = &self.filters.base;
        let counted = (self.results.as_ref()).and_then(|results| results.event.clone());
        let counted = counted.and_then(|name| String::from_utf8(name).ok());
        let is_current = |item: &MenuItem| match &item.action {
            Action::Count(event, weight) => {
                *weight == base.weight && (event.is_none() || *event == counted)
            }
            _ => false,
        };
        menu.list.at = menu.items.iter().position(is_current).unwrap_or(0);
        self.menu = Some(menu);
    }

    /// Does what a menu offers.
    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::Show(Screen::Source) => self.annotate(),
            Action::Show(Screen::Callers) => self.show_callers(),
            Action::Show(screen) => self.open(screen),
            Action::Toggle => self.toggle(),
            Action::Filter(step) => self.change_filters(|filters| filters.add(step)),
            Action::Focus => self.filter_selected(Step::Focus),
            Action::Ignore => self.filter_selected(Step::Ignore),
            Action::Hide => self.filter_selected(Step::Hide),
            Action::Charge => self.filter_selected(Step::Charge),
            Action::Module => self.zoom_into_module(),
            Action::Threads => self.menu = self.task_menu(GroupBy::Thread),
            Action::Processes => self.menu = self.task_menu(GroupBy::Process),
            Action::Undo => self.undo(),
            Action::Count(event, weight) => self.change_filters(|filters| {
                filters.base.event = event;
                filters.base.weight = weight;
            }),
            Action::Exit => self.is_over = true,
        }
    }
}
