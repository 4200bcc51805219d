//! Page as one document with inline style and script; its policy allows exactly these two.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::linker::{LinkError, link};
use crate::modules::{MODULES, PAGE, STYLE};

/// Marks of the policy, the style and the script in the page.
const MARKS: [&str; 3] = ["POLICY", "/*STYLE*/", "/*SCRIPT*/"];

/// Returns the document up to its data, which is base64 and ends with [`END`].
///
/// # Errors
/// If the modules cannot be linked; a test of this crate excludes this.
pub fn document() -> Result<String, LinkError> {
    let style = format!("\n{STYLE}");
    let script = format!("\n{}", link(MODULES)?);
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let mut page = PAGE.to_owned();
    for (mark, text) in MARKS.iter().zip([policy, style, script]) {
        page = page.replacen(mark, &text, 1);
    }
    Ok(page)
}

/// Text after the data of a [`document`].
pub const END: &str = "\n</script>\n</body>\n</html>\n";

/// Returns a hash in the syntax of a policy.
/// Source: Content Security Policy Level 3, "hash-source".
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_put_together() {
        let page = document().unwrap();
        assert!(MARKS.iter().all(|mark| PAGE.matches(mark).count() == 1 && !page.contains(mark)));
        assert!(page.ends_with("<script id=\"data\" type=\"application/octet-stream\">\n"));
        assert_eq!(page.matches("unsafe-inline").count(), 0);
        // The policy contains the hashes of the texts between the tags.
        for (tag, end) in [("<style>", "</style>"), ("<script type=\"module\">", "</script>")] {
            let (_, rest) = page.split_once(tag).unwrap();
            let (inside, _) = rest.split_once(end).unwrap();
            assert!(page.contains(&hash(inside)), "{tag}");
        }
    }

    #[test]
    fn a_hash_is_the_known_one() {
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
