//! Drawing of the state.

mod callers;
mod functions;
mod look;
mod overlays;
mod source;
mod texts;
mod tree;

use formats::cost_text;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, List, Screen};
use crate::data::{cut, safe, short};
use crate::help::HELP;
use formats::{counted, share};
use look::Look;
use profile::query::WeightUnit;

use texts::info_lines;

/// Titles of the screens, with their keys.
const TABS: [(&str, Screen); 5] = [
    ("1 Functions", Screen::Functions),
    ("2 Tree", Screen::TopDown),
    ("3 Bottom-up", Screen::BottomUp),
    ("4 Callers", Screen::Callers),
    ("5 Source", Screen::Source),
];

/// A part of the screen that a view draws on.
struct Canvas<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    look: Look,
}

impl Canvas<'_> {
    /// Says that the filters leave no sample of the function.
    fn without_function(&mut self) {
        self.line(
            1,
            &Line::raw(" The function is not in this part of the recording; q goes back."),
        );
    }

    /// Number of columns.
    const fn width(&self) -> usize {
        self.area.width as usize
    }

    /// Draws a line at a row of the part.
    fn line(&mut self, row: usize, line: &Line<'_>) {
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        if row < self.area.height {
            self.buffer.set_line(self.area.x, self.area.y + row, line, self.area.width);
        }
    }

    /// Draws the shown rows of a list below `from`, the selected one with a mark.
    fn rows(
        &mut self,
        from: usize,
        list: List,
        rows: usize,
        line: impl Fn(usize) -> Line<'static>,
    ) {
        let page = usize::from(self.area.height).saturating_sub(from);
        for (place, at) in (list.top..rows.min(list.top + page)).enumerate() {
            let is_selected = at == list.at;
            let line = line(at);
            self.line(from + place, &if is_selected { self.look.selected(line) } else { line });
            if is_selected {
                let row = u16::try_from(from + place).unwrap_or(u16::MAX);
                let bar = Rect { y: self.area.y + row, height: 1, ..self.area };
                self.buffer.set_style(bar, self.look.cursor());
            }
        }
    }
}

/// Draws the state, and remembers how many rows fit.
pub(crate) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let headers = usize::from(!app.no_headers && has_header(app.screen));
    app.page = usize::from(area.height).saturating_sub(3 + headers).max(1);
    if !app.is_waiting {
        app.prepare();
    }
    if app.screen == Screen::Info && app.info.is_empty() {
        app.info = app.data.as_ref().map(info_lines).unwrap_or_default();
    }
    show_cursors(app);
    let look = Look { colors: app.options.colors };
    let buffer = frame.buffer_mut();
    title(app, look, area, buffer);
    chips(app, look, area, buffer);
    let body =
        Rect { y: area.y + 2.min(area.height), height: area.height.saturating_sub(3), ..area };
    let mut canvas = Canvas { buffer, area: body, look };
    match app.screen {
        Screen::Functions => functions::draw(app, &mut canvas),
        Screen::TopDown => tree::draw(app, &app.trees[0], false, &mut canvas),
        Screen::BottomUp => tree::draw(app, &app.trees[1], true, &mut canvas),
        Screen::Callers => callers::draw(app, &mut canvas),
        Screen::Source => source::draw(app, &mut canvas),
        Screen::Help => text(HELP.iter().copied(), app.pages, &mut canvas),
        Screen::Info => text(app.info.iter().map(String::as_str), app.pages, &mut canvas),
    }
    if app.data.is_none() {
        canvas.line(1, &Line::raw(" The recording is being read …"));
    }
    if let Some(menu) = &app.menu {
        overlays::menu(menu, &mut canvas);
    }
    if area.height > 2 {
        status(app, look, area, frame);
    }
}

/// Returns true if a screen has a line of headings.
const fn has_header(screen: Screen) -> bool {
    !matches!(screen, Screen::Help | Screen::Info)
}

/// Keeps the cursors on the screen after a resize.
fn show_cursors(app: &mut App) {
    let page = app.page;
    app.functions.show(app.rows.len(), page);
    for pane in &mut app.trees {
        let rows = pane.tree.as_ref().map_or(0, |tree| tree.shown.len());
        pane.list.show(rows, page);
    }
    let rows = app.callers.rows();
    app.callers.list.show(rows, page);
    let (rows, list) = app.source.shown();
    list.show(rows, page);
    if let Some(menu) = &mut app.menu {
        menu.list.show(menu.items.len(), page.saturating_sub(2).max(1));
    }
}

