//! Bill of materials in the form of `CycloneDX`: the packages in the program, with versions, licences and checksums. It
//! has no paths, times or random numbers, so it is equal on every machine.
//!
//! Source: `CycloneDX` 1.5, JSON reference; Package URL, type `cargo`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::packages::{self, Package};

/// Name of the file.
pub(super) const NAME: &str = "unwind-perf.cdx.json";

/// Returns the bill of the program of this version.
pub(super) fn render(root: &Path, version: &str) -> Result<String> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    let checksums = checksums(&lock)?;
    let packages = packages::linked(root)?;
    let components: Vec<Value> = packages.iter().map(|it| component(it, &checksums)).collect();
    let own = reference("unwind-perf", version);
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": own,
            "name": "unwind-perf",
            "version": version,
            "purl": own,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        }},
        "components": components,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&bill)?))
}

fn component(package: &Package, checksums: &BTreeMap<(String, String), String>) -> Value {
    let purl = reference(&package.name, &package.version);
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
        "scope": "required",
    });
    if let Some(license) = &package.license {
        // An older form of OR, which SPDX does not know.
        let expression = license.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(hash) = checksums.get(&(package.name.clone(), package.version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": hash }]);
    }
    if let Some(address) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": address }]);
    }
    component
}

/// Returns the package URL; a plus sign in a version is escaped.
fn reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// Returns the checksums of packages by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        name: String,
        version: String,
        checksum: Option<String>,
    }
    let lock: Lock = basic_toml::from_str(lock).context("Cargo.lock")?;
    let checksum = |it: Locked| Some(((it.name, it.version), it.checksum?));
    Ok(lock.package.into_iter().filter_map(checksum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_a_component() {
        let text = r#"{"name": "a", "version": "1.0.0+2", "license": "MIT/Apache-2.0",
            "repository": "https://example.org/a", "manifest_path": "/machine/a/Cargo.toml"}"#;
        let package: Package = serde_json::from_str(text).unwrap();
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0+2\"\nchecksum = \"ab\"\n";
        let found = component(&package, &checksums(lock).unwrap());
        let expected = json!({
            "type": "library", "scope": "required", "name": "a", "version": "1.0.0+2",
            "bom-ref": "pkg:cargo/a@1.0.0%2B2", "purl": "pkg:cargo/a@1.0.0%2B2",
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            "hashes": [{ "alg": "SHA-256", "content": "ab" }],
            "externalReferences": [{ "type": "vcs", "url": "https://example.org/a" }],
        });
        assert_eq!(found, expected);
    }
}
