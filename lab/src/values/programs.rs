//! The programs: the commands that build each from `testdata/programs/values`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use xtask::command;

/// A program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    /// Its name in the table.
    pub(super) name: &'static str,
    /// Command that it needs; the program is skipped if it is missing.
    pub(super) tool: &'static str,
    /// Name of its source file.
    source: &'static str,
    /// Arguments of the command.
    options: &'static str,
    /// File without which it cannot be built, if any.
    needs: Option<&'static str>,
}

/// A program that was built.
#[derive(Debug)]
pub(super) struct Built {
    /// The program's file.
    pub(super) file: PathBuf,
    /// Name of its source file.
    pub(super) source: &'static str,
}

const fn row(
    name: &'static str,
    tool: &'static str,
    source: &'static str,
    options: &'static str,
) -> Program {
    Program { name, tool, source, options, needs: None }
}

const CATALOGUE: [Program; 18] = [
    row("c-gcc-O0", "gcc", "values.c", "-O0 -g"),
    row("c-gcc-O2", "gcc", "values.c", "-O2 -g"),
    row("c-gcc-O3-dwarf4", "gcc", "values.c", "-O3 -g -gdwarf-4 -no-pie"),
    row("c-gcc-Og-types", "gcc", "values.c", "-Og -g -fdebug-types-section"),
    row("c-gcc-O2-split", "gcc", "values.c", "-O2 -g -gsplit-dwarf"),
    row("c-clang-O0", "clang", "values.c", "-O0 -g"),
    row("c-clang-O2", "clang", "values.c", "-O2 -g"),
    row("c++-gcc-O0", "g++", "values.cpp", "-O0 -g -std=c++17"),
    row("c++-gcc-O2", "g++", "values.cpp", "-O2 -g -std=c++17"),
    row("c++-gcc-O1-dwarf4", "g++", "values.cpp", "-O1 -g -gdwarf-4 -std=c++17"),
    row("c++-clang-O0", "clang++", "values.cpp", "-O0 -g -fstandalone-debug -std=c++17"),
    row("c++-clang-O2", "clang++", "values.cpp", "-O2 -g -fstandalone-debug -std=c++17"),
    Program {
        name: "c++-libc++-O1",
        tool: "clang++",
        source: "values.cpp",
        options: "-O1 -g -fstandalone-debug -std=c++17 -stdlib=libc++",
        needs: Some("libc++.so"),
    },
    row("rust-O0", "rustc", "values.rs", "-g"),
    row("rust-O2", "rustc", "values.rs", "-g -C opt-level=2"),
    row("rust-O3", "rustc", "values.rs", "-g -C opt-level=3 -C panic=abort"),
    row("go-O0", "go", "values.go", "build -gcflags=-N\u{a0}-l -ldflags=-compressdwarf=false"),
    row("go", "go", "values.go", "build -ldflags=-compressdwarf=false"),
];

/// Returns the named programs; all without a name.
pub(super) fn chosen(names: &[String]) -> Result<Vec<Program>> {
    if names.is_empty() {
        return Ok(CATALOGUE.to_vec());
    }
    let find = |name: &String| CATALOGUE.iter().find(|it| it.name == name).copied();
    if let Some(name) = names.iter().find(|name| find(name).is_none()) {
        bail!("no program {name}; known are {}", CATALOGUE.map(|it| it.name).join(", "));
    }
    Ok(names.iter().filter_map(find).collect())
}

impl Program {
    /// Builds it in a folder; `None` if its tool is missing.
    pub(super) fn build(&self, folder: &Path) -> Result<Option<Built>> {
        let search = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&search).any(|dir| dir.join(self.tool).is_file()) {
            return Ok(None);
        }
        let libraries = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"];
        let is_there = |file| libraries.iter().any(|folder| Path::new(folder).join(file).exists());
        if self.needs.is_some_and(|file| !is_there(file)) {
            return Ok(None);
        }
        let source = command::root().join("testdata/programs/values").join(self.source);
        let file = folder.join(self.name);
        let mut build = Command::new(self.tool);
        // A space inside of an argument is one that does not break.
        build
            .args(self.options.split(' ').map(|word| word.replace('\u{a0}', " ")))
            .arg("-o")
            .arg(&file)
            .arg(source);
        command::output(&mut build)?;
        Ok(Some(Built { file, source: self.source }))
    }
}