/// Draws the titles of the screens and the recording's name.
fn title(app: &App, look: Look, area: Rect, buffer: &mut Buffer) {
    let mut spans = vec![Span::raw(" ")];
    for (label, screen) in TABS {
        let style = if app.screen == screen { look.current() } else { look.plain() };
        spans.extend([Span::styled(label, style), Span::raw("  ")]);
    }
    let line = Line::from(spans);
    let used = line.width();
    buffer.set_line(area.x, area.y, &line, area.width);
    let room = usize::from(area.width).saturating_sub(used + 1);
    let name = cut(&app.options.title, room);
    let line = Line::styled(format!("{name:>room$}"), look.faint());
    if room > 3 {
        let width = u16::try_from(room).unwrap_or(u16::MAX);
        buffer.set_line(area.x + u16::try_from(used).unwrap_or(0), area.y, &line, width);
    }
}

/// Draws the filters.
fn chips(app: &App, look: Look, area: Rect, buffer: &mut Buffer) {
    if area.height < 2 {
        return;
    }
    let label = |name: &str| {
        let name = safe(name.as_bytes());
        cut(&if app.full_names { name } else { short(&name) }, 40)
    };
    let chips = app.filters.chips(label);
    let line = if chips.is_empty() {
        Line::styled(" no filter; m opens the menu of a function", look.faint())
    } else {
        // The last filters are those that can be undone, so the first ones are cut.
        let text = chips.join(" | ");
        let room = usize::from(area.width).saturating_sub(10);
        let skipped = text.chars().count().saturating_sub(room);
        let mut shown: String = text.chars().skip(skipped).collect();
        if skipped > 0 {
            shown.insert(0, '…');
        }
        Line::from(vec![Span::styled(" Filters ", look.faint()), Span::styled(shown, look.chip())])
    };
    buffer.set_line(area.x, area.y + 1, &line, area.width);
}

/// Draws a text without a cursor.
fn text<'t>(lines: impl Iterator<Item = &'t str>, pages: List, canvas: &mut Canvas<'_>) {
    let shown = lines.skip(pages.at).take(canvas.area.height.into()).enumerate();
    for (row, text) in shown {
        canvas.line(row, &Line::raw(format!(" {text}")));
    }
}

/// Draws the line of state, or a message, or the text that is being typed.
fn status(app: &App, look: Look, area: Rect, frame: &mut Frame<'_>) {
    let row = Rect { y: area.y + area.height - 1, height: 1, ..area };
    if let Some(prompt) = &app.prompt {
        let line = format!("/{}", safe(prompt.as_bytes()));
        let column = formats::columns(&line).min(usize::from(area.width).saturating_sub(1));
        frame.buffer_mut().set_line(row.x, row.y, &Line::raw(line), row.width);
        frame.set_cursor_position((row.x + u16::try_from(column).unwrap_or(0), row.y));
        return;
    }
    let buffer = frame.buffer_mut();
    buffer.set_style(row, look.status());
    let (left, right) = match &app.message {
        _ if app.is_waiting => ("computing …".to_owned(), String::new()),
        Some(message) => (message.clone(), String::new()),
        None => (state(app), "h help".to_owned()),
    };
    let room = usize::from(area.width).saturating_sub(right.len() + 3);
    let left = cut(&left, room);
    let gap = room.saturating_sub(formats::columns(&left)) + 1;
    let line = Line::raw(format!(" {left}{:gap$}{right}", ""));
    buffer.set_line(row.x, row.y, &line, row.width);
}

/// Returns the counted samples and event, how complete the stacks are, and the progress of the run.
fn state(app: &App) -> String {
    let Some(results) = &app.results else { return app.progress.clone() };
    let mut text = counted(results.total.samples, "sample");
    if let Some(event) = &results.event {
        text += &format!(" of {}", safe(event));
    }
    if results.unit != WeightUnit::Samples {
        let unit = if results.unit == WeightUnit::Events { " events" } else { "" };
        text += &format!(", {}{unit}", cost_text(results.unit, results.total.weight));
    }
    if results.total.samples > 0 {
        let complete = share(results.complete, results.total.samples);
        text += &format!("; {complete} of stacks complete");
    }
    if !app.progress.is_empty() {
        text += &format!("; {}", app.progress);
    }
    text
}
