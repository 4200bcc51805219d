//! User options of the formats.

mod script_fields;

/// Weight of a sample in formats that add samples up.
pub use options::Weight as StackWeight;
/// The outermost frame of a folded stack.
pub use options::{ChoiceOrValue, StackRoot};
pub use script_fields::ScriptFields;

/// User options of a format. Folded stacks support all stack options, other formats a subset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatOptions {
    /// Whether inlined functions are separate frames. Otherwise, only the function that contains them is shown.
    pub inlines: bool,
    /// Folded, speedscope, Firefox: whether stacks without their root are shown unchanged.
    /// Otherwise, they are grouped under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Folded, speedscope, Firefox: weight of a stack.
    pub weight: StackWeight,
    /// Folded: whether the names of kernel functions get the suffix `_[k]`.
    pub kernel_suffix: bool,
    /// Folded: outermost frame of each stack.
    pub root: ChoiceOrValue<StackRoot>,
    /// Folded: whether stacks start with the innermost function.
    pub reverse: bool,
    /// perf script: fields to print.
    pub fields: ScriptFields,
    /// Flame graph: whether the outermost functions are at the top.
    pub inverted: bool,
    /// Arrow: whether to write one row per sample with its frames, instead of the tables.
    pub rows: bool,
    /// Parquet: whether to write one row per distinct stack, without names that can be looked up later.
    pub stacks: bool,
    /// Firefox: whether the document is not compressed.
    pub plain: bool,
}

impl FormatOptions {
    /// The options if the user selected none.
    pub const DEFAULT: Self = Self {
        inlines: true,
        keep_unrooted: false,
        weight: StackWeight::Samples,
        kernel_suffix: false,
        root: ChoiceOrValue::Choice(StackRoot::Comm),
        reverse: false,
        fields: ScriptFields::DEFAULT,
        inverted: false,
        rows: false,
        stacks: false,
        plain: false,
    };
}
