//! Keys, as in `perf report` as far as it has them.

use options::{CostKind, GroupBy};
use ratatui::termion::event::Key;

use super::list::Move;
use super::{App, Screen, Step};
use crate::help::HELP;

const MAIN: [Screen; 3] = [Screen::Functions, Screen::TopDown, Screen::BottomUp];

impl App {
    /// Handles a key.
    pub(crate) fn key(&mut self, key: Key) {
        // Some terminals send it for Backspace.
        let key = if key == Key::Ctrl('h') { Key::Backspace } else { key };
        if let Key::Alt(char) = key {
            // ESC and a key that came at once.
            self.key(Key::Esc);
            return self.key(Key::Char(char));
        }
        let asked = std::mem::take(&mut self.asked_to_leave);
        self.message = None;
        if key == Key::Ctrl('c') {
            self.is_over = true;
        } else if self.prompt.is_some() {
            self.prompt_key(key);
        } else if self.menu.is_some() {
            self.menu_key(key);
        } else if let Some(to) = movement(key) {
            self.go(to);
        } else if key == Key::Esc {
            self.leave(asked);
        } else if !self.screen_key(key) {
            self.common_key(key);
        }
    }

    fn prompt_key(&mut self, key: Key) {
        let Some(text) = &mut self.prompt else { return };
        match key {
            Key::Char('\n') => {
                let text = std::mem::take(text);
                self.prompt = None;
                self.change_filters(|filters| filters.add(Step::Text(text)));
            }
            Key::Char(char) if !char.is_control() => text.push(char),
            Key::Backspace => {
                text.pop();
            }
            Key::Esc => self.prompt = None,
            _ => {}
        }
    }

    fn menu_key(&mut self, key: Key) {
        let Some(menu) = &mut self.menu else { return };
        let rows = menu.items.len();
        if let Some(action) = menu.action(key) {
            self.menu = None;
            self.act(action);
        } else if let Some(to) = movement(key) {
            menu.list.go(to, rows, self.page.saturating_sub(2).max(1));
        } else if matches!(key, Key::Esc | Key::Char('q' | '\n') | Key::Backspace) {
            self.menu = None;
        }
    }

    /// Leaves the screen, else undoes a filter, else the view if it was asked before.
    fn leave(&mut self, asked: bool) {
        if let Some(screen) = self.back.pop() {
            self.screen = screen;
        } else if !self.filters.steps.is_empty() {
            self.undo();
        } else if asked {
            self.is_over = true;
        } else {
            self.asked_to_leave = true;
            self.message = Some("press ESC again to exit".to_owned());
        }
    }

    /// Undoes the last filter.
    pub(super) fn undo(&mut self) {
        if self.filters.steps.is_empty() {
            self.message = Some("there is no filter to undo".to_owned());
        } else {
            self.change_filters(|filters| {
                filters.steps.pop();
            });
        }
    }

    fn go(&mut self, to: Move) {
        let page = self.page;
        match self.screen {
            Screen::Functions => {
                self.functions.go(to, self.rows.len(), page);
                self.wanted = self.selected_key();
            }
            Screen::TopDown => self.trees[0].go(to, page),
            Screen::BottomUp => self.trees[1].go(to, page),
            Screen::Callers => self.callers.go(to, page),
            Screen::Source => self.source.go(to, page),
            Screen::Help => self.pages.go(to, pages(HELP.len(), page), page),
            Screen::Info => self.pages.go(to, pages(self.info.len(), page), page),
        }
    }

