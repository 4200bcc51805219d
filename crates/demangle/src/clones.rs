//! The suffixes that compilers append to the names of function copies.

/// Formats a compiler's suffix for a copy of a function: ` [clone .cold]`.
pub(crate) fn clone_of(copy: &str) -> String {
    if copy.is_empty() { String::new() } else { format!(" [clone {copy}]") }
}
