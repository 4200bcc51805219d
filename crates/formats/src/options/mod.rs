//! What a user can choose about a format.

mod script_fields;

/// The outermost frame of a folded stack.
pub use options::StackRoot;
/// Weight of a sample in formats that add samples up.
pub use options::Weight as StackWeight;
pub use script_fields::ScriptFields;

/// What a user can choose about a format. Folded stacks know all of it, others what they can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatOptions {
    /// Whether inlined functions are frames of their own; without, only the function that they were inlined into.
    pub inlines: bool,
    /// Folded, speedscope, Firefox: whether stacks that do not reach their root stand beside the others, and not under one
    /// `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Folded, speedscope, Firefox: what a stack weighs.
    pub weight: StackWeight,
    /// Folded: whether kernel functions get the suffix `_[k]`.
    pub kernel_suffix: bool,
    /// Folded: what stands outside of all functions.
    pub root: StackRoot,
    /// Folded: whether stacks begin with the innermost function.
    pub reverse: bool,
    /// perf script: what is printed.
    pub fields: ScriptFields,
    /// Flame graph: whether the outermost functions are at the top.
    pub inverted: bool,
    /// Arrow: whether there is one row a sample with its frames, and not the tables.
    pub rows: bool,
}

impl FormatOptions {
    /// What is printed where the user chose nothing.
    pub const DEFAULT: Self = Self {
        inlines: true,
        keep_unrooted: false,
        weight: StackWeight::Samples,
        kernel_suffix: false,
        root: StackRoot::Comm,
        reverse: false,
        fields: ScriptFields::DEFAULT,
        inverted: false,
        rows: false,
    };
}
