//! The marks that compilers append to the names of copies of functions.

/// What compilers add to the names of copies, as it is shown: ` [clone .cold]`.
pub(crate) fn clone_of(copy: &str) -> String {
    if copy.is_empty() { String::new() } else { format!(" [clone {copy}]") }
}
