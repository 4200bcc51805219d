//! Advice for one line on a terminal: a fact about a module, and one action.

use super::{DebugInfo, DebugProof, OptionName, Remedy, Spelling, SymbolPresence};

/// A remedy for one line: `NAME FACT (SHARE). ACTION.`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShortRemedy {
    /// The fact about the module, a predicate: `has no symbols`.
    pub fact: String,
    /// The action, in the imperative and without a capital letter: `add --debuginfod`. Empty if there is none.
    pub action: String,
    /// Whether the debug package of the file is another action.
    pub package: bool,
    /// Whether the module is code that a just-in-time compiler made, whose run time has an option for names.
    pub jit: bool,
}

impl ShortRemedy {
    /// A fact and an action.
    fn new(fact: &str, action: impl Into<String>) -> Self {
        Self { fact: fact.to_owned(), action: action.into(), ..Self::default() }
    }
}

impl Remedy {
    /// The remedy for one line.
    #[must_use]
    pub fn short(&self, spelling: Spelling) -> ShortRemedy {
        let modules = |value: &str| format!("add {}", spelling.with(OptionName::Modules, value));
        let list = |value| spelling.with(OptionName::Kallsyms, value);
        match self {
            Self::File { id, untried, other_build } => {
                let fact = if *other_build {
                    "is another build than the recorded one"
                } else {
                    "was not found"
                };
                ShortRemedy::new(fact, format!("add {}", untried.to_file(id.is_some(), spelling)))
            }
            Self::RecordedFile { name } => {
                ShortRemedy::new("is not the recorded file", modules(&format!("{name}=FILE")))
            }
            Self::ReadableCopy => ShortRemedy::new("cannot be read", modules("FILE")),
            Self::SoundCopy => ShortRemedy::new("has damaged unwind information", modules("FILE")),
            Self::DebugInfo(debug) => debug.short(spelling),
            Self::UnwindTables { debug } => unwind_tables(debug.as_ref(), spelling),
            Self::Memory { .. } => ShortRemedy {
                jit: true,
                ..ShortRemedy::new(
                    "runs code without a file",
                    "let its JIT compiler keep frame pointers or write a jitdump",
                )
            },
            Self::JitNames => ShortRemedy {
                jit: true,
                ..ShortRemedy::new(
                    "runs code without a file or names",
                    "let its JIT compiler write a perf-PID.map or a jitdump",
                )
            },
            Self::ShowAddresses => ShortRemedy::new(
                "hides its addresses",
                format!("run as root, set kernel.kptr_restrict to 0, or add {}", list("FILE")),
            ),
            Self::NameList => ShortRemedy::new("has no symbols", format!("add {}", list("FILE"))),
            Self::SaveList => ShortRemedy::new(
                "is not the running kernel",
                format!(
                    "save /proc/kallsyms on the recorded machine before it restarts, and add {}",
                    list("kallsyms")
                ),
            ),
            Self::KernelPage => ShortRemedy::new("is a kernel page without symbols", ""),
            Self::NoReturnProbes => ShortRemedy::new(
                "has functions with return probes",
                "record without uretprobes (perf probe 'FUNCTION%return')",
            ),
            Self::OtherMachine => {
                ShortRemedy::new("is code of a virtual machine, recorded as addresses only", "")
            }
            _ => ShortRemedy::new("", self.sentence(spelling)),
        }
    }
}

impl DebugInfo {
    fn short(&self, spelling: Spelling) -> ShortRemedy {
        let fact = match self.symbols {
            SymbolPresence::Stripped => "has no symbols",
            SymbolPresence::Exported => "has exported symbols only",
        };
        let action = match (&self.proof, self.packaged) {
            (DebugProof::Nothing, _) => "build it with -g".to_owned(),
            (_, true) => format!("add {}", self.option(spelling)),
            (_, false) => format!("build it with -g, or add {}", self.option(spelling)),
        };
        ShortRemedy { package: self.has_package(), ..ShortRemedy::new(fact, action) }
    }

    /// Whether a debug package may be installed here.
    fn has_package(&self) -> bool {
        self.packaged && self.untried.install && self.proof != DebugProof::Nothing
    }

    /// The option that most likely leads to the debug file.
    fn option(&self, spelling: Spelling) -> String {
        let has_id = matches!(self.proof, DebugProof::Id(_));
        if self.packaged && has_id && self.untried.debuginfod {
            spelling.name(OptionName::Debuginfod).to_owned()
        } else if self.untried.debug_dir {
            spelling.with(OptionName::DebugDirs, "DIR")
        } else {
            spelling.with(OptionName::Modules, "FILE")
        }
    }
}

fn unwind_tables(debug: Option<&DebugInfo>, spelling: Spelling) -> ShortRemedy {
    let fact = "has code without unwind information";
    let given = debug.filter(|debug| debug.packaged && debug.proof != DebugProof::Nothing);
    match given {
        Some(debug) => ShortRemedy { fact: fact.to_owned(), ..debug.short(spelling) },
        None => {
            ShortRemedy::new(fact, "build it with -fasynchronous-unwind-tables or frame pointers")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedy::UntriedOptions;
    use address::BuildId;

    const COMMAND: Spelling = Spelling { of: |_| "--option", assignment: " " };

    fn debug(packaged: bool, install: bool) -> Remedy {
        let untried = UntriedOptions {
            extra_dir: true,
            sysroot: false,
            debug_dir: true,
            debuginfod: true,
            install,
        };
        let proof = DebugProof::Id(BuildId::from_hex("ab").expect("a build-id"));
        Remedy::DebugInfo(DebugInfo { symbols: SymbolPresence::Exported, proof, packaged, untried })
    }

    #[test]
    fn a_line_has_a_fact_and_one_action() {
        let short = debug(true, true).short(COMMAND);
        assert_eq!(short.fact, "has exported symbols only");
        assert_eq!((&*short.action, short.package), ("add --option", true));
        assert!(!debug(true, false).short(COMMAND).package, "nothing is installed in a sysroot");
        let own = debug(false, true).short(COMMAND);
        assert_eq!((&*own.action, own.package), ("build it with -g, or add --option DIR", false));
    }

    #[test]
    fn a_package_may_have_the_unwind_information() {
        let Remedy::DebugInfo(debug) = debug(true, true) else { return };
        let short = Remedy::UnwindTables { debug: Some(debug) }.short(COMMAND);
        assert_eq!(short.fact, "has code without unwind information");
        assert_eq!((&*short.action, short.package), ("add --option", true));
        let short = Remedy::UnwindTables { debug: None }.short(COMMAND);
        assert_eq!(short.action, "build it with -fasynchronous-unwind-tables or frame pointers");
    }
}
