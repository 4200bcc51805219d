//! Keys to states and pictures, on a small profile.

mod filters;
mod profile;
mod screens;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::termion::event::Key;

use crate::app::{App, ViewOptions};
use crate::data::Snapshot;
use crate::feed::{Code, Instruction};
use crate::views::draw;
use ::profile::Profile;
use address::ModuleId;

/// The view on a terminal of 80 columns and 24 lines.
struct View {
    app: App,
    screen: Terminal<TestBackend>,
}

impl View {
    fn of(profile: Profile) -> Self {
        let options =
            ViewOptions { title: "perf.data".to_owned(), inlines: true, ..Default::default() };
        let mut app = App::new(options);
        app.set_data(Snapshot::new(profile, true, &app.hasher.clone()));
        app.set_code(Box::new(MadeUpCode));
        let mut view = Self { app, screen: Terminal::new(TestBackend::new(80, 24)).expect("made") };
        view.draw();
        view
    }

    fn draw(&mut self) {
        self.screen.draw(|frame| draw(&mut self.app, frame)).expect("drawn");
    }

    /// Presses keys: characters, with names in angle brackets.
    fn press(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(char) = rest.chars().next() {
            let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let (key, after) = match name {
                Some((name, after)) => (named(name), after),
                None => (Key::Char(char), &rest[char.len_utf8()..]),
            };
            self.app.key(key);
            self.draw();
            rest = after;
        }
        self
    }

    /// The lines on the screen, without spaces at their ends.
    fn lines(&self) -> Vec<String> {
        let buffer = self.screen.backend().buffer();
        let rows = buffer.content().chunks(usize::from(buffer.area.width));
        let line = |row: &[ratatui::buffer::Cell]| {
            let text: String = row.iter().map(|cell| cell.symbol()).collect();
            text.trim_end().to_owned()
        };
        rows.map(line).collect()
    }

    /// The lines from the headings to the last row that is not blank.
    fn body(&self) -> Vec<String> {
        let mut lines = self.lines();
        lines.truncate(lines.len() - 1);
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.split_off(2)
    }

    /// The line of state.
    fn state(&self) -> String {
        self.lines().pop().expect("lines")
    }

    /// The line of filters.
    fn chips(&self) -> String {
        self.lines().swap_remove(1)
    }
}

fn named(name: &str) -> Key {
    match name {
        "up" => Key::Up,
        "down" => Key::Down,
        "left" => Key::Left,
        "right" => Key::Right,
        "end" => Key::End,
        "home" => Key::Home,
        "enter" => Key::Char('\n'),
        "tab" => Key::Char('\t'),
        "esc" => Key::Esc,
        "back" => Key::Backspace,
        "ctrl-c" => Key::Ctrl('c'),
        other => panic!("no key {other}"),
    }
}

struct MadeUpCode;

impl Code for MadeUpCode {
    fn source(&self, file: &[u8]) -> Option<Vec<u8>> {
        let text = b"fn leaf() {\n\tlet x = 1;\n    x \x1b[2J+ 1;\n}\n";
        (file == b"src/main.rs").then(|| text.to_vec())
    }

    fn instructions(&self, _: ModuleId, start: u64) -> Result<Vec<Instruction>, String> {
        let at = |offset, len, text: &str| Instruction {
            address: start + offset,
            len,
            text: text.to_owned(),
        };
        Ok(vec![at(0, 1, "push %rbp"), at(1, 4, "add $1,%eax"), at(5, 1, "ret")])
    }
}
