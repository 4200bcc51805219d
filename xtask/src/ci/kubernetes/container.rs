//! A container of a manifest, as far as its command needs it.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// A container.
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    /// The entry point; empty for that of the image.
    pub(super) command: Vec<String>,
    pub(super) args: Vec<String>,
    /// Paths of its volumes.
    mounts: Vec<String>,
}

impl Container {
    /// Reads a container.
    ///
    /// # Errors
    /// If it has no name, image or volumes.
    pub(super) fn new(container: &Value) -> Result<Self> {
        let text = |name: &str| {
            let value = container.get(name).and_then(Value::as_str);
            Ok::<_, anyhow::Error>(value.with_context(|| format!("no {name}"))?.to_owned())
        };
        let texts = |name: &str| {
            let values = container.get(name).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mounts =
            container.get("volumeMounts").and_then(Value::as_array).context("no volumes")?;
        let path = |mount: &Value| mount.get("mountPath")?.as_str().map(str::to_owned);
        Ok(Self {
            name: text("name")?,
            image: text("image")?,
            command: texts("command"),
            args: texts("args"),
            mounts: mounts.iter().filter_map(path).collect(),
        })
    }

    /// Returns its arguments with the values of variables, and with folders below `root` in place of the volumes.
    pub(super) fn arguments(&self, variables: &[(&str, &str)], root: &Path) -> Vec<String> {
        self.args.iter().map(|text| self.placed(&expanded(text, variables), root)).collect()
    }

    /// Creates the folders below `root` that stand for its volumes.
    pub(super) fn create_volumes(&self, root: &Path) -> Result<()> {
        for mount in &self.mounts {
            std::fs::create_dir_all(root.join(mount.trim_start_matches('/')))?;
        }
        Ok(())
    }

    /// Returns a text whose paths of volumes are below `root`.
    pub(super) fn placed(&self, text: &str, root: &Path) -> String {
        // The path of `root` may contain that of a volume.
        let mark = |number: usize| format!("\u{1}{number}\u{1}");
        let marked = self.mounts.iter().enumerate();
        let text = marked.fold(text.to_owned(), |text, (number, mount)| {
            text.replace(mount.as_str(), &mark(number))
        });
        self.mounts.iter().enumerate().fold(text, |text, (number, mount)| {
            text.replace(&mark(number), &format!("{}{mount}", root.display()))
        })
    }
}

/// Returns a text with the values of its variables, such as `$(NAME)`. `$$` becomes `$`; unknown variables stay.
///
/// Source: Kubernetes, `third_party/forked/golang/expansion/expand.go`.
fn expanded(text: &str, variables: &[(&str, &str)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let named = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let value = named.and_then(|(name, after)| {
            let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
            Some((*value, after))
        });
        match value {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_have_values() {
        let of = |text: &str| expanded(text, &[("A", "1"), ("B", "$(A)")]);
        assert_eq!(of("/x/$(A).data"), "/x/1.data");
        assert_eq!(of("echo $$$$ $$(A) $(B)"), "echo $$ $(A) $(A)");
        assert_eq!(of("$(C) $x $(A"), "$(C) $x $(A");
    }

    #[test]
    fn volumes_are_folders() {
        let container = json!({
            "name": "n", "image": "i", "args": ["--out=/out/$(A)", "/in"],
            "volumeMounts": [{ "mountPath": "/in" }, { "mountPath": "/out" }],
        });
        let container = Container::new(&container).expect("a container");
        let arguments = container.arguments(&[("A", "x")], Path::new("/out/in"));
        assert_eq!(arguments, ["--out=/out/in/out/x", "/out/in/in"]);
        assert_eq!(container.command, Vec::<String>::new());
        assert!(Container::new(&json!({ "name": "n" })).is_err());
    }
}
