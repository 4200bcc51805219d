//! The state of the view, and its changes by keys and by new data.

mod filters;
mod keys;
mod list;
mod menu;
mod panes;
mod selection;
mod tasks;

use hashbrown::DefaultHashBuilder;
use options::{CostKind, QueryFilter, Weight};

pub(crate) use filters::{Filters, Step, has_text};
pub(crate) use list::List;
pub(crate) use menu::Menu;
pub(crate) use panes::{CallersPane, SourcePane, SourceRow, TreePane};

use crate::data::{Results, Snapshot, safe};
use crate::feed::Code;

/// Options of the view.
#[derive(Clone, Debug, Default)]
pub struct ViewOptions {
    /// Name of the recording.
    pub title: String,
    /// Whether inlined functions are separate functions.
    pub inlines: bool,
    /// Whether to use colours.
    pub colors: bool,
    /// The weight of a sample at first.
    pub weight: Weight,
    /// The filter below those that the user adds.
    pub filter: QueryFilter,
    /// Whether names are shown in full at first.
    pub full_names: bool,
}

/// Number of stacks from which on a screen says that it is being made.
const MANY_STACKS: usize = 200_000;

/// A screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Screen {
    #[default]
    Functions,
    /// The call tree from the outermost functions.
    TopDown,
    /// The call tree from the innermost functions.
    BottomUp,
    /// Callers and callees of a function.
    Callers,
    /// Source and instructions of a function.
    Source,
    Help,
    /// Facts of the recording, and the summary.
    Info,
}

/// The state of the view.
#[derive(Debug, Default)]
pub(crate) struct App {
    pub(crate) options: ViewOptions,
    pub(crate) data: Option<Snapshot>,
    pub(crate) code: Option<Box<dyn Code>>,
    pub(crate) filters: Filters,
    pub(crate) results: Option<Results>,
    pub(crate) sort: CostKind,
    /// The functions that have the text of the filter, as positions in the results.
    pub(crate) rows: Vec<u32>,
    pub(crate) functions: List,
    /// Key of the function that the user selected, to which the cursor returns when filters are undone.
    wanted: Option<u64>,
    /// Top-down and bottom-up.
    pub(crate) trees: [TreePane; 2],
    pub(crate) callers: CallersPane,
    pub(crate) source: SourcePane,
    /// The page of help or facts.
    pub(crate) pages: List,
    pub(crate) info: Vec<String>,
    pub(crate) screen: Screen,
    /// The screens to go back to.
    pub(crate) back: Vec<Screen>,
    pub(crate) menu: Option<Menu>,
    /// The text that is being typed.
    pub(crate) prompt: Option<String>,
    /// A line for the user, until the next key.
    pub(crate) message: Option<String>,
    /// Progress of the run; empty if it ended.
    pub(crate) progress: String,
    pub(crate) full_names: bool,
    pub(crate) no_headers: bool,
    /// Number of rows of a list on the screen.
    pub(crate) page: usize,
    pub(crate) is_over: bool,
    /// Whether the screen is drawn before it is made.
    pub(crate) is_waiting: bool,
    /// Whether the last key was ESC without anything to leave.
    asked_to_leave: bool,
    pub(crate) hasher: DefaultHashBuilder,
}

impl App {
    pub(crate) fn new(options: ViewOptions) -> Self {
        let options = ViewOptions { title: safe(options.title.as_bytes()), ..options };
        let mut filters = Filters::default();
        filters.base.filter = options.filter.clone();
        filters.base.weight = options.weight;
        let full_names = options.full_names;
        Self { options, filters, full_names, page: 1, ..Self::default() }
    }

    /// Replaces the profile. The selection and open nodes stay where their functions still exist.
    pub(crate) fn set_data(&mut self, data: Snapshot) {
        let selected = self.wanted.or_else(|| self.selected_key());
        self.data = Some(data);
        self.source.restore(self.data.as_ref());
        self.callers.restore(self.data.as_ref());
        self.update(selected);
    }

    /// Gives the view access to source and machine code.
    pub(crate) fn set_code(&mut self, code: Box<dyn Code>) {
        self.code = Some(code);
        self.source.is_current = false;
    }

