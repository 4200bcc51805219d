//! The real host system.
#![allow(clippy::disallowed_methods, reason = "this is the host that everything else asks")]

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags};
use rustix::time::{ClockId, clock_gettime};

use crate::checked_file::CheckedFile;
use crate::confined::open_inside;
use crate::error::io_error;
use crate::stat::stamp_of;
use crate::{
    ByteStream, DirEntry, Distrust, FileKind, FileOwner, FileStamp, FileStat, Host, HostError,
    HostFile, HostText, LIST_LIMIT, Origin, RecordedFile,
};

/// The system that this process runs on. Stateless.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealHost;

impl Host for RealHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        CheckedFile::at(path, origin)?.content()
    }

    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_cached: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        let found = CheckedFile::at(path, origin)?;
        if is_cached(&stamp_of(found.metadata())) { Ok(None) } else { found.content().map(Some) }
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        Ok(CheckedFile::at(path, origin)?.open()?.0)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let (file, metadata) = CheckedFile::at(path, origin)?.open()?;
        HostText::of(path, file, FileOwner::of(&metadata))
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        // Only paths of the user can block; untrusted paths lead only to regular files.
        let file = match origin.root() {
            Some(_) => CheckedFile::at(path, origin)?.open()?.0,
            None => File::open(path).map_err(|source| io_error(path, source))?,
        };
        Ok(ByteStream::of_descriptor(file.into()))
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        let metadata = match origin.root() {
            Some(root) => {
                open_inside(root, path, OFlags::PATH).and_then(|at| File::from(at).metadata())
            }
            None => std::fs::metadata(path),
        };
        let metadata = metadata.map_err(|source| io_error(path, source))?;
        Ok(FileStat { kind: kind_of(metadata.file_type()), stamp: stamp_of(&metadata) })
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let (file, _) = CheckedFile::at(path, origin)?.open()?;
        RecordedFile::of(&file).map_err(|source| io_error(path, source))
    }

    fn owner(&self, path: &Path, origin: Origin<'_>) -> Result<FileOwner, HostError> {
        Ok(FileOwner::of(CheckedFile::at(path, origin)?.metadata()))
    }

    fn open_below(&self, folder: &Path, path: &Path) -> Result<HostFile, HostError> {
        let found = CheckedFile::at(path, Origin::Recording { root: Path::new("/") })?;
        if !found.is_below(folder) {
            return Err(HostError::missing(path));
        }
        found.content()
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        let listed = match origin.root() {
            Some(root) => list_inside(root, path),
            None => list(path),
        };
        let mut found = listed.map_err(|source| io_error(path, source))?;
        // The order of folder entries differs between systems.
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Source: proc(5): the mapping is named `[vdso]` in /proc/self/maps. Read through /proc/self/mem, which needs no
    /// `unsafe`.
    fn running_vdso(&self) -> Option<Vec<u8>> {
        const LARGEST: usize = 1 << 20;
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let len = usize::try_from(end.checked_sub(start)?).ok().filter(|&len| len <= LARGEST)?;
        let mut memory = File::open("/proc/self/mem").ok()?;
        memory.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = vec![0; len];
        memory.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Source: `clock_gettime(2)`, `linux/time.h`. Clocks of processes and threads are excluded.
    fn clock(&self, id: i32) -> Option<u64> {
        let id = match id {
            0 => ClockId::Realtime,
            1 => ClockId::Monotonic,
            4 => ClockId::MonotonicRaw,
            7 => ClockId::Boottime,
            _ => return None,
        };
        let now = clock_gettime(id);
        let seconds = u64::try_from(now.tv_sec).ok()?;
        seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(now.tv_nsec).ok()?)
    }

    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        crate::distrust_of(folder)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

fn list(path: &Path) -> io::Result<Vec<DirEntry>> {
    let entries = std::fs::read_dir(path)?.take(LIST_LIMIT).filter_map(Result::ok);
    let entry = |entry: std::fs::DirEntry| {
        let kind = kind_of(entry.file_type().ok()?);
        Some(DirEntry { name: entry.file_name(), kind })
    };
    Ok(entries.filter_map(entry).collect())
}

/// Lists a folder inside of a root.
fn list_inside(root: &Path, path: &Path) -> io::Result<Vec<DirEntry>> {
    let folder = open_inside(root, path, OFlags::DIRECTORY)?;
    let mut found = Vec::new();
    for entry in rustix::fs::Dir::read_from(&folder)?.take(LIST_LIMIT).filter_map(Result::ok) {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            let stat = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
                rustix::fs::FileType::RegularFile => FileKind::Regular,
                rustix::fs::FileType::Directory => FileKind::Directory,
                rustix::fs::FileType::Symlink => FileKind::Link,
                rustix::fs::FileType::Fifo => FileKind::Fifo,
                _ => FileKind::Special,
            };
            found.push(DirEntry { name: name.to_owned(), kind });
        }
    }
    Ok(found)
}

