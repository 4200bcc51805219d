//! How much of a name is written.

/// How much of a name is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Style {
    /// All of it.
    #[default]
    Full,
    /// The name without return type, parameters, template and generic arguments, and marks of copies.
    Short,
}
