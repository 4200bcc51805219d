//! The programs: the commands that build each from `testdata/programs/tails`, and that run it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

/// A program.
#[derive(Clone, Debug)]
pub(in crate::truth) struct Program {
    /// Its name in the table.
    pub(in crate::truth) name: String,
    /// Command that it needs; the program is skipped if it is missing.
    pub(in crate::truth) tool: &'static str,
    /// Shell lines that build it; may be empty.
    build: &'static str,
    /// Command line, separated by blanks.
    run: String,
    /// Instructions before the first drawn one, or milliseconds.
    pub(in crate::truth) skip: &'static str,
}

/// Row of the catalogue: name, tool, build. The built program is called `tails`.
type CatalogueRow = (&'static str, &'static str, &'static str);

/// Programs that end by themselves after some hundred thousand instructions.
pub(in crate::truth) const CATALOGUE: &[CatalogueRow] = &[
    ("c-gcc-O2", "gcc", "gcc -O2 -g -o tails tails.c"),
    ("c-clang-O3", "clang", "clang -O3 -g -o tails tails.c"),
    ("c++-gcc-O2", "g++", "g++ -O2 -g -o tails tails.cpp"),
    ("c++-clang-O3", "clang++", "clang++ -O3 -g -o tails tails.cpp"),
    ("rust-O3", "rustc", "rustc -C opt-level=3 -g -o tails tails.rs"),
    (
        "library-gcc-O3",
        "gcc",
        "gcc -O3 -g -shared -fPIC -o libtails.so tails_lib.c\n\
         gcc -O3 -g -DWITH_LIBRARY -o tails tails.c -L. -ltails -Wl,-rpath,$PWD",
    ),
    (
        "library-clang-O2",
        "clang",
        "clang -O2 -g -shared -fPIC -fno-plt -o libtails.so tails_lib.c\n\
         clang -O2 -g -fno-plt -DWITH_LIBRARY -o tails tails.c -L. -ltails -Wl,-rpath,$PWD",
    ),
    ("rust-O2-abort", "rustc", "rustc -C opt-level=2 -C panic=abort -g -o tails tails.rs"),
];

/// Programs of the machine that run only if named: name, tool, build, run, skip.
const INSTALLED: &[(&str, &str, &str, &str, &str)] = &[(
    "bash",
    "bash",
    "cat > loop.sh <<'END'\n\
     f() { local i; for ((i = 0; i < $1; i++)); do x=$(((x * 31 + i) % 1000)); case $x in 1*) y=${x/1/2};; *) y=a$x;; esac; [[ $y == a?1 ]] && z+=q; a[i % 50]=$y; done; }\n\
     g() { f 2000; : \"${a[@]}\"; z=; }\n\
     while :; do g; done\n\
     END\n",
    "bash loop.sh",
    "300ms",
)];

/// Returns the named programs; without a name the first `most` of the catalogue. A name with blanks or a slash is a
/// command.
pub(in crate::truth) fn chosen(names: &[String], most: usize) -> Result<Vec<Program>> {
    if names.is_empty() {
        return Ok(CATALOGUE.iter().take(most).map(built).collect());
    }
    names.iter().map(|name| named(name)).collect()
}

fn named(name: &str) -> Result<Program> {
    if let Some(row) = CATALOGUE.iter().find(|row| row.0 == name) {
        return Ok(built(row));
    }
    if let Some(&(_, tool, build, run, skip)) = INSTALLED.iter().find(|row| row.0 == name) {
        return Ok(Program { name: name.to_owned(), tool, build, run: run.to_owned(), skip });
    }
    if !name.contains(['/', ' ']) {
        let known: Vec<_> = CATALOGUE.iter().map(|row| row.0).collect();
        bail!(
            "no program {name}; known are {}, bash, and commands such as `./prog a`",
            known.join(", ")
        );
    }
    let file = name.split_whitespace().next().unwrap_or_default().rsplit('/').next();
    let title = file.unwrap_or_default().to_owned();
    Ok(Program { name: title, tool: "cc", build: "", run: name.to_owned(), skip: "0" })
}

fn built(&(name, tool, build): &CatalogueRow) -> Program {
    Program { name: name.to_owned(), tool, build, run: "./tails".to_owned(), skip: "0" }
}

impl Program {
    /// Builds it in a separate folder below `work`; returns its words with absolute paths, or `None` if its tool is
    /// missing.
    pub(in crate::truth) fn prepare(&self, work: &Path) -> Result<Option<Vec<String>>> {
        if in_search_path(self.tool).is_none() {
            return Ok(None);
        }
        let folder = work.join(&self.name);
        std::fs::create_dir_all(&folder)?;
        if !self.build.is_empty() {
            let sources = command::root().join("testdata/programs/tails");
            for source in
                std::fs::read_dir(&sources).with_context(|| sources.display().to_string())?
            {
                let source = source?;
                std::fs::copy(source.path(), folder.join(source.file_name()))?;
            }
            let mut shell = Command::new("sh");
            command::output(shell.args(["-e", "-c", self.build]).current_dir(&folder))?;
        }
        let mut words: Vec<String> = self.run.split_whitespace().map(str::to_owned).collect();
        // Files of that folder, and of the current one for given commands.
        for (at, word) in words.iter_mut().enumerate() {
            let file = folder.join(&*word);
            if file.is_file() {
                *word = file.display().to_string();
            } else if at == 0 && !word.contains('/') {
                let found = in_search_path(word).with_context(|| format!("no program {word}"))?;
                *word = found.display().to_string();
            }
        }
        words[0] = std::fs::canonicalize(&words[0])?.display().to_string();
        Ok(Some(words))
    }
}

/// Returns the file of a command.
fn in_search_path(tool: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search).map(|dir| dir.join(tool)).find(|file| file.is_file())
}
