//! Owners of folders and of the symlinks to them: other users must not decide which files are read or written.
#![allow(clippy::disallowed_methods, reason = "folders and links are looked at here")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::statfs;

/// Maximum number of symlinks on one path, as in Linux. Source: `path_resolution(7)`.
const LINKS: u32 = 40;

/// Source: linux/magic.h, `PROC_SUPER_MAGIC`.
const PROC: i128 = 0x9fa0;

/// Reason not to trust a folder or symlink.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
pub enum Distrust {
    /// The folder, or the target of a symlink, belongs to another user.
    #[error("{} belongs to another user (uid {user})", path.display())]
    Owner {
        /// Its path.
        path: PathBuf,
        /// The user.
        user: u32,
    },
    /// Other users can write into the folder.
    #[error("{} can be written by others (mode {mode:03o})", path.display())]
    Writable {
        /// Its path.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A link belongs to another user.
    #[error("{} is a symbolic link of another user (uid {user})", path.display())]
    Link {
        /// Its path.
        path: PathBuf,
        /// The user.
        user: u32,
    },
}

/// Returns the reason not to trust a folder on disk; `None` if it is trusted or does not exist.
/// It is trusted if it, the symlinks on its path and their targets belong to this user or the superuser.
/// Others must not be able to write into it, except by the owner's private group.
#[must_use]
pub fn distrust_of(folder: &Path) -> Option<Distrust> {
    if let Some(distrust) = links_to(folder) {
        return Some(distrust);
    }
    let metadata = fs::metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    if is_other(metadata.uid()) {
        return Some(Distrust::Owner { path: folder.to_owned(), user: metadata.uid() });
    }
    let mode = metadata.mode() & 0o777;
    let others = if has_private_group(&metadata) { 0o002 } else { 0o022 };
    (mode & others != 0).then(|| Distrust::Writable { path: folder.to_owned(), mode })
}

/// Returns true if the group of a folder is the private group of its owner, which has the owner's number.
/// The superuser's group has other members.
fn has_private_group(metadata: &fs::Metadata) -> bool {
    metadata.uid() != 0 && metadata.gid() == metadata.uid()
}

/// Follows symlinks at the last component of a path; the system resolves the others. The target need not exist.
///
/// # Errors
/// If a symlink or its target belongs to another user, except the superuser.
pub fn follow_own_links(path: &Path) -> Result<PathBuf, Distrust> {
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&place) else { break };
        check_link(&place)?;
        place = place.parent().unwrap_or(Path::new("")).join(next);
    }
    Ok(place)
}

/// Checks all symlinks on a path.
fn links_to(path: &Path) -> Option<Distrust> {
    let mut left = LINKS;
    let mut at = PathBuf::new();
    let mut todo: Vec<OsString> = Vec::new();
    push_components(&mut todo, path);
    while let Some(name) = todo.pop() {
        at.push(&name);
        let Ok(target) = fs::read_link(&at) else { continue };
        if let Err(distrust) = check_link(&at) {
            return Some(distrust);
        }
        // The system refuses more.
        left = left.checked_sub(1)?;
        if !is_virtual(&at) {
            at.pop();
            push_components(&mut todo, &target);
        }
    }
    None
}

/// Pushes the components of a path, the first on top; that of `/` restarts at the root.
fn push_components(todo: &mut Vec<OsString>, path: &Path) {
    let components = path.components().rev().filter(|it| *it != Component::CurDir);
    todo.extend(components.map(|it| it.as_os_str().to_owned()));
}

