//! What would help where chains end early, names are missing, or a recording lacks something: the words of all such advice
//! of the runs. The places that notice what is missing choose the variant; advice names only what was not tried.

use std::fmt;

use address::{BuildId, Pid};
use module_map::{DEBUG_DIR, FileOptions};

/// What would help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Remedy {
    /// The file of a module, which is not at hand.
    File {
        /// Its build-id, by which it is proven.
        id: Option<BuildId>,
        /// Which options may lead to it.
        ways: Ways,
    },
    /// The recorded file, whose path leads to another one.
    RecordedFile {
        /// Its name, without folders.
        name: String,
    },
    /// Nothing is known to help.
    Nothing,
    /// Nothing: a page that the kernel maps into processes.
    KernelPage,
    /// A recording without return probes in the function that the chain ends in.
    NoReturnProbes,
    /// Nothing: code of a guest or of the hypervisor, of which the recording has addresses alone.
    OtherMachine,
    /// Another copy of a file that cannot be read.
    ReadableCopy,
    /// A copy of a file whose unwind information is damaged.
    SoundCopy,
    /// Separate debug information, for names.
    DebugInfo(DebugInfo),
    /// Separate debug information, or a build with what unwinding needs.
    UnwindTables {
        /// How its debug information may be found; `None` if it was read, or cannot be found.
        debug: Option<DebugInfo>,
    },
    /// Memory of a process, of which no file is known.
    Memory {
        /// The process, if it is that of one alone.
        owner: Option<Pid>,
    },
    /// Code of a just-in-time compiler.
    JitNames,
    /// The list of the kernel's symbols.
    Kernel(symbolizer::Remedy),
    /// Build-ids in the recording, for who watches it.
    BuildIdsWhileWatched,
    /// The event of threads leaving processors, beside others.
    SwitchEvent,
    /// Each such event, not only some of them.
    EachSwitchEvent,
    /// Records of threads coming back.
    SwitchRecords,
}

/// Separate debug information of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DebugInfo {
    /// What names the file has without it.
    pub(super) symbols: Symbols,
    /// How it is proven.
    pub(super) proof: DebugProof,
    /// Whether a distribution's package has the file, rather than somebody who can build it again.
    pub(super) packaged: bool,
    /// Which options may lead to it.
    pub(super) ways: Ways,
}

/// The symbols that a file has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Symbols {
    /// None.
    Stripped,
    /// Those that it exports.
    Exported,
}

/// By what separate debug information is known to belong to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum DebugProof {
    /// The build-id.
    Id(BuildId),
    /// The name in `.gnu_debuglink`, with its checksum.
    Link(String),
    /// Nothing: no file would be used.
    Nothing,
}

/// Which options may still lead to a file: a folder that was named and does not have it is not named again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ways {
    extra_dir: bool,
    sysroot: bool,
    debug_dir: bool,
    debuginfod: bool,
    /// Whether a package that is installed here would be found.
    install: bool,
}

impl Ways {
    /// Those that were not tried.
    pub(super) fn of(options: &FileOptions) -> Self {
        let is_here = options.sysroots.is_empty();
        Self {
            extra_dir: !options.extra.is_named(),
            sysroot: is_here,
            debug_dir: options.named_debug_dirs.is_empty(),
            debuginfod: cfg!(feature = "debuginfod") && options.fetcher.is_none(),
            install: is_here && options.debug_dirs.iter().any(|dir| *dir == *DEBUG_DIR),
        }
    }

    /// Without those that look for a path: of memory that has no file with a name.
    pub(super) const fn by_content(self) -> Self {
        Self { sysroot: false, ..self }
    }

    /// The options for a file that is mapped.
    fn to_file(self, has_id: bool) -> String {
        one_of(&[
            Some("--module FILE"),
            self.extra_dir.then_some("--extra-dir DIR"),
            self.sysroot.then_some("--sysroot DIR"),
            (self.debuginfod && has_id).then_some("--debuginfod"),
        ])
    }

