//! Check of images: unpacks their layers in order and starts the entry point by chroot, as a runtime of containers does.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::layout::sha256;
use crate::command;
use crate::dist::check::{CASES, bytes, same};
use crate::dist::emptied;

/// The manifest with the capabilities of the recorder.
const MANIFEST: &str = "crates/service/kubernetes/recorder.yaml";

/// An unpacked image.
pub(super) struct Unpacked {
    /// Root file system.
    pub(super) root: PathBuf,
    /// User and group of the entry point, `UID:GID`.
    pub(super) user: String,
    /// The entry point with its arguments.
    pub(super) entrypoint: Vec<String>,
}

/// Unpacks an image into a folder, and checks the digests and sizes of its blobs.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<Unpacked> {
    emptied(folder)?;
    let (layout, root) = (folder.join("layout"), folder.join("root"));
    std::fs::create_dir_all(&layout)?;
    std::fs::create_dir_all(&root)?;
    let mut tar = command::words("tar --extract --file");
    command::run(tar.arg(archive).arg("--directory").arg(&layout))?;
    let index = json(&layout.join("index.json"))?;
    let manifest = json(&blob(&layout, index.pointer("/manifests/0"))?)?;
    let config = json(&blob(&layout, manifest.get("config"))?)?;
    let layers = manifest.get("layers").and_then(Value::as_array).context("layers")?;
    for layer in layers {
        let mut tar = command::words("tar --extract --gzip --same-permissions --file");
        tar.arg(blob(&layout, Some(layer))?).arg("--directory").arg(&root);
        command::run(&mut tar)?;
    }
    std::fs::remove_dir_all(layout)?;
    let entrypoint = config.pointer("/config/Entrypoint").cloned().context("Entrypoint")?;
    let user = config.pointer("/config/User").and_then(Value::as_str).context("User")?;
    Ok(Unpacked { root, user: user.to_owned(), entrypoint: serde_json::from_value(entrypoint)? })
}

/// Returns the path of a descriptor's blob, whose size and digest are as stated.
fn blob(layout: &Path, descriptor: Option<&Value>) -> Result<PathBuf> {
    let field = |name: &str| descriptor.and_then(|it| it.get(name)).context("a descriptor");
    let digest = field("digest")?.as_str().and_then(|it| it.strip_prefix("sha256:"));
    let digest = digest.context("a SHA-256")?;
    let path = layout.join("blobs/sha256").join(digest);
    ensure!(Some(path.metadata()?.len()) == field("size")?.as_u64(), "size of {digest}");
    ensure!(sha256(&path)? == digest, "digest of {digest}");
    Ok(path)
}

fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| path.display().to_string())
}

/// Returns the command that starts an image's entry point as a user, with the current folder `/`.
fn start(image: &Unpacked) -> Command {
    // A program without environment is not found in Debian's folder of it.
    let mut start = Command::new("/usr/sbin/chroot");
    start.arg(format!("--userspec={}", image.user)).arg(&image.root).args(&image.entrypoint);
    start
}

/// Returns the missing requirement for starting an image here, if any.
fn cannot_start(processor: &str) -> Result<Option<String>> {
    if processor != std::env::consts::ARCH {
        return Ok(Some(format!("this is not {processor}")));
    }
    let user = command::quiet_output(&mut command::words("id -u"))?;
    Ok((user.trim() != "0").then(|| "only root can start it by chroot".to_owned()))
}

/// Runs the image without perf on recordings of the test data.
pub(super) fn program(archive: &Path, processor: &str, scratch: &Path) -> Result<()> {
    if let Some(why) = cannot_start(processor)? {
        println!("skipped: {}: {why}", command::file_name(archive));
        return Ok(());
    }
    let image = unpack(archive, &scratch.join("try"))?;
    let testdata = command::root().join("testdata");
    copy(&testdata.join("sysroot"), &image.root)?;
    for case in CASES {
        let folder = testdata.join("cases").join(case);
        for name in ["perf.data", "kallsyms"] {
            let (from, to) = (folder.join(name), image.root.join(name));
            if from.is_file() {
                std::fs::copy(from, to)?;
            } else if to.is_file() {
                std::fs::remove_file(to)?;
            }
        }
        let mut run = start(&image);
        run.args(["perf.data", "--sysroot", "../../sysroot", "--quiet", "--format", "ndjson"]);
        if image.root.join("kallsyms").is_file() {
            run.args(["--kallsyms", "kallsyms"]);
        }
        let expected = std::fs::read(folder.join("expected.ndjson"))?;
        same(case, &expected, &bytes(&mut run)?)?;
    }
    Ok(std::fs::remove_dir_all(scratch.join("try"))?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    command::run(command::words("cp --recursive").arg(from).arg(to))
}

/// Records a program with the image of the recorder and its rights, and reads the recording.
pub(super) fn recorder(archive: &Path, processor: &str, scratch: &Path) -> Result<()> {
    if let Some(why) = cannot_start(processor)? {
        println!("skipped: {}: {why}", command::file_name(archive));
        return Ok(());
    }
    let manifest = std::fs::read_to_string(command::root().join(MANIFEST)).context(MANIFEST)?;
    let image = unpack(archive, &scratch.join("try"))?;
    let mut record = command::words("unshare --mount -- sh -c");
    record.arg(
        "for folder in dev proc sys; do mount --rbind /$folder \"$0/$folder\" || exit; done; \
         exec chroot \"$0\" setpriv --bounding-set=\"$1\" /usr/bin/unwind-perf record --unwind \
         -e cpu-clock -o /tmp/x --no-store -- perl -e '1 for 1..10_000_000'",
    );
    std::fs::create_dir_all(image.root.join("dev"))?;
    command::run(record.arg(&image.root).arg(bounding_set(&manifest)?))?;
    let mut read = start(&image);
    let read = bytes(read.args(["top", "/tmp/x", "--format", "json"]))?;
    let top: Value = serde_json::from_slice(&read)?;
    let samples = top.get("samples").and_then(Value::as_u64);
    ensure!(samples > Some(10), "{samples:?} samples in the image");
    Ok(std::fs::remove_dir_all(scratch.join("try"))?)
}

/// Returns the capabilities that a manifest adds, in the form of `setpriv`.
fn bounding_set(manifest: &str) -> Result<String> {
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("add: "));
    let names: Vec<String> = serde_json::from_str(line.context("no capabilities")?)?;
    Ok(names.iter().fold("-all".to_owned(), |set, name| format!("{set},+{}", name.to_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::bounding_set;

    #[test]
    fn capabilities_are_those_of_the_manifest() {
        let manifest = "a:\n  drop: [\"ALL\"]\n  add: [\"PERFMON\", \"SYS_PTRACE\"]\n";
        assert_eq!(bounding_set(manifest).unwrap(), "-all,+perfmon,+sys_ptrace");
        assert!(bounding_set("a: 1\n").is_err());
    }
}
