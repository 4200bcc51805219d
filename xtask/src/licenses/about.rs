//! Texts of licences, as `cargo about` finds them in the sources of the packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::notice::Text;
use crate::command;
use crate::packages::Package;

/// Output of `cargo about generate --format json`; only the used fields.
#[derive(Deserialize)]
struct About {
    licenses: Vec<License>,
}

#[derive(Deserialize)]
struct License {
    name: String,
    text: String,
    used_by: Vec<Use>,
}

#[derive(Deserialize)]
struct Use {
    #[serde(rename = "crate")]
    package: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    version: String,
}

/// Returns the texts of the licences of the packages.
///
/// # Errors
/// If `cargo about` is missing or fails, or a package has no text.
pub(super) fn texts(root: &Path, packages: &[Package]) -> Result<Vec<Text>> {
    // Its sources are all there afterwards, so that it needs no network.
    command::run(command::words("cargo fetch --locked").current_dir(root))?;
    let mut about = command::words("cargo about generate --format json --frozen --all-features");
    about.args(["--fail", "--manifest-path", "crates/unwind-perf/Cargo.toml"]);
    let json = command::output(about.current_dir(root)).context(
        "cargo-about is needed: cargo install cargo-about --locked --features cli --version 0.9.3",
    )?;
    let texts = read(&json, packages)?;
    let covered: BTreeSet<&str> =
        texts.iter().flat_map(|text| &text.used_by).map(String::as_str).collect();
    let missing: Vec<String> =
        packages.iter().map(label).filter(|it| !covered.contains(it.as_str())).collect();
    if !missing.is_empty() {
        bail!("no text of a licence for {}", missing.join(", "));
    }
    Ok(texts)
}

fn label(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

/// Places for a name in the standard texts, which `cargo about` takes for a package without a text.
const PLACES: [&str; 2] = ["<year> <copyright holders>", "YEAR by AUTHOR EMAIL"];

/// Returns the texts of these packages, ordered by title and first package. Texts of equal letters are one.
fn read(json: &str, packages: &[Package]) -> Result<Vec<Text>> {
    let about: About = serde_json::from_str(json).context("the output of cargo about")?;
    let mut texts: BTreeMap<String, (License, BTreeSet<String>)> = BTreeMap::new();
    for mut license in about.licenses {
        let is_linked = |it: &Named| packages.iter().any(|p| p.id() == (&it.name, &it.version));
        let named = license.used_by.iter().map(|it| &it.package).filter(|it| is_linked(it));
        let used_by: Vec<String> = named.map(|it| format!("{} {}", it.name, it.version)).collect();
        if used_by.is_empty() {
            continue;
        }
        for place in PLACES {
            license.text = license.text.replace(place, "by the authors of the packages above");
        }
        let letters = license.text.chars().filter(char::is_ascii_alphanumeric);
        let same = texts.entry(letters.collect::<String>().to_lowercase());
        same.or_insert_with(|| (license, BTreeSet::new())).1.extend(used_by);
    }
    let text = |(license, used_by): (License, BTreeSet<String>)| Text {
        title: license.name,
        text: license.text,
        used_by: used_by.into_iter().collect(),
    };
    let mut texts: Vec<Text> = texts.into_values().map(text).collect();
    texts.sort_by(|a, b| (&a.title, &a.used_by).cmp(&(&b.title, &b.used_by)));
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_linked_packages_are_read() {
        let json = r#"{"licenses": [
            {"name": "Z", "id": "Z", "text": "z", "used_by": [{"crate": {"name": "b", "version": "1.0.0"}}]},
            {"name": "A", "id": "A", "text": "a", "used_by": [
                {"crate": {"name": "a", "version": "1.0.0"}}, {"crate": {"name": "own", "version": "1.0.0"}}]}
        ], "crates": []}"#;
        let package = |name: &str| {
            let text = format!(
                r#"{{"name": "{name}", "version": "1.0.0", "license": "MIT", "repository": null, "manifest_path": "x"}}"#
            );
            serde_json::from_str::<Package>(&text).unwrap()
        };
        let text = |title: &str, text: &str, by: &str| Text {
            title: title.to_owned(),
            text: text.to_owned(),
            used_by: vec![format!("{by} 1.0.0")],
        };
        let found = read(json, &[package("a"), package("b")]).unwrap();
        assert_eq!(found, [text("A", "a", "a"), text("Z", "z", "b")]);
    }
}