    /// Keys of all screens.
    fn common_key(&mut self, key: Key) {
        match key {
            Key::Char('h' | '?') | Key::F(1) => self.open(Screen::Help),
            Key::Char('i') => self.open(Screen::Info),
            Key::Char('q') => match self.back.pop() {
                Some(screen) => self.screen = screen,
                None => self.is_over = true,
            },
            Key::Char('1') => self.switch(Screen::Functions),
            Key::Char('2') => self.switch(Screen::TopDown),
            Key::Char('3') => self.switch(Screen::BottomUp),
            Key::Char('\t') => self.next_screen(1),
            Key::BackTab => self.next_screen(MAIN.len() - 1),
            Key::Char('\n' | 'm') => self.open_menu(),
            Key::Char('4' | 'b') => self.show_callers(),
            Key::Char('5' | 'a') => self.annotate(),
            Key::Char('f') => self.filter_selected(Step::Focus),
            Key::Char('x') => self.filter_selected(Step::Ignore),
            Key::Char('z') => self.filter_selected(Step::Hide),
            Key::Char('u') => self.filter_selected(Step::Charge),
            Key::Char('d') => self.zoom_into_module(),
            Key::Char('k') => self.zoom_into_kernel(),
            Key::Char('t') => self.menu = self.task_menu(GroupBy::Thread),
            Key::Char('p') => self.menu = self.task_menu(GroupBy::Process),
            Key::Char('s') => self.open_events(),
            Key::Char('/') => self.prompt = Some(String::new()),
            Key::Backspace => self.undo(),
            Key::Char('o') => self.sort_by_other(),
            Key::Char('V') => self.full_names = !self.full_names,
            Key::Char('H') => self.no_headers = !self.no_headers,
            _ => {}
        }
    }

    /// Keys with a meaning of their own on a screen; returns false if the key is none of them.
    fn screen_key(&mut self, key: Key) -> bool {
        match self.screen {
            Screen::TopDown => self.trees[0].key(key, self.page),
            Screen::BottomUp => self.trees[1].key(key, self.page),
            Screen::Source => self.source.key(key, self.page),
            Screen::Help => {
                let leaves = key != Key::Char('q');
                if leaves {
                    self.leave(false);
                }
                leaves
            }
            Screen::Callers if key == Key::Char('\n') => {
                self.show_callers();
                true
            }
            Screen::Functions | Screen::Callers | Screen::Info => false,
        }
    }

    fn next_screen(&mut self, by: usize) {
        let at = MAIN.iter().position(|screen| *screen == self.screen);
        let next = at.map_or(0, |at| (at + by) % MAIN.len());
        self.switch(MAIN.get(next).copied().unwrap_or_default());
    }

    fn sort_by_other(&mut self) {
        self.sort = match self.sort {
            CostKind::Own => CostKind::Inclusive,
            CostKind::Inclusive => CostKind::Own,
        };
        self.functions = super::List::default();
        self.change_filters(|_| {});
        self.functions = super::List::default();
    }

    /// Opens or closes the selected node.
    pub(super) fn toggle(&mut self) {
        self.screen_key(Key::Char('+'));
    }

    /// Shows the source of the selected function.
    pub(super) fn annotate(&mut self) {
        let selected = self.selected();
        if self.screen == Screen::Source {
            return;
        }
        match (selected, &self.data) {
            (Some(function), Some(data)) => {
                self.source.select(function, data.key(function));
                self.open(Screen::Source);
            }
            _ => self.message = Some("no function is selected".to_owned()),
        }
    }

    /// Shows callers and callees of the selected function.
    pub(super) fn show_callers(&mut self) {
        match (self.selected(), &self.data) {
            (Some(function), Some(data)) => {
                self.callers.select(function, data.key(function));
                self.open(Screen::Callers);
            }
            _ => self.message = Some("no function is selected".to_owned()),
        }
    }
}

/// Returns the movement of a key.
const fn movement(key: Key) -> Option<Move> {
    Some(match key {
        Key::Up => Move::Up,
        Key::Down => Move::Down,
        Key::PageUp => Move::PageUp,
        Key::PageDown | Key::Char(' ') => Move::PageDown,
        Key::Home => Move::First,
        Key::End => Move::Last,
        _ => return None,
    })
}

/// Number of positions of a text without a cursor.
fn pages(lines: usize, page: usize) -> usize {
    lines.saturating_sub(page) + 1
}
