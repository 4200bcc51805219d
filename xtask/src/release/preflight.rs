//! Conditions of a release: changelog, versions, tag, notices, and fields of the manifests.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{api, command, licenses};

/// Returns everything that is missing, one sentence each.
pub(super) fn problems(root: &Path, version: &str) -> Result<Vec<String>> {
    let read =
        |file: &str| std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned());
    let git = |line: &str| command::quiet_output(command::words(line).current_dir(root));
    let mut found = Vec::new();
    found.extend(changelog(&read("docs/CHANGELOG.md")?, version));
    found.extend(versions(&read("Cargo.toml")?, version));
    let tag = tag(version);
    let head = git("git rev-parse HEAD").context("the commit")?;
    if tagged(root, &tag).is_some_and(|commit| commit != head.trim()) {
        found.push(format!("the tag {tag} is another commit"));
    }
    if !git("git status --porcelain")?.is_empty() {
        found.push("changes are not committed".to_owned());
    }
    if let Err(error) = licenses::check(root) {
        found.push(format!("{error:#}"));
    }
    found.extend(api::differences(root)?.into_iter().map(|row| format!("public item {row}")));
    let metadata = git("cargo metadata --locked --no-deps --format-version 1")?;
    found.extend(fields(&metadata)?);
    if read("crates/unwind-perf/Cargo.toml")?.contains(".invalid>") {
        found.push("the Debian package has no address of a maintainer".to_owned());
    }
    Ok(found)
}

/// Returns the tag of a version.
pub(super) fn tag(version: &str) -> String {
    format!("v{version}")
}

/// Returns the commit of a tag.
pub(super) fn tagged(root: &Path, tag: &str) -> Option<String> {
    let mut git = command::words("git rev-parse --quiet --verify");
    let git = git.arg(format!("refs/tags/{tag}^{{commit}}")).current_dir(root);
    Some(command::quiet_output(git).ok()?.trim().to_owned())
}

/// Checks that the changelog has a section of the version with a date: `## [1.2.3] - 2026-01-31`.
fn changelog(text: &str, version: &str) -> Option<String> {
    let start = format!("## [{version}] - ");
    let date = text.lines().find_map(|line| line.strip_prefix(&start));
    let is_date = |date: &str| {
        let digits = |it: &str, len| it.len() == len && it.bytes().all(|b| b.is_ascii_digit());
        let parts: Vec<&str> = date.split('-').collect();
        matches!(parts.as_slice(), [y, m, d] if digits(y, 4) && digits(m, 2) && digits(d, 2))
    };
    match date {
        Some(date) if is_date(date) => None,
        Some(date) => Some(format!("docs/CHANGELOG.md: {date} is not a date as 2026-01-31")),
        None => Some(format!("docs/CHANGELOG.md has no section `{start}DATE`")),
    }
}

/// Checks the version of the workspace, and those that its parts require of each other.
fn versions(manifest: &str, version: &str) -> Vec<String> {
    let own = format!("version = \"{version}\"");
    let mut found = Vec::new();
    if !manifest.lines().any(|line| line == own) {
        found.push(format!("the version of the workspace in Cargo.toml is not {version}"));
    }
    let parts = manifest.lines().filter(|line| line.contains("package = \"unwind-perf-"));
    let exact = format!("version = \"={version}\"");
    let other = parts.filter(|line| line.contains("version = ") && !line.contains(&exact));
    let names: Vec<&str> = other.filter_map(|line| line.split(' ').next()).collect();
    if !names.is_empty() {
        found.push(format!("Cargo.toml requires another version of {}", names.join(", ")));
    }
    found
}

/// Checks the fields that registries show, of each package that is published.
fn fields(metadata: &str) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        description: Option<String>,
        repository: Option<String>,
        publish: Option<Vec<String>>,
    }
    let metadata: Metadata = serde_json::from_str(metadata).context("cargo's metadata")?;
    let published: Vec<Package> =
        metadata.packages.into_iter().filter(|it| it.publish.is_none()).collect();
    let mut found = Vec::new();
    let nameless = published.iter().filter(|it| it.description.is_none());
    found.extend(nameless.map(|it| format!("{} has no description", it.name)));
    let homeless = published.iter().filter(|it| it.repository.is_none()).count();
    if homeless > 0 {
        found.push(format!(
            "{homeless} packages have no `repository`; `cargo binstall`, links of README.md and the pages of registries need it"
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_has_a_section_with_a_date() {
        assert_eq!(changelog("## [1.2.3] - 2026-01-31\n", "1.2.3"), None);
        assert_eq!(
            changelog("## [1.2.3] - soon\n", "1.2.3").as_deref(),
            Some("docs/CHANGELOG.md: soon is not a date as 2026-01-31")
        );
        assert_eq!(
            changelog("## [Unreleased]\n", "1.2.3").as_deref(),
            Some("docs/CHANGELOG.md has no section `## [1.2.3] - DATE`")
        );
    }

    #[test]
    fn versions_are_equal() {
        let manifest = "version = \"1.2.3\"\n\
            a = { package = \"unwind-perf-a\", version = \"=1.2.3\", path = \"a\" }\n\
            b = { package = \"unwind-perf-b\", version = \"=1.2.2\", path = \"b\" }\n\
            c = { package = \"unwind-perf-c\", path = \"c\" }\n";
        assert_eq!(versions(manifest, "1.2.3"), ["Cargo.toml requires another version of b"]);
        assert_eq!(
            versions("", "1.0.0"),
            ["the version of the workspace in Cargo.toml is not 1.0.0"]
        );
    }

    #[test]
    fn published_packages_have_their_fields() {
        let text = r#"{"packages": [
            {"name": "a", "description": "x", "repository": null, "publish": null},
            {"name": "b", "description": null, "repository": "y", "publish": null},
            {"name": "own", "description": null, "repository": null, "publish": []}]}"#;
        let found = fields(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], "b has no description");
        assert!(found[1].starts_with("1 packages have no `repository`"), "{found:?}");
    }
}