    /// Asks the engine again, after a change of the filters or the data.
    fn update(&mut self, selected: Option<u64>) {
        let Some(data) = &self.data else { return };
        match self.filters.query().results(data, self.sort) {
            Ok(results) => self.set_results(results, selected),
            Err(error) => self.message = Some(safe(error.as_bytes())),
        }
    }

    /// Shows new results, in which the function with a key is selected.
    fn set_results(&mut self, results: Results, selected: Option<u64>) {
        self.results = Some(results);
        self.info.clear();
        for pane in &mut self.trees {
            pane.keep_selection();
        }
        self.source.is_current = false;
        self.callers.is_current = false;
        self.list_functions(selected);
    }

    /// Changes filters by `change`. If the engine refuses them, they stay as they were.
    pub(crate) fn change_filters(&mut self, change: impl FnOnce(&mut Filters)) {
        let former = self.filters.clone();
        change(&mut self.filters);
        let query = self.filters.query();
        let Some(data) = &self.data else { return };
        match query.results(data, self.sort) {
            Ok(results) => {
                let selected = self.wanted.or_else(|| self.selected_key());
                self.set_results(results, selected);
            }
            Err(error) => {
                self.filters = former;
                self.message = Some(safe(error.as_bytes()));
                return;
            }
        }
        if self.filters.text() != former.text() {
            self.trees.iter_mut().for_each(|pane| pane.opens_matches = true);
        }
        if self.results.as_ref().is_some_and(|results| results.total.samples == 0) {
            self.message = Some("no sample passes these filters; Backspace undoes".to_owned());
        }
    }

    /// Lists the functions that pass the text filter, and selects the one with a key.
    pub(crate) fn list_functions(&mut self, selected: Option<u64>) {
        let (Some(data), Some(results)) = (&self.data, &self.results) else { return };
        let text = self.filters.text();
        let passes = |at: &u32| {
            let function = results.function(*at);
            text.is_none_or(|text| function.is_some_and(|it| has_text(&data.name(it, true), text)))
        };
        self.rows = (0..results.functions.len() as u32).filter(passes).collect();
        let is_selected = |at: &u32| results.function(*at).map(|it| data.key(it)) == selected;
        if let Some(at) = self.rows.iter().position(is_selected) {
            self.functions.at = at;
        }
        self.functions.show(self.rows.len(), self.page);
    }

    /// Shows a screen, to which the current one is left.
    pub(crate) fn open(&mut self, screen: Screen) {
        if self.screen != screen {
            self.back.retain(|it| *it != screen);
            self.back.push(self.screen);
            self.screen = screen;
            self.pages = List::default();
        }
    }

    /// Shows one of the main screens, which have none to go back to.
    pub(crate) fn switch(&mut self, screen: Screen) {
        self.screen = screen;
        self.back.clear();
    }

    /// Returns true if the contents of the current screen take a while to make.
    pub(crate) fn is_slow(&self) -> bool {
        let is_made = match self.screen {
            Screen::TopDown => self.trees[0].tree.is_some(),
            Screen::BottomUp => self.trees[1].tree.is_some(),
            Screen::Callers => self.callers.is_current,
            Screen::Source => self.source.is_current,
            Screen::Functions | Screen::Help | Screen::Info => true,
        };
        let is_large = |data: &Snapshot| data.profile.stacks.len() > MANY_STACKS;
        !is_made && self.data.as_ref().is_some_and(is_large)
    }

    /// Makes the contents of the current screen, before it is drawn.
    pub(crate) fn prepare(&mut self) {
        let (Some(data), Some(results)) = (&self.data, &self.results) else { return };
        let query = self.filters.query();
        let text = self.filters.text();
        let made = match self.screen {
            Screen::TopDown => self.trees[0].prepare(data, &query, false, text),
            Screen::BottomUp => self.trees[1].prepare(data, &query, true, text),
            Screen::Callers => self.callers.prepare(data, results, &query),
            Screen::Source => self.source.prepare(data, &query, self.code.as_deref(), self.page),
            Screen::Functions | Screen::Help | Screen::Info => Ok(()),
        };
        if let Err(error) = made {
            self.message = Some(safe(error.as_bytes()));
        }
    }
}
