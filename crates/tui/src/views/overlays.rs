//! Menus over a screen.

use formats::columns;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget as _};

use super::Canvas;
use crate::app::Menu;
use crate::data::cut;

/// Draws a menu in the middle of the screen.
pub(super) fn menu(menu: &Menu, canvas: &mut Canvas<'_>) {
    let area = canvas.area;
    let longest = menu.items.iter().map(|item| columns(&item.label)).max().unwrap_or(0);
    let wanted = u16::try_from(longest.max(menu.title.len()) + 4).unwrap_or(u16::MAX);
    let columns = wanted.min(area.width);
    let rows = u16::try_from(menu.items.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let place = Rect {
        x: area.x + (area.width - columns) / 2,
        y: area.y + (area.height - rows) / 2,
        width: columns,
        height: rows,
    };
    Clear.render(place, canvas.buffer);
    Block::bordered().title(menu.title).render(place, canvas.buffer);
    let inner = Rect {
        x: place.x + 1,
        y: place.y + 1,
        width: columns.saturating_sub(2),
        height: rows.saturating_sub(2),
    };
    let room = usize::from(inner.width).saturating_sub(2);
    let mut inside = Canvas { buffer: canvas.buffer, area: inner, look: canvas.look };
    inside.rows(0, menu.list, menu.items.len(), |at| {
        let label = menu.items.get(at).map_or("", |item| item.label.as_str());
        Line::raw(format!(" {}", cut(label, room)))
    });
}
