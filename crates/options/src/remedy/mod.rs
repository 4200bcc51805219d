//! Advice as a choice with its facts. Its sentences name options in the user's form: the command, a request and a
//! Python call each have a [`Spelling`].

mod debug_info;
mod short;
mod spelling;
mod untried;

use address::{Avma, BuildId, Pid};

pub use debug_info::{DebugInfo, DebugProof, SymbolPresence};
pub use short::ShortRemedy;
pub use spelling::{OptionName, Spelling};
pub use untried::UntriedOptions;

/// An action that would help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// The missing file of a module.
    File {
        /// Its build-id, which verifies it.
        id: Option<BuildId>,
        /// The options that may find it.
        untried: UntriedOptions,
        /// Whether another build of it was found.
        other_build: bool,
    },
    /// The recorded file, if its path has another file now.
    RecordedFile {
        /// Its name, without folders.
        name: String,
    },
    /// Nothing: a page that the kernel maps into processes.
    KernelPage,
    /// A recording without return probes in the function at the end of the chain.
    NoReturnProbes,
    /// Nothing: code of a guest or of the hypervisor; the recording only has its addresses.
    OtherMachine,
    /// Another copy of an unreadable file.
    ReadableCopy,
    /// A copy of a file with damaged unwind information.
    SoundCopy,
    /// Separate debug information, for names.
    DebugInfo(DebugInfo),
    /// Separate debug information, or a build with unwind tables.
    UnwindTables {
        /// The untried to find its debug information; `None` if it was read, or cannot be found.
        debug: Option<DebugInfo>,
    },
    /// The file for memory of a process without a file.
    Memory {
        /// The process, if the memory belongs to only one.
        owner: Option<Pid>,
    },
    /// The file that a range of memory is a copy of, if there is one.
    MemoryRange {
        /// The process.
        pid: Pid,
        /// Its address.
        start: Avma,
        /// Size in bytes.
        len: u64,
    },
    /// A map or a dump from a just-in-time compiler.
    JitNames,
    /// Trust in the maps of other users.
    TrustMaps,
    /// A clock that dates the maps of just-in-time compilers, or a folder for them.
    DateMaps,
    /// Addresses that the running kernel hides, or a list of its symbols.
    ShowAddresses,
    /// A list of the kernel's symbols.
    NameList,
    /// A list of the kernel's symbols, saved on the recorded machine.
    SaveList,
    /// Build-ids in the map records, to follow a recording live.
    BuildIdsWhileWatched,
    /// The event of threads leaving processors, in addition to others.
    SwitchEvent,
    /// Each such event, not only some of them.
    EachSwitchEvent,
    /// Records of threads returning to processors.
    SwitchRecords,
    /// Each event that labels or spans need, not only some of them.
    EveryEvent,
    /// Larger buffers of the recorder, so that it loses nothing.
    LargerBuffers,
}

/// The command that keeps copies of files.
const KEPT: &str = "unwind-perf record stores such files";

/// The advice to build a program with unwind information.
const UNWINDABLE: &str = "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer";

impl Remedy {
    /// Returns a sentence for users, without a full stop.
    #[must_use]
    pub fn sentence(&self, spelling: Spelling) -> String {
        let file = || spelling.with(OptionName::Modules, "FILE");
        let list = |value| spelling.with(OptionName::Kallsyms, value);
        match self {
            Self::File { id, untried, .. } => missing_file(*id, *untried, spelling),
            Self::RecordedFile { name } => {
                let option = spelling.with(OptionName::Modules, &format!("{name}=FILE"));
                format!("add {option}, the recorded file; {KEPT}")
            }
            Self::ReadableCopy => format!("add {} with a readable copy", file()),
            Self::SoundCopy => format!("add {} with an intact copy of the same build", file()),
            Self::DebugInfo(debug) => debug.for_names(spelling),
            Self::UnwindTables { debug } => {
                let given = debug.as_ref().and_then(|debug| debug.advice(spelling));
                given.map_or_else(|| UNWINDABLE.to_owned(), |it| format!("{it}; or {UNWINDABLE}"))
            }
            Self::Memory { owner } => memory(*owner, spelling),
            Self::MemoryRange { pid, start, len } => {
                copied(&format!("{pid},{:#x},{len:#x}", start.0), spelling)
            }
            Self::TrustMaps => format!("add {} to use it", spelling.name(OptionName::TrustPerfMaps)),
            Self::DateMaps => {
                let folder = spelling.name(OptionName::PerfMapDirs);
                format!("record with perf record -k mono, or add {folder} with its folder")
            }
            Self::ShowAddresses => {
                let named = list("FILE");
                format!("run as root, set kernel.kptr_restrict to 0, or add {named}")
            }
            Self::NameList => format!("add {}", list("FILE")),
            Self::SaveList => format!(
                "run sudo cat /proc/kallsyms > kallsyms on the recorded machine before it restarts, and add {} here",
                list("kallsyms")
            ),
            Self::KernelPage => {
                "the page is mapped by the kernel and has no symbols".to_owned()
            }
            Self::NoReturnProbes => {
                "record without return probes (uretprobe, perf probe 'FUNCTION%return') in that function".to_owned()
            }
            Self::OtherMachine => {
                "the code is of a virtual machine or hypervisor; the recording has only its addresses".to_owned()
            }
            Self::JitNames => "let the JIT compiler write a perf-PID.map or a jitdump".to_owned(),
            Self::BuildIdsWhileWatched => "record with --buildid-mmap".to_owned(),
            Self::SwitchEvent => "record sched:sched_switch as well".to_owned(),
            Self::EachSwitchEvent => {
                "record each sched:sched_switch (-e sched:sched_switch)".to_owned()
            }
            Self::SwitchRecords => "record with --switch-events".to_owned(),
            Self::EveryEvent => {
                "record every such event: perf record -c 1 -e EVENT -e cpu-clock/freq=499/".to_owned()
            }
            Self::LargerBuffers => "record with larger buffers (perf record -m 4M)".to_owned(),
        }
    }

