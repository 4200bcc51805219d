//! Libraries that the dynamic loader loads with a file, by name.

use crate::elf::Image;

/// Tags of the dynamic section.
///
/// Source: gABI, "Dynamic Section".
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// Names of libraries, and the folders in which the loader searches them first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NeededLibraries {
    /// Names in the order of the file.
    pub names: Vec<Vec<u8>>,
    /// Folders as stated; `$ORIGIN` is that of the file.
    pub folders: Vec<Vec<u8>>,
}

impl Image {
    /// Returns the libraries that a 64-bit file needs.
    #[must_use]
    pub fn needed_libraries(&self) -> NeededLibraries {
        self.read_needed().unwrap_or_default()
    }

    fn read_needed(&self) -> Option<NeededLibraries> {
        let data = |name| self.section_data(self.section(name)?).ok();
        let (entries, strings) = (data(".dynamic")?, data(".dynstr")?);
        let word = |bytes: &[u8; 8]| {
            if self.is_little_endian() {
                u64::from_le_bytes(*bytes)
            } else {
                u64::from_be_bytes(*bytes)
            }
        };
        let string = |at: u64| {
            let rest = strings.get(usize::try_from(at).ok()?..)?;
            rest.get(..memchr::memchr(0, rest)?)
        };
        let mut needed = NeededLibraries::default();
        for entry in entries.chunks_exact(16) {
            let tag = word(entry.first_chunk()?);
            let text = || string(word(entry.last_chunk()?));
            match tag {
                DT_NULL => break,
                DT_NEEDED => needed.names.extend(text().map(<[u8]>::to_vec)),
                DT_RPATH | DT_RUNPATH => {
                    let folders = text().into_iter().flat_map(|it| it.split(|&byte| byte == b':'));
                    needed.folders.extend(folders.map(<[u8]>::to_vec));
                }
                _ => {}
            }
        }
        Some(needed)
    }
}
