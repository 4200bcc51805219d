//! Requirements of the program in a wheel: the processor, libraries, and the versions of their symbols.
//!
//! Source: PEP 599 and 600 (the libraries of manylinux2014, and that its tag is `manylinux_2_17`); generic ABI,
//! "Dynamic Section"; the Linux Standard Base, "Symbol Versioning" (`.gnu.version_r`).

use std::path::Path;

use anyhow::{Context, Result, bail};
use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::FileHeader as _;

/// Newest version of the C library that a program of the wheel may require.
const GLIBC: (u32, u32) = (2, 17);

/// Libraries that every system of the tag has; only those that programs need.
const LIBRARIES: &[&str] =
    &["libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1"];

/// Requirements of a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    machine: elf::Machine,
    libraries: Vec<String>,
    /// Newest version of a symbol of the C library.
    pub(super) glibc: (u32, u32),
}

impl Needs {
    /// Returns the Debian packages of the libraries.
    pub(super) fn debian_packages(&self) -> String {
        let (major, minor) = GLIBC;
        let mut packages = format!("libc6 (>= {major}.{minor})");
        if self.libraries.iter().any(|name| name == "libgcc_s.so.1") {
            packages.push_str(", libgcc-s1");
        }
        packages
    }
}

/// Fails unless the program is for that processor and needs nothing newer than the tag states. Returns its
/// requirements.
pub(super) fn check(program: &Path, processor: &str) -> Result<Needs> {
    let bytes = std::fs::read(program).with_context(|| program.display().to_string())?;
    let needs = needs(&bytes).with_context(|| program.display().to_string())?;
    let machine = match processor {
        "x86_64" => elf::EM_X86_64,
        "aarch64" => elf::EM_AARCH64,
        _ => bail!("no processor {processor}"),
    };
    let known = |name: &String| LIBRARIES.contains(&name.as_str()) || name.starts_with("ld-linux-");
    if needs.machine != machine || needs.glibc > GLIBC || !needs.libraries.iter().all(known) {
        bail!("{} is not for manylinux_2_17_{processor}: {needs:?}", program.display());
    }
    Ok(needs)
}

fn needs(bytes: &[u8]) -> Result<Needs> {
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    let sections = header.sections(LittleEndian, bytes)?;
    let dynamic = sections.dynamic_table(LittleEndian, bytes)?;
    let mut libraries = Vec::new();
    for entry in dynamic.iter().filter(|entry| entry.tag == elf::DT_NEEDED) {
        libraries.push(String::from_utf8_lossy(dynamic.string(entry)?).into_owned());
    }
    let mut glibc = (0, 0);
    if let Some((files, link)) = sections.gnu_verneed(LittleEndian, bytes)? {
        let strings = sections.strings(LittleEndian, bytes, link)?;
        for file in files {
            for symbol in file?.1 {
                let name = symbol?.name(LittleEndian, strings)?;
                if let Some(version) = version(&String::from_utf8_lossy(name)) {
                    glibc = glibc.max(version);
                }
            }
        }
    }
    Ok(Needs { machine: header.e_machine.get(LittleEndian), libraries, glibc })
}

/// Parses `GLIBC_2.17` or `GLIBC_2.2.5`; `None` for private (`GLIBC_PRIVATE`) versions and other libraries.
fn version(symbol: &str) -> Option<(u32, u32)> {
    let mut numbers = symbol.strip_prefix("GLIBC_")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_c_library_are_read() {
        assert_eq!(version("GLIBC_2.17"), Some((2, 17)));
        assert_eq!(version("GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!(version("GCC_3.3"), None);
        assert_eq!(version("GLIBC_PRIVATE"), None);
    }

    #[test]
    fn a_program_of_the_test_data_needs_the_c_library() {
        let file = "testdata/sysroot/tmp/unwind-perf-testdata/spin-lld/spin-lld";
        let needs = needs(&std::fs::read(crate::command::root().join(file)).unwrap()).unwrap();
        assert_eq!(needs.machine, elf::EM_X86_64);
        assert_eq!(needs.libraries, ["libc.so.6"]);
        assert_eq!(needs.glibc, (2, 34));
        assert_eq!(needs.debian_packages(), "libc6 (>= 2.17)");
    }
}
