//! Texts for clients, which know recordings by their names below the roots, not by their paths on this machine.

/// Removes a folder from the paths in a text.
pub(super) fn without_folder(text: &str, folder: &str) -> String {
    let prefix = format!("{folder}/");
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, found) in text.match_indices(&prefix) {
        let (before, _) = text.split_at(start);
        // The same characters inside another path are retained.
        let is_inside = |it: char| it.is_alphanumeric() || "._-/~".contains(it);
        if !before.chars().next_back().is_some_and(is_inside) {
            out.push_str(text.get(at..start).unwrap_or_default());
            at = start + found.len();
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_the_folder_and_others_stay() {
        for (text, expected) in [
            ("cannot read /srv/a/x.data: /srv/a/b/c is gone", "cannot read x.data: b/c is gone"),
            ("`/srv/a/x` (/srv/a/y)", "`x` (y)"),
            ("/opt/srv/a/x /srv/ab/x", "/opt/srv/a/x /srv/ab/x"),
            ("/srv/a", "/srv/a"),
        ] {
            assert_eq!(without_folder(text, "/srv/a"), expected);
        }
    }
}