    /// The options for a debug file.
    fn to_debug_file(self, has_id: bool) -> String {
        one_of(&[
            self.debug_dir.then_some("--debug-dir DIR"),
            Some("--module FILE"),
            (self.debuginfod && has_id).then_some("--debuginfod"),
        ])
    }
}

/// `a, b or c`.
fn one_of(options: &[Option<&str>]) -> String {
    let options: Vec<&str> = options.iter().copied().flatten().collect();
    match options.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The command that keeps copies of files.
const KEPT: &str = "unwind-perf record would have kept it";

/// What to build a program with, so that it can be unwound.
const UNWINDABLE: &str = "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer";

impl DebugInfo {
    /// How to give it; `None` if none would be used.
    fn given(&self) -> Option<String> {
        let ways = self.ways;
        match &self.proof {
            DebugProof::Id(id) => {
                let options = ways.to_debug_file(true);
                Some(if ways.install && self.packaged {
                    format!(
                        "install its debug information of build-id {id}, or give it with {options}"
                    )
                } else {
                    format!("give its debug information of build-id {id} with {options}")
                })
            }
            DebugProof::Link(name) => Some(format!(
                "give its debug information, the file {name} of the same build, with {}",
                ways.to_debug_file(false)
            )),
            DebugProof::Nothing => None,
        }
    }

    fn for_names(&self) -> String {
        let lack = match self.symbols {
            Symbols::Stripped => "it is stripped",
            Symbols::Exported => "it has exported symbols only",
        };
        match (self.given(), self.packaged) {
            (Some(given), true) => format!("{lack}: {given}"),
            (Some(given), false) => format!("{lack}: {given}; or build it with -g"),
            (None, _) => format!("{lack}, and has no build-id: build it with -g"),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { id: Some(id), ways } => {
                write!(
                    f,
                    "give the file of build-id {id}: {}; {KEPT}, as would perf buildid-cache --add FILE",
                    ways.to_file(true)
                )
            }
            Self::File { id: None, ways } => {
                write!(f, "give the file: {}; {KEPT}", ways.to_file(false))
            }
            Self::ReadableCopy => f.write_str("give another copy of the file: --module FILE"),
            Self::SoundCopy => f.write_str("give a sound copy of the same build: --module FILE"),
            Self::DebugInfo(debug) => f.write_str(&debug.for_names()),
            Self::UnwindTables { debug } => match debug.as_ref().and_then(DebugInfo::given) {
                Some(given) => write!(f, "{given}; or {UNWINDABLE}"),
                None => f.write_str(UNWINDABLE),
            },
            Self::Memory { owner } => {
                let pid = owner.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
                write!(
                    f,
                    "JIT code goes on where its compiler keeps frame pointers or writes a jitdump (perf record -k mono); \
                     if it is a copy of a file's code, say so: --map OBJECT@{pid},START,LEN,OFFSET"
                )
            }
            Self::JitNames => f.write_str("let the JIT compiler write a perf-PID.map or a jitdump"),
            Self::Kernel(remedy) => remedy.fmt(f),
            Self::RecordedFile { name } => {
                write!(f, "give the recorded file: --module {name}=FILE; {KEPT}")
            }
            Self::Nothing => Ok(()),
            Self::KernelPage => {
                f.write_str("a page that the kernel maps into processes, which has no symbols")
            }
            Self::NoReturnProbes => f.write_str(
                "record without return probes (uretprobe, perf probe 'FUNCTION%return') in that function",
            ),
            Self::OtherMachine => f.write_str(
                "code outside of this machine's kernel and processes, of which the recording has addresses alone",
            ),
            Self::BuildIdsWhileWatched => f.write_str("record with --buildid-mmap"),
            Self::SwitchEvent => f.write_str("record sched:sched_switch as well"),
            Self::EachSwitchEvent => {
                f.write_str("record each sched:sched_switch (-e sched:sched_switch)")
            }
            Self::SwitchRecords => f.write_str("record with --switch-events"),
        }
    }
}
