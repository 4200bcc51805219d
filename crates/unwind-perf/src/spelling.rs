//! The options of the command in advice.

use options::{FileOption, Spelling};

/// Advice names the options of the command: `--module FILE`.
pub(crate) const SPELLING: Spelling = Spelling { of: name, assignment: " " };

const fn name(option: FileOption) -> &'static str {
    match option {
        FileOption::Modules => "--module",
        FileOption::ExtraDirs => "--extra-dir",
        FileOption::Sysroot => "--sysroot",
        FileOption::DebugDirs => "--debug-dir",
        FileOption::Debuginfod => "--debuginfod",
        FileOption::PerfMapDirs => "--perf-map-dir",
        FileOption::TrustPerfMaps => "--trust-perf-maps",
        FileOption::Map => "--map",
        FileOption::Kallsyms => "--kallsyms",
    }
}
