//! The identity of a file as the kernel states it in map records.
//!
//! `stat` is not sufficient: on btrfs and overlayfs it reports another device than a map record of the same file.
#![allow(unsafe_code, reason = "one ioctl and one mapping; argued for at each call")]
#![allow(clippy::disallowed_methods, reason = "a part of the host that everything else queries")]

use std::ffi::c_long;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;

use memmap2::MmapOptions;
use rustix::fs::{fstatfs, major, minor};
use rustix::ioctl::{Updater, ioctl, opcode};
use serde::{Deserialize, Serialize};

use crate::FileStamp;

/// Device, inode and generation of a regular file as a map record states them, and the times of its last changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RecordedFile {
    /// Device major.
    pub major: u32,
    /// Device minor.
    pub minor: u32,
    /// Inode number.
    pub inode: u64,
    /// Inode generation; `None` if the file system does not report one.
    pub generation: Option<u64>,
    /// True if no other file of the device has these numbers.
    /// Subvolumes of btrfs and layers of overlayfs repeat inode numbers.
    pub is_unique: bool,
    /// Time of the last change of the content (`st_mtim`), in nanoseconds since 1970.
    pub modified: i128,
    /// Time of the last change of content, owner, mode or links (`st_ctim`), in nanoseconds since 1970.
    pub changed: i128,
}

impl RecordedFile {
    /// Creates a file of that device and inode that never changed.
    #[must_use]
    pub const fn unchanged(major: u32, minor: u32, inode: u64, generation: Option<u64>) -> Self {
        Self { major, minor, inode, generation, is_unique: true, modified: 0, changed: 0 }
    }

    /// Creates the identity of a file from its stamp alone.
    #[must_use]
    pub const fn of_stamp(stamp: &FileStamp) -> Self {
        let &FileStamp { inode, modified, .. } = stamp;
        Self {
            major: 0,
            minor: 0,
            inode,
            generation: None,
            is_unique: true,
            modified,
            changed: modified,
        }
    }

