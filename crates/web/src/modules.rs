//! The files of the page.

/// A module of the page's script.
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// Its path below the scripts' folder, as other modules name it.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

macro_rules! modules {
    ($($path:literal,)*) => {
        &[$(Module { path: $path, text: include_str!($path) },)*]
    };
}

/// The page, with marks for its policy, its style and its script, up to where its data begins.
pub const PAGE: &str = include_str!("page.html");

/// The page's style.
pub const STYLE: &str = include_str!("style.css");

/// The modules, each after those that it imports; the last one starts the page.
pub const MODULES: &[Module] = modules![
    "data/columns.js",
    "data/numbers.js",
    "data/tree.js",
    "data/names.js",
    "data/labels.js",
    "data/transform.js",
    "data/preorder.js",
    "data/around.js",
    "data/weights.js",
    "data/group.js",
    "data/select.js",
    "data/entries.js",
    "data/blocks.js",
    "data/picture.js",
    "data/model.js",
    "data/treerows.js",
    "data/layout.js",
    "data/code.js",
    "data/heat.js",
    "data/order.js",
    "data/statistics.js",
    "data/change.js",
    "data/compare.js",
    "data/diff.js",
    "data/colour.js",
    "data/state.js",
    "views/element.js",
    "views/source.js",
    "views/tip.js",
    "views/menu.js",
    "views/rows.js",
    "views/shell.js",
    "views/app.js",
    "views/actions.js",
    "views/graph.js",
    "views/flame.js",
    "views/trees.js",
    "views/functions.js",
    "views/modules.js",
    "views/overview.js",
    "views/files.js",
    "views/instructions.js",
    "views/lines.js",
    "views/heatmap.js",
    "views/timeorder.js",
    "views/changes.js",
    "views/comparison.js",
    "views/lanes.js",
    "views/chips.js",
    "views/frame.js",
    "views/page.js",
    "views/diffapp.js",
    "views/bothsides.js",
    "views/diffoverview.js",
    "views/diffpage.js",
    "main.js",
];
