//! Types of the values that samples carry besides their stack and weight.

/// Type of the values of a recorded field. The keywords are interface: they do not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldKind {
    /// Signed numbers.
    Signed,
    /// Unsigned numbers.
    Unsigned,
    /// Text.
    Text,
    /// Several numbers.
    List,
}

impl FieldKind {
    /// The keyword.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Text => "text",
            Self::List => "list",
        }
    }

    /// Returns true for single numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Signed | Self::Unsigned)
    }
}