    /// Returns an identifier for programs, such as `give-file`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "give-file",
            Self::RecordedFile { .. } => "give-recorded-file",
            Self::KernelPage | Self::OtherMachine => "none",
            Self::NoReturnProbes => "record-without-return-probes",
            Self::ReadableCopy => "give-readable-copy",
            Self::SoundCopy => "give-sound-copy",
            Self::DebugInfo(_) => "give-debug-info",
            Self::UnwindTables { debug: Some(_) } => "give-debug-info-or-build-with-tables",
            Self::UnwindTables { debug: None } => "build-with-tables",
            Self::Memory { .. } | Self::MemoryRange { .. } => "describe-memory",
            Self::JitNames => "write-jit-names",
            Self::TrustMaps => "trust-perf-maps",
            Self::DateMaps => "date-perf-maps",
            Self::ShowAddresses => "show-kernel-addresses",
            Self::NameList => "give-kernel-list",
            Self::SaveList => "save-kernel-list",
            Self::BuildIdsWhileWatched => "record-build-ids",
            Self::SwitchEvent => "record-switch-event",
            Self::EachSwitchEvent => "record-each-switch-event",
            Self::SwitchRecords => "record-switches",
            Self::EveryEvent => "record-every-event",
            Self::LargerBuffers => "record-with-larger-buffers",
        }
    }
}

fn missing_file(id: Option<BuildId>, untried: UntriedOptions, spelling: Spelling) -> String {
    let options = untried.to_file(id.is_some(), spelling);
    match id {
        Some(id) => {
            format!(
                "add {options} for the file with build-id {id}; {KEPT}, as does perf buildid-cache --add FILE"
            )
        }
        None => format!("add {options} for the file; {KEPT}"),
    }
}

fn memory(owner: Option<Pid>, spelling: Spelling) -> String {
    let pid = owner.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
    let copied = copied(&format!("{pid},START,LEN"), spelling);
    format!(
        "let its JIT compiler keep frame pointers or write a jitdump (perf record -k mono); {copied}"
    )
}

/// Returns the advice for memory that may be a copy of a file's code; `memory` is process, address and size.
fn copied(memory: &str, spelling: Spelling) -> String {
    let hint = spelling.with(OptionName::Map, &format!("OBJECT@{memory},OFFSET"));
    format!("if it is a copy of a file's code, add {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: Spelling = Spelling { of: |_| "--option", assignment: " " };

    #[test]
    fn options_are_named_as_the_reader_writes_them() {
        let untried = UntriedOptions {
            extra_dir: true,
            sysroot: false,
            debug_dir: true,
            debuginfod: true,
            install: false,
        };
        let file = Remedy::File { id: BuildId::from_hex("ab"), untried, other_build: false };
        let kept = "unwind-perf record stores such files, as does perf buildid-cache --add FILE";
        assert_eq!(
            file.sentence(Spelling::KEYS),
            format!(
                "add modules=FILE, extra_dirs=DIR or debuginfod for the file with build-id ab; {kept}"
            )
        );
        assert_eq!(
            file.sentence(COMMAND),
            format!(
                "add --option FILE, --option DIR or --option for the file with build-id ab; {kept}"
            )
        );
        assert_eq!(Remedy::TrustMaps.sentence(Spelling::KEYS), "add trust_perf_maps to use it");
        assert_eq!((file.code(), Remedy::TrustMaps.code()), ("give-file", "trust-perf-maps"));
    }

    #[test]
    fn memory_is_described_by_what_is_known_of_it() {
        let range = Remedy::MemoryRange { pid: Pid(7), start: Avma(0x1000), len: 0x20 };
        assert_eq!(
            range.sentence(COMMAND),
            "if it is a copy of a file's code, add --option OBJECT@7,0x1000,0x20,OFFSET"
        );
    }
}
