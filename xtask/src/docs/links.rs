//! Links of documents and of the built site: the file is there, and has the heading.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

/// A link to a place of this repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link<'a> {
    /// Its line, from 1.
    line: usize,
    /// The file relative to the document's folder; empty for the document itself.
    pub(super) file: &'a str,
    /// The heading.
    anchor: Option<&'a str>,
}

/// The links of all documents that lead nowhere, a line each.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut texts = BTreeMap::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "md")) {
        let text = std::fs::read_to_string(root.join(path));
        texts.insert(path.as_path(), text.with_context(|| path.display().to_string())?);
    }
    let mut found = Vec::new();
    for (path, text) in &texts {
        for link in links(text) {
            let target = target(path, link.file);
            let place = format!("{}:{}", path.display(), link.line);
            if !root.join(&target).exists() {
                found.push(format!("{place}: there is no {}", target.display()));
            } else if let (Some(anchor), Some(text)) = (link.anchor, texts.get(target.as_path()))
                && !anchors(text).iter().any(|it| it == anchor)
            {
                found.push(format!("{place}: {} has no heading #{anchor}", target.display()));
            }
        }
    }
    Ok(found)
}

/// The links of a site's pages that lead to no file of it.
pub(super) fn check_site(site: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(site.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "html") {
                let page = std::fs::read_to_string(site.join(&path))?;
                let missing = hrefs(&page).filter(|href| {
                    let file = href.split(['#', '?']).next().unwrap_or_default();
                    !is_elsewhere(href) && !site.join(target(&path, file)).exists()
                });
                found.extend(missing.map(|href| format!("{}: {href}", path.display())));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The links of a document to places of this repository. Code has none.
pub(super) fn links(text: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for (line, text) in lines_without_code(text) {
        for part in text.split("](").skip(1) {
            let address = part.split([')', ' ']).next().unwrap_or_default();
            if address.is_empty() || is_elsewhere(address) {
                continue;
            }
            let (file, anchor) = match address.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (address, None),
            };
            found.push(Link { line, file, anchor });
        }
    }
    found
}

/// The file that a link of the document leads to, from the root.
pub(super) fn target(document: &Path, file: &str) -> PathBuf {
    if file.is_empty() {
        return document.to_owned();
    }
    let mut path = document.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// Whether an address is that of another site.
fn is_elsewhere(address: &str) -> bool {
    let scheme = address.split([':', '/']).next().unwrap_or_default();
    address[scheme.len()..].starts_with(':') && !scheme.is_empty()
}

/// The lines outside of fenced code, with their numbers from 1.
fn lines_without_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

/// The anchors of a document's headings: in lower case, with `-` for each space, without other marks; the second of one name
/// ends in `-1`.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut times = BTreeMap::<String, usize>::new();
    for (_, line) in lines_without_code(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let shown = title.split("](").map(|part| part.split_once(')').map_or(part, |(_, it)| it));
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let shown: String = shown.collect::<String>().trim().to_lowercase();
        let slug: String = shown.chars().filter(kept).collect::<String>().replace(' ', "-");
        let time = times.entry(slug.clone()).or_default();
        found.push(if *time == 0 { slug } else { format!("{slug}-{time}") });
        *time += 1;
    }
    found
}

/// The addresses that a page links to or shows.
fn hrefs(page: &str) -> impl Iterator<Item = &str> {
    ["href=\"", "src=\""]
        .into_iter()
        .flat_map(move |mark| page.split(mark).skip(1).filter_map(|part| part.split('"').next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_headings_are_read() {
        let text =
            "# A `b`, c\n[x](a/b.md#c-d) [y](https://x.y) [z](#e)\n```\n[no](no)\n```\n## A b c\n";
        let found = links(text);
        let expected = [
            Link { line: 2, file: "a/b.md", anchor: Some("c-d") },
            Link { line: 2, file: "", anchor: Some("e") },
        ];
        assert_eq!(found, expected);
        assert_eq!(anchors(text), ["a-b-c", "a-b-c-1"]);
        assert_eq!(target(Path::new("docs/guide/a.md"), "../../b.md"), Path::new("b.md"));
        assert!(is_elsewhere("mailto:a") && !is_elsewhere("a/b:c"));
        let page = "<a href=\"a.html#b\"><img src=\"c.png\">";
        assert_eq!(hrefs(page).collect::<Vec<_>>(), ["a.html#b", "c.png"]);
    }
}
