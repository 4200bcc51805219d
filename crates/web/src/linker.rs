//! Linker that combines the modules into one script. A page that is opened from disk cannot load modules: browsers
//! treat each file as a separate origin, and the page's policy would have to allow modules in `data:` addresses.
//!
//! Each module becomes a function with its own scope, after the modules that it imports. `import` takes values from
//! their results, and `export` adds to the module's own. Modules may use only named imports on one line, and `export`
//! before a declaration that is never reassigned.

use std::fmt::Write as _;

use crate::modules::Module;

/// Construct in a module that the linker does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkError {
    /// Path of the module.
    pub path: &'static str,
    /// Line number, from 1.
    pub line: usize,
    /// Reason.
    pub reason: &'static str,
}

/// Links modules, given in dependency order, into one script.
///
/// # Errors
/// If a module imports one that does not precede it, or has an unsupported form of `import` or `export`.
pub fn link(modules: &[Module]) -> Result<String, LinkError> {
    let mut script = String::from("const modules = {};\n");
    for (index, module) in modules.iter().enumerate() {
        let before = modules.get(..index).unwrap_or_default();
        add(&mut script, module, before)?;
    }
    Ok(script)
}

fn add(script: &mut String, module: &Module, before: &[Module]) -> Result<(), LinkError> {
    let path = module.path;
    let mut exported: Vec<&str> = Vec::new();
    put(script, &format!("modules[\"{path}\"] = (() => {{\n"));
    for (index, line) in module.text.lines().enumerate() {
        let fail = |reason| LinkError { path, line: index + 1, reason };
        if line.contains("</script") || line.contains("<!--") {
            return Err(fail("ends the script in a page"));
        }
        if line.starts_with("import ") {
            let (names, from) = import(line).ok_or_else(|| fail("an unknown form of import"))?;
            let from = resolve(path, from);
            if !before.iter().any(|other| other.path == from) {
                return Err(fail("imports what does not come before it"));
            }
            put(script, &format!("const {{{names}}} = modules[\"{from}\"];\n"));
        } else if let Some(rest) = line.strip_prefix("export ") {
            let name = declared(rest).ok_or_else(|| fail("an unknown form of export"))?;
            exported.push(name);
            put(script, &format!("{rest}\n"));
        } else {
            put(script, &format!("{line}\n"));
        }
    }
    put(script, &format!("return {{ {} }};\n}})();\n", exported.join(", ")));
    Ok(())
}

fn put(script: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = script.write_str(text);
}

/// Converts `import { a, b as c } from "./x.js";` to ` a, b: c ` and `./x.js`.
fn import(line: &str) -> Option<(String, &str)> {
    let (names, rest) = line.strip_prefix("import {")?.split_once("} from \"")?;
    Some((names.replace(" as ", ": "), rest.strip_suffix("\";")?))
}

/// Returns the name that `function f(`, `const c =` or `class C {` declares.
fn declared(declaration: &str) -> Option<&str> {
    let words = ["async function ", "function ", "const ", "class "];
    let rest = words.iter().find_map(|word| declaration.strip_prefix(word))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}

/// Resolves `./x.js` or `../y/x.js` relative to the importing module.
fn resolve(importer: &str, name: &str) -> String {
    let mut folders: Vec<&str> = importer.split('/').collect();
    folders.pop();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => {
                folders.pop();
            }
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Module =
        Module { path: "data/a.js", text: "export const one = 1;\nexport function f() {}\n" };

    #[test]
    fn modules_keep_their_scopes() {
        let text = "// @ts-check\nimport { one, f as g } from \"../data/a.js\";\nexport class C {}\nconst d = one;\n";
        let b = Module { path: "views/b.js", text };
        assert_eq!(
            link(&[A, b]).unwrap(),
            "const modules = {};\n\
             modules[\"data/a.js\"] = (() => {\nconst one = 1;\nfunction f() {}\nreturn { one, f };\n})();\n\
             modules[\"views/b.js\"] = (() => {\n// @ts-check\nconst { one, f: g } = modules[\"data/a.js\"];\n\
             class C {}\nconst d = one;\nreturn { C };\n})();\n"
        );
    }

    #[test]
    fn what_cannot_be_linked_is_told() {
        let reason = |text| link(&[A, Module { path: "b.js", text }]).unwrap_err();
        assert_eq!(
            reason("\nimport { x } from \"./c.js\";"),
            LinkError { path: "b.js", line: 2, reason: "imports what does not come before it" }
        );
        assert_eq!(
            reason("import * as a from \"./data/a.js\";").reason,
            "an unknown form of import"
        );
        assert_eq!(reason("export default 1;").reason, "an unknown form of export");
        assert_eq!(reason("export let x = 1;").reason, "an unknown form of export");
        assert_eq!(reason("const x = \"</script>\";").reason, "ends the script in a page");
    }
}