    /// Returns the identity of an opened regular file.
    ///
    /// # Errors
    /// If the file cannot be queried.
    pub(crate) fn of(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let by_stat = (major(metadata.dev()), minor(metadata.dev()), metadata.ino());
        let is_plain = fstatfs(file).is_ok_and(|system| {
            // The type of the field differs by processor.
            #[allow(clippy::unnecessary_cast, reason = "not the same type everywhere")]
            let kind = system.f_type as u64 & 0xffff_ffff;
            PLAIN.contains(&kind)
        });
        let recorded = if is_plain { by_stat } else { by_mapping(file).unwrap_or(by_stat) };
        let (major, minor, inode) = recorded;
        Ok(Self {
            major,
            minor,
            inode,
            generation: generation(file),
            is_unique: recorded == by_stat,
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// File systems with equal numbers in `stat` and map records: ext2 to ext4, xfs, f2fs, tmpfs.
///
/// Source: linux/magic.h, statfs(2).
const PLAIN: [u64; 4] = [0xef53, 0x5846_5342, 0xf2f5_2010, 0x0102_1994];

/// Returns device and inode of a mapping of the file in this process.
///
/// Source: proc(5), `/proc/PID/maps`; its lines and map records are made from the same fields of the mapping.
fn by_mapping(file: &File) -> Option<(u32, u32, u64)> {
    // SAFETY: the mapping is private and read-only, and no byte of it is read.
    let map = unsafe { MmapOptions::new().len(1).map(file) }.ok()?;
    let maps = std::fs::read("/proc/self/maps").ok()?;
    // A mapping may be merged with its neighbour of the same file.
    let at = map.as_ptr() as u64;
    let line = MapsLine::all(&maps).find(|line| (line.start..line.end).contains(&at))?;
    Some((line.major, line.minor, line.inode))
}

/// Returns the generation of an inode: it differs if an inode number is reused.
///
/// Source: `FS_IOC_GETVERSION` in linux/fs.h. The number of the request states a `long`, file systems write an `int`.
fn generation(file: &File) -> Option<u64> {
    const GET_VERSION: rustix::ioctl::Opcode = opcode::read::<c_long>(b'v', 1);
    let mut version = [0_u32; size_of::<c_long>() / size_of::<u32>()];
    // SAFETY: the request writes at most a `long` to the address given, which has room for one and is initialised.
    let request = unsafe { Updater::<GET_VERSION, _>::new(&mut version) };
    // SAFETY: as above; the descriptor stays open during the call.
    unsafe { ioctl(file.as_fd(), request) }.ok()?;
    version.first().copied().map(u64::from)
}

/// A line of `/proc/PID/maps`.
///
/// Source: proc(5): `start-end perms offset major:minor inode path`; numbers are hexadecimal except for the inode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapsLine<'m> {
    /// First address.
    pub start: u64,
    /// End address, exclusive.
    pub end: u64,
    /// True if the memory is executable.
    pub executable: bool,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Device major.
    pub major: u32,
    /// Device minor.
    pub minor: u32,
    /// Inode number; 0 for memory without a file.
    pub inode: u64,
    /// Path or name, including the kernel's mark ` (deleted)`.
    pub path: &'m [u8],
}

impl<'m> MapsLine<'m> {
    /// Parses the lines of a file; skips lines of another form.
    pub fn all(maps: &'m [u8]) -> impl Iterator<Item = Self> + Clone {
        maps.split(|&byte| byte == b'\n').filter_map(Self::parse)
    }

    /// Parses one line.
    #[must_use]
    pub fn parse(line: &'m [u8]) -> Option<Self> {
        let mut rest = line;
        let mut word = || {
            let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            std::str::from_utf8(word).ok()
        };
        let (range, protection, offset, device, inode) =
            (word()?, word()?, word()?, word()?, word()?);
        let (start, end) = range.split_once('-')?;
        let (major, minor) = device.split_once(':')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let device_part = |text| u32::from_str_radix(text, 16).ok();
        Some(Self {
            start: hex(start)?,
            end: hex(end)?,
            executable: protection.as_bytes().get(2) == Some(&b'x'),
            offset: hex(offset)?,
            major: device_part(major)?,
            minor: device_part(minor)?,
            inode: inode.parse().ok()?,
            path: rest.trim_ascii_start(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make the files that they look for")]
mod tests {
    use super::*;
    use crate::ScratchDir;

    #[test]
    fn lines_of_maps() {
        let text = b"7f1200000000-7f1200002000 r-xp 00001000 fe:00 1234                       /tmp/a b (deleted)\n\
            7ffd0000-7ffd1000 rw-p 00000000 00:00 0\nno line\n";
        let lines: Vec<_> = MapsLine::all(text).collect();
        let first = MapsLine {
            start: 0x7f12_0000_0000,
            end: 0x7f12_0000_2000,
            executable: true,
            offset: 0x1000,
            major: 0xfe,
            minor: 0,
            inode: 1234,
            path: b"/tmp/a b (deleted)",
        };
        assert_eq!((lines.len(), lines[0]), (2, first));
        assert_eq!((lines[1].inode, lines[1].executable, lines[1].path), (0, false, &b""[..]));
    }

    /// The numbers are those of a mapping on each file system, and on ext4 and tmpfs also those of `stat`.
    #[test]
    fn a_file_is_recorded_by_the_numbers_of_its_mapping() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7; 8192]).expect("a file");
        let file = File::open(&path).expect("the file");
        let recorded = RecordedFile::of(&file).expect("its identity");
        assert_eq!(by_mapping(&file), Some((recorded.major, recorded.minor, recorded.inode)));
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("a mode");
        let changed = RecordedFile::of(&file).expect("its identity");
        assert_eq!(changed.modified, recorded.modified);
        assert!(changed.changed >= recorded.changed);
    }
}
