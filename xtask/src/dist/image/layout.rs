//! Archives of OCI image layouts: blobs by their SHA-256, a configuration, a manifest and an index.
//!
//! Source: the OCI image specification 1.1, `image-layout.md`, `manifest.md` and `config.md`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::command;
use crate::dist::settings::Settings;
use crate::dist::{deb, emptied, version};

/// A layer of an image.
pub(super) struct Layer {
    /// Path of the compressed archive.
    packed: PathBuf,
    /// SHA-256 of the archive before compression, in hexadecimal digits.
    diff_id: String,
}

impl Layer {
    /// Compresses an archive, which is replaced.
    pub(super) fn compress(archive: &Path) -> Result<Self> {
        let diff_id = sha256(archive)?;
        command::run(command::words("gzip --force --no-name -6").arg(archive))?;
        Ok(Self { packed: archive.with_extension("tar.gz"), diff_id })
    }
}

/// An image with its layers, the lowest first.
pub(super) struct Image<'a> {
    /// Name of the image.
    pub(super) title: &'static str,
    /// User and group that the entry point runs as, `UID:GID`.
    pub(super) user: String,
    /// Name of the processor in Rust and Linux.
    pub(super) processor: &'a str,
    pub(super) layers: &'a [&'a Layer],
}

impl Image<'_> {
    /// Writes the archive.
    pub(super) fn write(&self, settings: &Settings, scratch: &Path, archive: &Path) -> Result<()> {
        let folder = scratch.join("layout");
        let blobs = Blobs(folder.join("blobs/sha256"));
        emptied(&folder)?;
        std::fs::create_dir_all(&blobs.0)?;
        let mut layers = Vec::new();
        for layer in self.layers {
            let kind = "application/vnd.oci.image.layer.v1.tar+gzip";
            layers.push(blobs.add(kind, &layer.packed)?);
        }
        let config = self.config(settings)?;
        let config = blobs.add_json("application/vnd.oci.image.config.v1+json", &config)?;
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifest = json!({
            "schemaVersion": 2, "mediaType": kind, "config": config, "layers": layers,
        });
        let mut manifest = blobs.add_json(kind, &manifest)?;
        let tag = json!({ "org.opencontainers.image.ref.name": version()? });
        let platform = json!({ "architecture": architecture(self.processor), "os": "linux" });
        if let Some(descriptor) = manifest.as_object_mut() {
            descriptor.insert("annotations".to_owned(), tag);
            descriptor.insert("platform".to_owned(), platform);
        }
        let index = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [manifest],
        });
        std::fs::write(folder.join("index.json"), serde_json::to_vec(&index)?)?;
        let version = serde_json::to_vec(&json!({ "imageLayoutVersion": "1.0.0" }))?;
        std::fs::write(folder.join("oci-layout"), version)?;
        let mut tar = settings.tar(archive, &folder);
        tar.args(["--create", "--mode=u=rwX,go=rX", "blobs", "index.json", "oci-layout"]);
        command::run(&mut tar)?;
        Ok(std::fs::remove_dir_all(folder)?)
    }

    /// Returns the configuration.
    fn config(&self, settings: &Settings) -> Result<Value> {
        let created = deb::date(settings.time, "+%Y-%m-%dT%H:%M:%SZ")?;
        let ids = self.layers.iter().map(|layer| format!("sha256:{}", layer.diff_id));
        Ok(json!({
            "created": created.trim(),
            "architecture": architecture(self.processor),
            "os": "linux",
            "config": {
                "User": self.user,
                "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
                "Entrypoint": ["/usr/bin/unwind-perf"],
                "WorkingDir": "/",
                "Labels": {
                    "org.opencontainers.image.title": self.title,
                    "org.opencontainers.image.version": version()?,
                    "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                },
            },
            "rootfs": { "type": "layers", "diff_ids": ids.collect::<Vec<_>>() },
        }))
    }
}

/// The folder of blobs.
struct Blobs(PathBuf);

impl Blobs {
    /// Copies a file; returns its descriptor.
    fn add(&self, kind: &str, file: &Path) -> Result<Value> {
        let digest = sha256(file)?;
        let size = std::fs::copy(file, self.0.join(&digest))?;
        Ok(json!({ "mediaType": kind, "digest": format!("sha256:{digest}"), "size": size }))
    }

    /// Writes a document; returns its descriptor.
    fn add_json(&self, kind: &str, document: &Value) -> Result<Value> {
        let file = self.0.join("new");
        std::fs::write(&file, serde_json::to_vec(document)?)?;
        let descriptor = self.add(kind, &file)?;
        std::fs::remove_file(file)?;
        Ok(descriptor)
    }
}

/// Returns a processor's name in Go and OCI.
pub(super) fn architecture(processor: &str) -> &str {
    match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns the SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String> {
    let sum = command::quiet_output(command::words("sha256sum --binary").arg(file))?;
    let digits = sum.split_whitespace().next().context("no checksum")?;
    Ok(digits.trim_start_matches('\\').to_owned())
}