fn kind_of(kind: FileType) -> FileKind {
    if kind.is_file() {
        FileKind::Regular
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_symlink() {
        FileKind::Link
    } else if kind.is_fifo() {
        FileKind::Fifo
    } else {
        FileKind::Special
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::{READ_LIMIT, ScratchDir};

    #[test]
    fn files_are_mapped_read_and_told_apart() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, b"seven b").expect("a file");
        let file = RealHost.open(&path, Origin::User).expect("a file");
        assert_eq!(&file.content[..], b"seven b");
        // Small files are read.
        assert_eq!(file.content.pages().mapped(), 0);
        let stat = RealHost.stat(&path, Origin::User).expect("a file");
        assert_eq!(stat, FileStat { kind: FileKind::Regular, stamp: file.stamp });
        assert_eq!(RealHost.read(&path, Origin::User).expect("a file"), b"seven b");
        let mut text = String::new();
        RealHost
            .stream(&path, Origin::User)
            .expect("a file")
            .read_to_string(&mut text)
            .expect("text");
        assert_eq!(text, "seven b");
        std::fs::write(dir.path().join("other"), b"").expect("a file");
        let other = RealHost.open(&dir.path().join("other"), Origin::User).expect("a file");
        assert_eq!((other.content.len(), other.stamp.size), (0, 0));
        assert_ne!(other.stamp.inode, file.stamp.inode);
    }

    /// Without a guard this ends the process.
    #[test]
    fn what_is_cut_off_reads_as_zeros_and_is_told() {
        const SIZE: usize = 1 << 20;
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("file");
        for len in [SIZE, 1000] {
            std::fs::write(&path, vec![7; len]).expect("a file");
            let content = RealHost.open(&path, Origin::User).expect("a file").content;
            let damage = content.damage();
            assert!(content.iter().all(|&byte| byte == 7) && !damage.happened());
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            file.set_len(5000.min(len as u64 / 2)).expect("cut");
            let is_mapped = content.pages().mapped() > 0;
            let sum: usize = content.iter().map(|&byte| usize::from(byte)).sum();
            // The last page of a file is filled up with zeros anyway.
            assert_eq!(sum, if is_mapped { 5000 * 7 } else { len * 7 });
            assert_eq!((damage.happened(), is_mapped), (is_mapped, len == SIZE));
        }
    }

    /// As many as the modules of a recording; each open maps the file again.
    #[test]
    fn ten_thousand_large_files_are_open_at_once() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("large");
        File::create(&path).and_then(|file| file.set_len(300 << 10)).expect("a file");
        let open = |_| RealHost.open(&path, Origin::User).expect("a file").content;
        let opened: Vec<_> = (0..10_000).map(open).collect();
        assert!(opened.iter().all(|content| content.pages().mapped() == 300 << 10));
        OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(0)).expect("cut");
        for content in [opened.first(), opened.last()].into_iter().flatten() {
            assert_eq!(content.last().copied(), Some(0));
            assert!(content.damage().happened());
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        for path in [dir.path(), Path::new("/dev/zero")] {
            for error in [
                RealHost.open(path, Origin::User).expect_err("no file"),
                RealHost.read(path, Origin::User).expect_err("no file"),
            ] {
                assert_eq!(error.to_string(), format!("{} is not a regular file", path.display()));
                assert!(!error.is_missing());
            }
        }
        let missing = RealHost.open(&dir.path().join("none"), Origin::User).expect_err("no file");
        assert!(missing.is_missing());
        assert!(RealHost.is_dir(dir.path(), Origin::User));
        assert!(!RealHost.is_file(dir.path(), Origin::User));
    }

    #[test]
    fn what_is_known_is_not_opened_again() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("a");
        std::fs::write(&path, b"bytes").expect("a file");
        for origin in [Origin::User, Origin::Stored { root: dir.path() }] {
            let stamp = RealHost.stat(&path, origin).expect("a file").stamp;
            let mut seen = Vec::new();
            let mut ask = |known| {
                let opened = RealHost.open_unless(&path, origin, &mut |stamp| {
                    seen.push(*stamp);
                    known
                });
                opened.expect("a file").map(|file| (file.content.to_vec(), file.stamp))
            };
            assert_eq!((ask(true), ask(false)), (None, Some((b"bytes".to_vec(), stamp))));
            assert_eq!(seen, [stamp, stamp]);
            let error = RealHost.open_unless(dir.path(), origin, &mut |_| true);
            assert!(matches!(error, Err(HostError::NotRegular { .. })));
        }
    }

    /// A sparse file takes no disk space, and would fill the memory.
    #[test]
    fn what_is_too_large_is_not_read() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("sparse");
        File::create(&path).and_then(|file| file.set_len(6 << 30)).expect("a file");
        let error = RealHost.text(&path, Origin::User).expect_err("too large");
        assert!(matches!(error, HostError::TooLarge { limit: READ_LIMIT, .. }), "{error}");
    }

    #[test]
    fn what_a_recording_names_is_opened_inside_its_root() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let root = dir.path().join("jail");
        std::fs::create_dir_all(root.join("bin")).expect("folders");
        std::fs::write(root.join("bin/app"), b"inside").expect("a file");
        std::fs::write(dir.path().join("secret"), b"outside").expect("a file");
        std::os::unix::fs::symlink(dir.path().join("secret"), root.join("link")).expect("a link");
        let origin = Origin::Recording { root: &root };
        let app = RealHost.open(&root.join("../bin/app"), origin).expect("a file");
        assert_eq!(&app.content[..], b"inside");
        for name in ["../secret", "link", "bin/../../secret"] {
            let path = root.join(name);
            for error in [
                RealHost.open(&path, origin).map(drop).expect_err(name),
                RealHost.text(&path, origin).map(drop).expect_err(name),
                RealHost.stat(&path, origin).map(drop).expect_err(name),
                RealHost.stream(&path, origin).map(drop).expect_err(name),
                RealHost.list(&path, origin).map(drop).expect_err(name),
            ] {
                assert!(error.is_missing(), "{name}: {error}");
            }
            assert!(RealHost.is_file(&path, Origin::User));
        }
        let names = RealHost.list(&root.join(".."), origin).expect("the root itself");
        let kinds = names.iter().map(|entry| entry.kind).collect::<Vec<_>>();
        assert_eq!(kinds, [FileKind::Directory, FileKind::Link]);
    }

    #[test]
    fn only_files_below_a_folder_are_opened() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("work/src")).expect("folders");
        std::fs::write(at("work/src/a.c"), b"inside").expect("a file");
        std::fs::write(at("secret.c"), b"outside").expect("a file");
        std::fs::write(at("workshop.c"), b"outside").expect("a file");
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(at(target), at(name)).expect("a link");
        };
        link("secret.c", "work/out.c");
        link("work/src/a.c", "work/in.c");
        link("work", "linked");
        let read = |folder: &str, name: &str| {
            let file = RealHost.open_below(&at(folder), &at(name)).ok()?;
            Some(file.content.to_vec())
        };
        let inside = Some(b"inside".to_vec());
        for (folder, name) in [
            ("work", "work/src/a.c"),
            ("work", "work/src/../src/a.c"),
            ("work", "work/in.c"),
            ("work", "linked/src/a.c"),
            ("linked", "work/src/a.c"),
            ("work/src/..", "work/src/a.c"),
        ] {
            assert_eq!(read(folder, name), inside, "{folder} {name}");
        }
        for (folder, name) in [
            ("work", "secret.c"),
            ("work", "work/../secret.c"),
            ("work", "work/out.c"),
            ("work", "workshop.c"),
            ("work/src/a.c", "work/src/a.c"),
            ("none", "work/src/a.c"),
            ("work", "work/src"),
        ] {
            assert_eq!(read(folder, name), None, "{folder} {name}");
        }
        assert!(RealHost.open_below(Path::new("/"), &at("work/src/a.c")).is_err());
        assert!(RealHost.open_below(Path::new("work"), &at("work/src/a.c")).is_err());
        assert_eq!(RealHost.owner(&at("secret.c"), Origin::User).ok(), Some(FileOwner::This));
    }

    #[test]
    fn folders_are_listed_by_name() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        std::fs::write(dir.path().join("b"), b"").expect("a file");
        std::fs::create_dir(dir.path().join("c")).expect("a folder");
        std::os::unix::fs::symlink("b", dir.path().join("a")).expect("a link");
        let entries = RealHost.list(dir.path(), Origin::User).expect("a folder");
        let entry = |name: &str, kind| DirEntry { name: name.into(), kind };
        let kinds = [FileKind::Link, FileKind::Regular, FileKind::Directory];
        assert_eq!(entries, [entry("a", kinds[0]), entry("b", kinds[1]), entry("c", kinds[2])]);
        assert!(RealHost.list(&dir.path().join("b"), Origin::User).is_err());
    }

    #[test]
    fn pages_come_from_the_file_again() {
        const PAGES: usize = 1 << 17;
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("large");
        let bytes: Vec<u8> = (0..3 * PAGES as u32).map(|at| (at / 7) as u8).collect();
        std::fs::write(&path, &bytes).expect("a file");
        let content = RealHost.open(&path, Origin::User).expect("a file").content;
        let pages = content.pages();
        pages.give_back(0..PAGES);
        pages.give_back(PAGES..usize::MAX);
        assert!(content[..] == bytes[..]);
        drop(content);
        assert_eq!(pages.mapped(), 0);
        pages.give_back(0..PAGES);
    }

    #[test]
    fn clocks_go_on() {
        for id in [0, 1, 4, 7] {
            let before = RealHost.clock(id).expect("a clock");
            assert!(RealHost.clock(id).expect("a clock") >= before);
        }
        assert_eq!(RealHost.clock(2), None);
    }

    #[test]
    fn what_the_kernel_makes_up_is_read() {
        let release = RealHost.read(Path::new("/proc/sys/kernel/osrelease"), Origin::System);
        assert_eq!(RealHost.kernel_release(), release.expect("a release").trim_ascii());
        if let Some(vdso) = RealHost.running_vdso() {
            assert_eq!(vdso[..4], *b"\x7fELF");
        }
    }
}
