//! The names of options in advice.

macro_rules! option_names {
    ($($(#[$doc:meta])* $variant:ident = $key:literal,)*) => {
        /// An option that messages name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum OptionName {
            $($(#[$doc])* $variant,)*
        }

        impl OptionName {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in JSON and in Python.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => $key,)*
                }
            }
        }
    };
}

option_names! {
    /// Files of modules.
    Modules = "modules",
    /// Folders that are searched by name.
    ExtraDirs = "extra_dirs",
    /// Folders that stand for `/`.
    Sysroot = "sysroot",
    /// Folders of separate debug files.
    DebugDirs = "debug_dirs",
    /// Servers that provide files by build-id.
    Debuginfod = "debuginfod",
    /// Folders with maps of just-in-time compilers.
    PerfMapDirs = "perf_map_dirs",
    /// Trust in maps of other users.
    TrustPerfMaps = "trust_perf_maps",
    /// The content of memory that the recording does not state.
    Map = "map",
    /// A list of the kernel's symbols.
    Kallsyms = "kallsyms",
    /// The events to count.
    Event = "event",
    /// The number of rows of a table.
    Limit = "limit",
    /// Two modules to compare.
    Pair = "pair",
    /// Divisor of costs before their comparison.
    Normalize = "normalize",
}

/// A user's form of options.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// Returns the name of an option.
    pub of: fn(OptionName) -> &'static str,
    /// The text between a name and its value.
    pub assignment: &'static str,
}

impl Spelling {
    /// The form in requests and in Python: `modules=FILE`.
    pub const KEYS: Self = Self { of: OptionName::key, assignment: "=" };

    /// Returns the name of an option.
    #[must_use]
    pub fn name(self, option: OptionName) -> &'static str {
        (self.of)(option)
    }

    /// Returns an option with a value.
    #[must_use]
    pub fn with(self, option: OptionName, value: &str) -> String {
        format!("{}{}{value}", self.name(option), self.assignment)
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
        for option in OptionName::ALL {
            let is_of_run = !["limit", "pair", "normalize"].contains(&option.key());
            assert_eq!(object.contains_key(option.key()), is_of_run, "{option:?}");
        }
    }
}
