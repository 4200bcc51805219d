//! `cargo lab names [LIBRARY]...`: compares our demangling of the C++ names in libraries with that of `llvm-cxxfilt`.
//! Without a library: libstdc++, LLVM's own, and Qt's if it is installed.
//!
//! A difference fails, unless LLVM leaves a name mangled that we demangle. docs/COMPARE.md lists these.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use demangle::cxx::{DemangleOptions, Demangler};
use xtask::args::Args;
use xtask::{command, machine};

/// Debian's library folders, and the libraries in them that are compared if they exist.
const FOLDERS: &[&str] = &["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
const LIBRARIES: &[&str] = &[
    "libstdc++.so.6",
    "libLLVM.so.19.1",
    "libLLVM-19.so.1",
    "libQt6Core.so.6",
    "libQt6Gui.so.6",
    "libQt6Widgets.so.6",
    "libQt5Core.so.5",
    "libQt5Gui.so.5",
    "libQt5Widgets.so.5",
];
/// Maximum number of differences that are shown for each library.
const SHOWN: usize = 10;

/// Compares libraries.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let filter = args.value("--cxxfilt")?.map(PathBuf::from);
    let named = args.names()?;
    let Some(filter) = filter.or_else(machine::cxxfilt) else {
        println!(
            "skipped: no llvm-cxxfilt of LLVM {} or newer (package llvm-19)",
            machine::LLVM.start()
        );
        return Ok(ExitCode::SUCCESS);
    };
    let libraries: Vec<PathBuf> =
        if named.is_empty() { installed() } else { named.iter().map(PathBuf::from).collect() };
    if libraries.is_empty() {
        bail!("no library is there");
    }
    let mut differences = 0;
    for library in &libraries {
        differences += compare(&filter, library)?;
    }
    println!("names: {differences} differences in {} libraries", libraries.len());
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn installed() -> Vec<PathBuf> {
    let paths =
        FOLDERS.iter().flat_map(|folder| LIBRARIES.iter().map(|name| Path::new(folder).join(name)));
    paths.filter(|path| path.is_file()).collect()
}

/// Compares the names of a library; returns the number of differences.
fn compare(filter: &Path, library: &Path) -> Result<usize> {
    let names = names(library)?;
    let theirs = filtered(filter, &names)?;
    let (mut equal, mut ours_only, mut both_leave, mut differ) = (0, 0, 0, 0);
    let mut demangler = Demangler::default();
    for (name, theirs) in names.iter().zip(&theirs) {
        let ours = demangler.demangle(name.as_bytes(), DemangleOptions::default());
        let ours = ours.map(|ours| String::from_utf8_lossy(ours));
        match ours {
            Some(ours) if ours == theirs.as_str() => equal += 1,
            None if name == theirs => both_leave += 1,
            Some(_) if name == theirs => ours_only += 1,
            ours => {
                differ += 1;
                if differ <= SHOWN {
                    let ours = ours.as_deref().unwrap_or("left mangled");
                    println!("  {name}\n    llvm {theirs}\n    ours {ours}");
                }
            }
        }
    }
    println!(
        "{}: {} names: {equal} equal, {ours_only} that LLVM leaves mangled, {both_leave} that both leave mangled, \
         {differ} differ",
        library.display(),
        names.len()
    );
    Ok(differ)
}

/// Returns the C++ names in a library's dynamic symbols, without versions.
fn names(library: &Path) -> Result<BTreeSet<String>> {
    let mut nm = command::words("nm --dynamic --just-symbols");
    let text = command::quiet_output(nm.arg(library)).context("nm (package binutils)")?;
    let name = |line: &str| line.split('@').next().unwrap_or(line).to_owned();
    Ok(text.lines().filter(|line| line.starts_with("_Z")).map(name).collect())
}

/// Returns the filter's result for each name.
fn filtered(filter: &Path, names: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut command = Command::new(filter);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command::announce(&command);
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().context("the filter's input")?;
    let text: String = names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(text.as_bytes()));
        child.wait_with_output()
    })?;
    let lines: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if lines.len() != names.len() {
        bail!("{} lines for {} names", lines.len(), names.len());
    }
    Ok(lines)
}
