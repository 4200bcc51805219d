//! A call tree on the screen.

use profile::query::FunctionId;
use ratatui::termion::event::Key;

use crate::app::has_text;
use crate::app::list::{List, Move};
use crate::data::{OpenNodes, Query, Snapshot, Tree};

/// A call tree, its open nodes and its cursor.
#[derive(Debug, Default)]
pub(crate) struct TreePane {
    /// `None` if the filters or the data changed since it was made.
    pub(crate) tree: Option<Tree>,
    open: OpenNodes,
    pub(crate) list: List,
    /// Key of the node to select in the next tree.
    selected: Option<u64>,
    /// Whether the hot path was opened once.
    is_opened: bool,
    /// Whether the ancestors of the nodes with the text of the filter are opened next.
    pub(crate) opens_matches: bool,
    /// The text of the filter.
    text: Option<String>,
}

impl TreePane {
    /// Drops the tree, whose cursor returns to its node in the next one.
    pub(crate) fn keep_selection(&mut self) {
        if let Some(tree) = &self.tree {
            self.selected = tree.shown.get(self.list.at).map(|&node| tree.key(node));
        }
        self.tree = None;
    }

    /// Makes the tree if it is not current.
    pub(crate) fn prepare(
        &mut self,
        data: &Snapshot,
        query: &Query,
        inverted: bool,
        text: Option<&str>,
    ) -> Result<(), String> {
        if self.tree.is_some() {
            return Ok(());
        }
        let (rows, omitted) = query.tree(data, inverted, !inverted)?;
        let mut tree = Tree::new(data, rows, omitted);
        self.text = text.map(str::to_owned);
        let matches = |it| text.is_none_or(|text| has_text(&data.name(it, true), text));
        let mut hottest = None;
        if !self.is_opened && !tree.rows.is_empty() {
            self.is_opened = true;
            hottest = tree.open_hot_path(None, &mut self.open);
        }
        if text.is_some() && std::mem::take(&mut self.opens_matches) {
            tree.open_to(&matches, &mut self.open);
        }
        tree.passes = text.map(|_| tree.passing(&matches));
        tree.list(&self.open);
        let selected = self.selected;
        let is_selected =
            |node: &u32| Some(tree.key(*node)) == selected || (hottest == Some(*node));
        if let Some(at) = tree.shown.iter().position(is_selected) {
            self.list.at = at;
        }
        self.tree = Some(tree);
        Ok(())
    }

    /// Returns the selected node.
    fn node(&self) -> Option<u32> {
        self.tree.as_ref()?.shown.get(self.list.at).copied()
    }

    /// Returns the selected function.
    pub(crate) fn function(&self) -> Option<FunctionId> {
        self.tree.as_ref()?.function(self.node()?)
    }

    /// Returns whether a node is open; `None` if nothing is below it.
    pub(crate) fn is_open(&self, node: u32) -> Option<bool> {
        let tree = self.tree.as_ref()?;
        (!tree.children(node).is_empty()).then(|| self.open.contains(&tree.key(node)))
    }

    pub(crate) fn go(&mut self, to: Move, page: usize) {
        let rows = self.tree.as_ref().map_or(0, |tree| tree.shown.len());
        self.list.go(to, rows, page);
    }

    /// Handles a key of trees; returns false if it is none.
    pub(crate) fn key(&mut self, key: Key, page: usize) -> bool {
        let (Some(node), Some(tree)) = (self.node(), &self.tree) else { return false };
        let (is_open, own) = (self.is_open(node), tree.key(node));
        match key {
            Key::Char('+' | '-' | '\n') if is_open == Some(true) => self.set_open(own, false),
            Key::Char('+' | '-' | '\n') if is_open == Some(false) => self.set_open(own, true),
            Key::Char('\n') => return false,
            Key::Char('+' | '-') => {}
            Key::Right if is_open == Some(false) => self.set_open(own, true),
            Key::Right if is_open == Some(true) => self.list.at += 1,
            Key::Right => {}
            Key::Left if is_open == Some(true) => self.set_open(own, false),
            Key::Left => self.go_to_parent(node),
            Key::Char('e') => {
                let end = tree.open_hot_path(Some(node), &mut self.open);
                self.relist(end);
            }
            Key::Char('E' | 'C' | 'c') => {
                tree.set_below(Some(node), key == Key::Char('E'), &mut self.open);
                self.relist(Some(node));
            }
            _ => return false,
        }
        let rows = self.tree.as_ref().map_or(0, |tree| tree.shown.len());
        self.list.show(rows, page);
        true
    }

    fn set_open(&mut self, key: u64, is_open: bool) {
        if is_open {
            self.open.insert(key);
        } else {
            self.open.remove(&key);
        }
        self.relist(None);
    }

    fn go_to_parent(&mut self, node: u32) {
        let Some(tree) = &self.tree else { return };
        let parent = tree.row(node).and_then(|row| row.parent);
        let at = parent.and_then(|it| tree.shown.iter().position(|&node| node as usize == it));
        self.list.at = at.unwrap_or(self.list.at);
    }

    /// Lists the shown nodes again, and selects one.
    fn relist(&mut self, selected: Option<u32>) {
        let Some(tree) = &mut self.tree else { return };
        tree.list(&self.open);
        let at = selected.and_then(|node| tree.shown.iter().position(|&it| it == node));
        self.list.at = at.unwrap_or(self.list.at);
    }
}
