//! Files of the page.

/// Module of the page's script.
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// Path below the scripts' folder, as in the imports of other modules.
    pub path: &'static str,
    /// Text.
    pub text: &'static str,
}

macro_rules! modules {
    ($($path:literal,)*) => {
        &[$(Module { path: $path, text: include_str!($path) },)*]
    };
}

/// Page up to the start of its data, with marks for its policy, style and script.
pub const PAGE: &str = include_str!("page.html");

/// Style of the page.
pub const STYLE: &str = include_str!("style.css");

/// Modules in dependency order; the last one starts the page.
pub const MODULES: &[Module] = modules![
    "data/names.js",
    "data/columns.js",
    "data/numbers.js",
    "data/tree/tree.js",
    "data/short.js",
    "data/tree/labels.js",
    "data/tree/transform.js",
    "data/tree/preorder.js",
    "data/tree/around.js",
    "data/samples/weights.js",
    "data/samples/values.js",
    "data/samples/group.js",
    "data/samples/select.js",
    "data/samples/entries.js",
    "data/tree/blocks.js",
    "data/tree/picture.js",
    "data/waits.js",
    "data/model.js",
    "data/tree/treerows.js",
    "data/tree/layout.js",
    "data/listing/lines.js",
    "data/listing/extent.js",
    "data/code.js",
    "data/listing/jumps.js",
    "data/samples/heat.js",
    "data/samples/order.js",
    "data/samples/threads.js",
    "data/samples/spans.js",
    "data/samples/bars.js",
    "data/compare/statistics.js",
    "data/compare/change.js",
    "data/compare/compare.js",
    "data/compare/times.js",
    "data/compare/diff.js",
    "data/export/stacks.js",
    "data/export/protobuf.js",
    "data/export/pprof.js",
    "data/advice.js",
    "data/colour.js",
    "data/cut.js",
    "data/state.js",
    "data/hash.js",
    "data/links.js",
    "views/elements/element.js",
    "views/elements/fit.js",
    "views/source.js",
    "views/elements/tip.js",
    "views/elements/pointer.js",
    "views/elements/menu.js",
    "views/elements/rows.js",
    "views/graphs/plot.js",
    "views/shell.js",
    "views/app.js",
    "views/actions.js",
    "views/graphs/paint.js",
    "views/graphs/gestures.js",
    "views/graphs/graph.js",
    "views/graphs/matches.js",
    "views/graphs/flame.js",
    "views/tables/trees.js",
    "views/tables/functions.js",
    "views/tables/modules.js",
    "views/tables/threads.js",
    "views/overview.js",
    "views/tables/files.js",
    "views/graphs/splitter.js",
    "views/tables/arrows.js",
    "views/tables/instructions.js",
    "views/tables/lines.js",
    "views/graphs/heatmap.js",
    "views/graphs/timeorder.js",
    "views/compare/changes.js",
    "views/compare/comparison.js",
    "views/graphs/lanes.js",
    "views/graphs/lanebars.js",
    "views/graphs/spanlanes.js",
    "views/graphs/timeline.js",
    "views/title.js",
    "views/toolbar.js",
    "views/chips.js",
    "views/export/picture.js",
    "views/export/menu.js",
    "views/frame.js",
    "views/page.js",
    "views/compare/diffapp.js",
    "views/compare/bothsides.js",
    "views/compare/diffoverview.js",
    "views/compare/diffpage.js",
    "main.js",
];
