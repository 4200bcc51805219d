//! The parts of a name that are written.

/// The parts of a name that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Style {
    /// All parts.
    #[default]
    Full,
    /// The name without return type, parameters, template and generic arguments, and suffixes of copies.
    Short,
    /// The name with template and generic arguments, but without return type, parameters, qualifiers and suffixes of
    /// copies, as perf prints it.
    NoParameters,
}
