//! The parts of a name that are written.

/// The parts of a name that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Style {
    /// All parts.
    #[default]
    Full,
    /// The name without return type, parameters, template and generic arguments, and suffixes of copies.
    Short,
}
