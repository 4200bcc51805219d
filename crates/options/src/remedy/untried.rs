//! The options that may still find a file.

use super::{OptionName, Spelling};

/// The options that may still find a file. Folders that were given and do not have it are not advised again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UntriedOptions {
    /// More folders to search by name.
    pub extra_dir: bool,
    /// A folder that replaces `/` in recorded paths.
    pub sysroot: bool,
    /// Folders of debug files.
    pub debug_dir: bool,
    /// Servers that provide files by build-id.
    pub debuginfod: bool,
    /// True if a package installed on this host would be found.
    pub install: bool,
}

impl UntriedOptions {
    /// Returns the options for memory without a file name, without those that use paths.
    #[must_use]
    pub const fn by_content(self) -> Self {
        Self { sysroot: false, ..self }
    }

    /// Formats the options for a mapped file: `a, b or c`.
    pub(super) fn to_file(self, has_id: bool, spelling: Spelling) -> String {
        one_of(&[
            Some(spelling.with(OptionName::Modules, "FILE")),
            self.extra_dir.then(|| spelling.with(OptionName::ExtraDirs, "DIR")),
            self.sysroot.then(|| spelling.with(OptionName::Sysroot, "DIR")),
            self.servers(has_id, spelling),
        ])
    }

    /// Formats the options for a debug file.
    pub(super) fn to_debug_file(self, has_id: bool, spelling: Spelling) -> String {
        one_of(&[
            self.debug_dir.then(|| spelling.with(OptionName::DebugDirs, "DIR")),
            Some(spelling.with(OptionName::Modules, "FILE")),
            self.servers(has_id, spelling),
        ])
    }

    fn servers(self, has_id: bool, spelling: Spelling) -> Option<String> {
        let is_of_use = self.debuginfod && has_id;
        is_of_use.then(|| spelling.name(OptionName::Debuginfod).to_owned())
    }
}

fn one_of(options: &[Option<String>]) -> String {
    let options: Vec<&str> = options.iter().flatten().map(String::as_str).collect();
    match options.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