/// Checks a symlink and its target.
fn check_link(link: &Path) -> Result<(), Distrust> {
    // Users cannot create symlinks there, and their targets were opened by their own names.
    if is_virtual(link) {
        return Ok(());
    }
    let owner = |metadata: fs::Metadata| Some(metadata.uid()).filter(|&user| is_other(user));
    if let Some(user) = fs::symlink_metadata(link).ok().and_then(owner) {
        return Err(Distrust::Link { path: link.to_owned(), user });
    }
    // Devices and pipes, such as those of /dev/stdout, belong to the user who opened them.
    let target = fs::metadata(link).ok().filter(|it| it.is_dir() || it.is_file());
    let next = fs::read_link(link).unwrap_or_default();
    let path = link.parent().unwrap_or(Path::new("")).join(next);
    // The same applies to files that are reached by a link of /proc.
    match target.filter(|_| !is_virtual(&path)).and_then(owner) {
        Some(user) => Err(Distrust::Owner { path, user }),
        None => Ok(()),
    }
}

/// Returns true if a path is on /proc.
fn is_virtual(path: &Path) -> bool {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    statfs(folder.unwrap_or(Path::new("."))).is_ok_and(|it| i128::from(it.f_type) == PROC)
}

/// Returns true if a user is neither this one nor the superuser.
fn is_other(user: u32) -> bool {
    user != 0 && user != rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use super::*;
    use crate::ScratchDir;

    const OTHER: u32 = 12_345;

    #[test]
    fn folders_that_others_can_write_are_not_trusted() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let folder = dir.path().join("folder");
        assert_eq!(distrust_of(&folder), None);
        fs::create_dir(&folder).expect("a folder");
        let distrust = |mode| {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("set");
            distrust_of(&folder)
        };
        let writable = |mode| Some(Distrust::Writable { path: folder.clone(), mode });
        assert_eq!([0o700, 0o755].map(distrust), [None, None]);
        assert_eq!(distrust(0o1777), writable(0o777));
        let is_private = has_private_group(&fs::metadata(&folder).expect("a folder"));
        assert_eq!(distrust(0o770), writable(0o770).filter(|_| !is_private));
        if std::os::unix::fs::chown(&folder, Some(OTHER), Some(OTHER)).is_ok() {
            assert!(has_private_group(&fs::metadata(&folder).expect("a folder")));
        }
        let text = writable(0o777).map(|it| it.to_string()).unwrap_or_default();
        assert_eq!(text, format!("{} can be written by others (mode 777)", folder.display()));
    }

    #[test]
    fn links_and_their_targets_belong_to_this_user() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("folder")).expect("a folder");
        fs::create_dir(at("folder/inner")).expect("a folder");
        for (link, target) in [("own", "folder"), ("other", "folder"), ("to-other", "other")] {
            symlink(target, at(link)).expect("a link");
        }
        symlink("loop", at("loop")).expect("a link");
        symlink("none", at("free")).expect("a link");
        for path in ["folder", "own", "own/inner", "own/../own/./inner", "loop", "free", "none"] {
            assert_eq!(distrust_of(&at(path)), None, "{path}");
        }
        assert_eq!(follow_own_links(&at("own")), Ok(at("folder")));
        assert_eq!(follow_own_links(&at("free")), Ok(at("none")));
        assert_eq!(follow_own_links(&at("loop")), Ok(at("loop")));
        assert!(follow_own_links(Path::new("/dev/stdout")).is_ok());
        // Only the superuser can give a symlink away.
        if lchown(at("other"), Some(OTHER), None).is_err() {
            return;
        }
        let link = Distrust::Link { path: at("other"), user: OTHER };
        for path in ["other", "to-other", "other/inner", "to-other/none"] {
            assert_eq!(distrust_of(&at(path)), Some(link.clone()), "{path}");
        }
        assert_eq!(follow_own_links(&at("to-other")), Err(link));
        lchown(at("folder"), Some(OTHER), None).expect("given");
        let owner = |path: &str| Distrust::Owner { path: at(path), user: OTHER };
        assert_eq!(distrust_of(&at("folder")), Some(owner("folder")));
        assert_eq!(distrust_of(&at("own/inner")), Some(owner("folder")));
        assert_eq!(follow_own_links(&at("own")), Err(owner("folder")));
        assert_eq!(follow_own_links(&at("folder")), Ok(at("folder")));
    }
}
