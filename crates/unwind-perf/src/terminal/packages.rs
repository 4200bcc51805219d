//! The packages of this machine's files, for advice that names them.

use std::cmp::Reverse;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use host::{Host, Origin};

/// The lists of files of installed packages.
///
/// Source: dpkg-query(1), `--listfiles`; one file `PACKAGE[:ARCH].list` for each package, one path a line.
const DPKG_LISTS: &str = "/var/lib/dpkg/info";
/// The database of rpm, by its two usual paths.
const RPM_DATABASES: [&str; 2] = ["/usr/lib/sysimage/rpm", "/var/lib/rpm"];
/// Folders that packages leave to the user.
///
/// Source: Debian Policy Manual, 9.1.2; Filesystem Hierarchy Standard.
const NEVER_PACKAGED: [&[u8]; 4] = [b"home", b"local", b"root", b"tmp"];
/// The most bytes of lists that are read; those of a large desktop have a fifth of it.
const MAX_BYTES: usize = 256 << 20;

/// For each path, the action that installs its debug information; `None` if no package is known to have it.
///
/// Paths come out of a recording: they are compared as bytes, and nothing is opened by them.
pub(crate) fn installs(paths: &[&[u8]], host: &dyn Host) -> Vec<Option<String>> {
    if let Ok(lists) = host.list(Path::new(DPKG_LISTS), Origin::System) {
        let names = lists.iter().map(|entry| Path::new(&entry.name)).collect();
        let packages = owners(paths, names, host);
        return packages
            .into_iter()
            .map(|it| it.map(|name| format!("install {}", debug_package(&name))))
            .collect();
    }
    let has_rpm = RPM_DATABASES.iter().any(|path| host.is_dir(Path::new(path), Origin::System));
    let command = |path: &&[u8]| {
        let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte);
        let path =
            std::str::from_utf8(path).ok().filter(|path| path.bytes().all(|it| is_plain(&it)));
        path.filter(|_| has_rpm).map(|path| format!("run dnf debuginfo-install {path}"))
    };
    paths.iter().map(command).collect()
}

/// The package of each path, by the lists.
fn owners<'p>(paths: &[&'p [u8]], mut lists: Vec<&Path>, host: &dyn Host) -> Vec<Option<String>> {
    let wanted: Vec<&[u8]> = paths.iter().map(|path| without_usr(path)).collect();
    let mut found: Vec<Option<String>> = vec![None; paths.len()];
    let is_found = |wanted: &[u8], found: &Option<String>| {
        let mut parts = wanted.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
        found.is_some() || parts.next().is_some_and(|folder| NEVER_PACKAGED.contains(&folder))
    };
    lists.retain(|name| name.extension().is_some_and(|end| end == "list"));
    // Packages are named like their files: most are found in the first lists of hundreds.
    let file_name = |path: &&'p [u8]| path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let names: Vec<&[u8]> = paths.iter().map(file_name).collect();
    lists.sort_by_cached_key(|list| Reverse(likeness(list, &names)));
    let mut left = MAX_BYTES;
    for name in lists {
        if wanted.iter().zip(&found).all(|(wanted, found)| is_found(wanted, found)) {
            break;
        }
        let Ok(bytes) = host.read(&Path::new(DPKG_LISTS).join(name), Origin::System) else {
            continue;
        };
        let Some(rest) = left.checked_sub(bytes.len()) else { break };
        left = rest;
        for (wanted, found) in wanted.iter().zip(&mut found) {
            if !is_found(wanted, found) && lists_file(&bytes, wanted) {
                *found = package_of(name);
            }
        }
    }
    found
}

/// Returns the length of the longest beginning that the names of a package and of a file have in common.
fn likeness(list: &Path, names: &[&[u8]]) -> usize {
    let package = list.as_os_str().as_bytes();
    let common = |name: &&[u8]| name.iter().zip(package).take_while(|(a, b)| a == b).count();
    names.iter().map(common).max().unwrap_or(0)
}

/// Returns true if a line of a list is this path, with or without `/usr`.
fn lists_file(list: &[u8], path: &[u8]) -> bool {
    memchr::memmem::find_iter(list, path).any(|at| {
        let (before, after) = (list.get(..at).unwrap_or_default(), list.get(at + path.len()..));
        let begins = |rest: &[u8]| rest.last().is_none_or(|&byte| byte == b'\n');
        let is_whole = after.unwrap_or_default().first().is_none_or(|&byte| byte == b'\n');
        is_whole && (begins(before) || before.strip_suffix(b"/usr").is_some_and(begins))
    })
}

/// `libc6` of `libc6:amd64.list`.
fn package_of(list: &Path) -> Option<String> {
    let name = list.file_stem()?.as_bytes().split(|&byte| byte == b':').next()?;
    String::from_utf8(name.to_vec()).ok()
}

/// The path as it was before `/lib`, `/bin` and `/sbin` became links into `/usr`: packages list one or the other.
fn without_usr(path: &[u8]) -> &[u8] {
    path.strip_prefix(b"/usr").filter(|rest| rest.starts_with(b"/")).unwrap_or(path)
}

/// The package with the debug information of a package's files.
///
/// Source: <https://wiki.debian.org/AutomaticDebugPackages>; glibc has a package of its own.
fn debug_package(package: &str) -> String {
    if package == "libc6" { "libc6-dbg".to_owned() } else { format!("{package}-dbgsym") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::MemoryHost;

    const PATHS: [&[u8]; 3] =
        [b"/usr/lib/x86_64-linux-gnu/libc.so.6", b"/usr/bin/bash", b"/opt/x; rm -r /"];

    #[test]
    fn dpkg_lists_files_with_or_without_usr() {
        let host = MemoryHost::new();
        let lists = [
            ("bash-doc.list", &b"/usr/bin/bash.txt\n/x/usr/bin/bash\n"[..]),
            ("libc6:amd64.list", b"/.\n/lib/x86_64-linux-gnu/libc.so.6\n"),
            ("bash.list", b"/bin/bash\n"),
            ("bash.md5sums", b"/opt/x; rm -r /\n"),
        ];
        for (name, text) in lists {
            host.insert(Path::new(DPKG_LISTS).join(name), text);
        }
        let found = installs(&PATHS, &host);
        let expected = ["install libc6-dbg", "install bash-dbgsym"].map(|it| Some(it.to_owned()));
        assert_eq!(found, [&expected[..], &[None]].concat());
    }

    #[test]
    fn rpm_gets_a_command_with_plain_paths() {
        let host = MemoryHost::new();
        assert_eq!(installs(&PATHS, &host), [None, None, None]);
        host.insert("/var/lib/rpm/rpmdb.sqlite", *b"");
        let found = installs(&PATHS, &host);
        let bash = "run dnf debuginfo-install /usr/bin/bash";
        assert_eq!(found.get(1), Some(&Some(bash.to_owned())));
        assert_eq!(found.get(2), Some(&None));
    }
}
