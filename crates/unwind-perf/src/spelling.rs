//! The options of the command in advice.

use options::{FileOption, Spelling, TableOption};

/// Advice names the options of the command: `--module FILE`.
pub(crate) const SPELLING: Spelling = Spelling { of: name, of_table: table_name, assignment: " " };

const fn table_name(option: TableOption) -> &'static str {
    match option {
        TableOption::Limit => "--limit",
        TableOption::Event => "--event",
        TableOption::Pair => "--pair",
        TableOption::Normalize => "--normalize",
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn names_are_those_of_arguments() {
        let command = Cli::command();
        let known: Vec<&str> = command.get_arguments().filter_map(|it| it.get_long()).collect();
        for option in FileOption::ALL {
            let name = name(option).strip_prefix("--").expect("a long name");
            assert!(known.contains(&name), "{option:?}");
        }
        let diff = command.find_subcommand("diff").expect("a command");
        let known: Vec<&str> = diff.get_arguments().filter_map(|it| it.get_long()).collect();
        for option in TableOption::ALL {
            let name = table_name(option).strip_prefix("--").expect("a long name");
            assert!(known.contains(&name), "{option:?}");
        }
    }
}
