//! Absolute paths without `..`, for manifests.

use std::path::{Component, Path, PathBuf};

/// Returns the absolute path of a file, without `.` and `..`. Symlinks are not resolved.
pub(super) fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            _ => out.push(component),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_resolved_in_the_text() {
        for (path, expected) in
            [("/a/../b/./c", "/b/c"), ("/..", "/"), ("/a//b/", "/a/b"), ("/a/b/..", "/a")]
        {
            assert_eq!(absolute(Path::new(path)), Path::new(expected));
        }
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(absolute(Path::new("x/../y")), here.join("y"));
    }
}
