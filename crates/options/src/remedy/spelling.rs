//! The names of options in advice.

/// An option that advice names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileOption {
    /// Files of modules.
    Modules,
    /// Folders that are searched by name.
    ExtraDirs,
    /// Folders that stand for `/`.
    Sysroot,
    /// Folders of separate debug files.
    DebugDirs,
    /// Servers that have files by build-id.
    Debuginfod,
    /// Folders with maps of just-in-time compilers.
    PerfMapDirs,
    /// Trust in maps of other users.
    TrustPerfMaps,
    /// The content of memory that the recording does not state.
    Map,
    /// A list of the kernel's symbols.
    Kallsyms,
}

impl FileOption {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Modules,
        Self::ExtraDirs,
        Self::Sysroot,
        Self::DebugDirs,
        Self::Debuginfod,
        Self::PerfMapDirs,
        Self::TrustPerfMaps,
        Self::Map,
        Self::Kallsyms,
    ];

    /// Its name in JSON and in Python.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Modules => "modules",
            Self::ExtraDirs => "extra_dirs",
            Self::Sysroot => "sysroot",
            Self::DebugDirs => "debug_dirs",
            Self::Debuginfod => "debuginfod",
            Self::PerfMapDirs => "perf_map_dirs",
            Self::TrustPerfMaps => "trust_perf_maps",
            Self::Map => "map",
            Self::Kallsyms => "kallsyms",
        }
    }
}

/// An option on tables and comparisons that messages name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableOption {
    /// The number of rows.
    Limit,
    /// The events that are counted.
    Event,
    /// Two modules that are compared.
    Pair,
    /// The measure by which costs are divided before they are compared.
    Normalize,
}

impl TableOption {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Limit, Self::Event, Self::Pair, Self::Normalize];

    /// Its name in JSON and in Python.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Event => "event",
            Self::Pair => "pair",
            Self::Normalize => "normalize",
        }
    }
}

/// How a user writes options.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The name of an option on files.
    pub of: fn(FileOption) -> &'static str,
    /// The name of an option on tables.
    pub of_table: fn(TableOption) -> &'static str,
    /// The text between a name and its value.
    pub assignment: &'static str,
}

impl Spelling {
    /// That of requests and of Python: `modules=FILE`.
    pub const KEYS: Self =
        Self { of: FileOption::key, of_table: TableOption::key, assignment: "=" };

    /// The name of an option.
    #[must_use]
    pub fn name(self, option: FileOption) -> &'static str {
        (self.of)(option)
    }

    /// An option with a value.
    #[must_use]
    pub fn with(self, option: FileOption, value: &str) -> String {
        format!("{}{}{value}", self.name(option), self.assignment)
    }

    /// An option on tables with a value.
    #[must_use]
    pub fn table(self, option: TableOption, value: &str) -> String {
        format!("{}{}{value}", (self.of_table)(option), self.assignment)
    }
}

impl Default for Spelling {
    fn default() -> Self {
        Self::KEYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::every_option;

    #[test]
    fn keys_are_those_of_the_options() {
        let object = every_option().to_object();
        for option in FileOption::ALL {
            assert!(object.contains_key(option.key()), "{option:?}");
        }
    }
}
