//! Findings: damage and gaps of the input that the work went on in spite of.

/// Something wrong with the input, and how often.
#[derive(Debug, Clone)]
pub struct FindingRow {
    /// A word for programs, such as `build-id-mismatch`.
    pub kind: String,
    /// A sentence for people, of the first occurrence.
    pub message: String,
    /// How often it was found.
    pub count: u64,
}
