//! The machine itself.
#![allow(clippy::disallowed_methods, reason = "this is the host that everything else asks")]

use std::ffi::OsString;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::{
    Content, DirEntry, FileKind, FileStamp, FileStat, Host, HostError, HostFile, LIST_LIMIT,
    Origin, READ_LIMIT,
};

/// The machine that this process runs on. Serves every [`Origin`] alike.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealHost;

impl Host for RealHost {
    fn open(&self, path: &Path, _: Origin) -> Result<HostFile, HostError> {
        let (file, stamp) = open_regular(path)?;
        let content = Content::map(&file, stamp.size).map_err(|source| io_error(path, source))?;
        Ok(HostFile { content, stamp })
    }

    fn read(&self, path: &Path, _: Origin) -> Result<Vec<u8>, HostError> {
        let (file, stamp) = open_regular(path)?;
        // Files that the kernel synthesizes while they are read state a size of 0.
        let mut bytes =
            Vec::with_capacity(usize::try_from(stamp.size.min(READ_LIMIT)).unwrap_or(0));
        file.take(READ_LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(|source| io_error(path, source))?;
        if bytes.len() as u64 > READ_LIMIT {
            return Err(HostError::TooLarge { path: path.to_owned(), limit: READ_LIMIT });
        }
        Ok(bytes)
    }

    fn stream(&self, path: &Path, _: Origin) -> Result<Box<dyn Read + Send>, HostError> {
        let file = File::open(path).map_err(|source| io_error(path, source))?;
        Ok(Box::new(file))
    }

    fn stat(&self, path: &Path, _: Origin) -> Result<FileStat, HostError> {
        let metadata = std::fs::metadata(path).map_err(|source| io_error(path, source))?;
        Ok(FileStat { kind: kind_of(metadata.file_type()), stamp: stamp_of(&metadata) })
    }

    fn list(&self, path: &Path, _: Origin) -> Result<Vec<DirEntry>, HostError> {
        let entries = std::fs::read_dir(path).map_err(|source| io_error(path, source))?;
        let mut found: Vec<DirEntry> = entries
            .take(LIST_LIMIT)
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let kind = kind_of(entry.file_type().ok()?);
                Some(DirEntry { name: entry.file_name(), kind })
            })
            .collect();
        // The order of a folder is not the same everywhere.
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

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

/// Opens a regular file. It is looked at before it is opened, since opening a FIFO blocks and a device may do anything,
/// and again once it is open, since another file may have taken its place.
fn open_regular(path: &Path) -> Result<(File, FileStamp), HostError> {
    let io = |source| io_error(path, source);
    let not_regular = || HostError::NotRegular { path: path.to_owned() };
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        return Err(not_regular());
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if metadata.is_file() { Ok((file, stamp_of(&metadata))) } else { Err(not_regular()) }
}

fn io_error(path: &Path, source: io::Error) -> HostError {
    HostError::Io { path: path.to_owned(), source }
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

fn stamp_of(metadata: &Metadata) -> FileStamp {
    FileStamp {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScratchDir;

    #[test]
    fn files_are_mapped_read_and_told_apart() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, b"seven b").expect("a file");
        let file = RealHost.open(&path, Origin::User).expect("a file");
        assert_eq!(&file.content[..], b"seven b");
        assert_eq!(file.content.pages().mapped(), 7);
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
        const PAGES: usize = 1 << 16;
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
    fn what_the_kernel_makes_up_is_read() {
        let release = RealHost.read(Path::new("/proc/sys/kernel/osrelease"), Origin::System);
        assert_eq!(RealHost.kernel_release(), release.expect("a release").trim_ascii());
        if let Some(vdso) = RealHost.running_vdso() {
            assert_eq!(vdso[..4], *b"\x7fELF");
        }
    }
}
