//! Spelling of the command's options in advice.

use options::{OptionName, Spelling};

/// Advice names the options as on the command line: `--module FILE`.
pub(crate) const SPELLING: Spelling = Spelling { of: name, assignment: " " };

const fn name(option: OptionName) -> &'static str {
    match option {
        OptionName::Modules => "--module",
        OptionName::ExtraDirs => "--extra-dir",
        OptionName::Sysroot => "--sysroot",
        OptionName::DebugDirs => "--debug-dir",
        OptionName::Debuginfod => "--debuginfod",
        OptionName::PerfMapDirs => "--perf-map-dir",
        OptionName::TrustPerfMaps => "--trust-perf-maps",
        OptionName::Map => "--map",
        OptionName::Kallsyms => "--kallsyms",
        OptionName::Event => "--event",
        OptionName::Limit => "--limit",
        OptionName::Pair => "--pair",
        OptionName::Normalize => "--normalize",
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
        let all = command.get_subcommands().chain([&command]);
        let known: Vec<&str> =
            all.flat_map(|it| it.get_arguments()).filter_map(|it| it.get_long()).collect();
        for &option in OptionName::ALL {
            let name = name(option).strip_prefix("--").expect("a long name");
            assert!(known.contains(&name), "{option:?}");
        }
    }
}
