//! Files of split DWARF: the package beside a program, or one `.dwo` a unit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::find::{below, places, split_id};
use super::options::FileOptions;
use crate::elf::Image;

/// The split files of one image. They are opened when they are first asked for, and stay as long as the image.
#[derive(Debug)]
pub(crate) struct SplitFiles {
    package: OnceLock<Option<Image>>,
    units: [OnceLock<Box<Node>>; BUCKETS],
}

const BUCKETS: usize = 64;

/// An entry of a list that only grows, so that what it holds can be lent out while others add to it.
#[derive(Debug)]
struct Node {
    id: u64,
    image: Option<Image>,
    next: OnceLock<Box<Self>>,
}

impl Default for SplitFiles {
    fn default() -> Self {
        Self { package: OnceLock::new(), units: [const { OnceLock::new() }; BUCKETS] }
    }
}

impl SplitFiles {
    /// The file that holds the split unit of that id: the package where there is one, else the unit's `.dwo`. Its id
    /// is checked by whoever reads it.
    pub(crate) fn find(
        &self,
        owner: &Image,
        debug: Option<&Image>,
        options: &FileOptions,
        unit: (u64, &[u8], &[u8]),
    ) -> Option<&Image> {
        let package = self.package.get_or_init(|| open_package(owner, debug, options));
        if let Some(package) = package {
            return Some(package);
        }
        let (id, dir, name) = unit;
        let mut slot = self.units.get(id as usize % BUCKETS)?;
        loop {
            let node = slot.get_or_init(|| {
                let image = open_unit(owner, options, dir, name);
                Box::new(Node { id, image, next: OnceLock::new() })
            });
            if node.id == id {
                return node.image.as_ref();
            }
            slot = &node.next;
        }
    }
}

/// `PROGRAM.dwp` beside the program or its debug file, below the debug directories, or among the files that the user
/// named.
fn open_package(owner: &Image, debug: Option<&Image>, options: &FileOptions) -> Option<Image> {
    let with_suffix = |path: &Path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".dwp");
        PathBuf::from(name)
    };
    let mut paths = vec![with_suffix(owner.path())];
    paths.extend(debug.map(|debug| with_suffix(debug.path())));
    let wanted = with_suffix(owner.path());
    paths.extend(
        options.modules.iter().filter(|path| path.file_name() == wanted.file_name()).cloned(),
    );
    for dir in &options.debug_dirs {
        paths.push(with_suffix(&below(dir, owner.path())));
        paths.extend(
            owner.build_id().map(|id| with_suffix(&dir.join(".build-id").join(split_id(id)))),
        );
    }
    paths.iter().find_map(|path| {
        Image::open(path).ok().filter(|image| image.section(".debug_info.dwo").is_some())
    })
}

/// Source: DWARF 5, 3.1.2: `DW_AT_dwo_name` is relative to `DW_AT_comp_dir`.
fn open_unit(owner: &Image, options: &FileOptions, dir: &[u8], name: &[u8]) -> Option<Image> {
    let name = Path::new(OsStr::from_bytes(name));
    let stated = Path::new(OsStr::from_bytes(dir)).join(name);
    let mut paths = options
        .modules
        .iter()
        .filter(|path| path.file_name() == name.file_name())
        .cloned()
        .collect::<Vec<_>>();
    paths.extend(places(options, &stated));
    if let Some(beside) = owner.path().parent() {
        paths.push(beside.join(name));
        paths.extend(name.file_name().map(|name| beside.join(name)));
    }
    paths.iter().find_map(|path| {
        Image::open(path).ok().filter(|image| image.section(".debug_info.dwo").is_some())
    })
}
