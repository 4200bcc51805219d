//! Menus of actions.

use options::{GroupBy, Weight};

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

/// A menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Menu {
    pub(crate) title: &'static str,
    /// Labels and actions.
    pub(crate) items: Vec<(String, Action)>,
    pub(crate) list: List,
}

impl Menu {
    pub(crate) fn new(title: &'static str, items: Vec<(String, Action)>) -> Self {
        Self { title, items, list: List::default() }
    }
}

impl App {
    /// Opens the menu of the selected function.
    pub(super) fn open_menu(&mut self) {
        let mut items: Vec<(String, Action)> = Vec::new();
        let mut add = |label: &str, action| items.push((label.to_owned(), action));
        if let Some(function) = self.selected()
            && let Some(data) = &self.data
        {
            let name = data.name(function, self.full_names);
            let module = data.module_name(function);
            if matches!(self.screen, Screen::TopDown | Screen::BottomUp) {
                add("+  Open or close", Action::Toggle);
            }
            add(&format!("a  Annotate {name}"), Action::Show(Screen::Source));
            add("b  Callers and callees", Action::Show(Screen::Callers));
            add("f  Focus: only stacks with it", Action::Focus);
            add("x  Ignore: omit stacks with it", Action::Ignore);
            add("z  Hide: its cost goes to its callers", Action::Hide);
            add("u  Charge it and its callees to its callers", Action::Charge);
            if !module.is_empty() {
                add(&format!("d  Zoom into module {module}"), Action::Module);
            }
        }
        add("t  Zoom into a thread", Action::Threads);
        add("p  Zoom into a process", Action::Processes);
        if !self.filters.steps.is_empty() {
            add("Backspace  Undo the last filter", Action::Undo);
        }
        add("i  Summary of the recording", Action::Show(Screen::Info));
        add("q  Exit", Action::Exit);
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
            items.push((format!("{label}, samples"), count(Weight::Samples)));
            items.push((format!("{label}, periods"), count(Weight::Period)));
        }
        if data.profile.off_cpu.is_some() {
            items.push(("time off the processor".to_owned(), Action::Count(None, Weight::OffCpu)));
        }
        let mut menu = Menu::new("Count", items);
        let base = &self.filters.base;
        let counted = (self.results.as_ref()).and_then(|results| results.event.clone());
        let counted = counted.and_then(|name| String::from_utf8(name).ok());
        let is_current = |(_, action): &(String, Action)| match action {
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
