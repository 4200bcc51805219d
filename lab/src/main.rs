//! Research tasks, run as `cargo lab NAME`: comparison with peers and with the truth, consumers, timing. Each task is a
//! module; this file is their table.
#![allow(clippy::disallowed_methods, reason = "tasks work on the repository's files")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are commands; they talk to the terminal"
)]

mod bench;
mod catalogue;
mod compare;
mod compared;
mod consumers;
mod convert;
mod corpus;
mod json;
mod names;
mod programs;
mod repeat;
mod sources;
mod strings;
mod truth;
mod values;

use std::process::ExitCode;

use xtask::tasks::{self, Task};

const TASKS: &[Task] = &[
    Task {
        name: "compare",
        usage: "CASE|FILE [--peer perf|hotspot] [--base ours|perf|hotspot] [--ours PATH] [--sysroot DIR] [-v N]",
        about: "our chains beside a peer's, sample by sample; fails below 99.5 % equal, longer, or proven wrong of the peer",
        run: compare::run,
    },
    Task {
        name: "truth",
        usage: "FILE [--bytes N | --plain] | repairs|withheld [FILE|PROGRAM]... | gdb|steps [PROGRAM|COMMAND]... [--seed N] [--keep FOLDER] [--ours PATH]",
        about: "our chains beside gdb's at random instructions (gdb: --stops N, --skip N|Nms), or beside the calls, jumps and returns of a program that is run instruction by instruction (steps: --instructions N, --mean N); of a FILE: what a smaller dump of the stack costs: FILE (of --call-graph dwarf,65528) beside copies whose stacks are cut, by us and by peers' rules of repair; --plain: how many chains of any recording reach their root; repairs: the same of many recordings, ours alone (--bytes N); withheld: our chains by copies of the files without call frame information beside those by the originals",
        run: truth::run,
    },
    Task {
        name: "values",
        usage: "[PROGRAM]... [--stops N] [--keep FOLDER] [-v] | FILE FUNCTION...",
        about: "our values of parameters and locals beside gdb's, at random instructions of programs in C, C++ and Rust, from the same registers and stack; fails where both state one and they differ",
        run: values::run,
    },
    Task {
        name: "programs",
        usage: "[NAME|CLASS]... [--ours PATH] [--keep FOLDER]",
        about: "programs of many languages and compilers, those that are installed: built, recorded, how many stacks reach a root by us and by perf, and frames of ours that are proven wrong",
        run: programs::run,
    },
    Task {
        name: "consumers",
        usage: "[CASE|FILE]... [--ours PATH] [--only CHECK] [--offline]",
        about: "the programs that read our formats, on real profiles; installs those that are missing",
        run: consumers::run,
    },
    Task {
        name: "sources",
        usage: "[CHECK]... [--ours PATH]",
        about: "files from a debuginfod, an archive of perf, a container, and JIT compilers, with the real programs",
        run: sources::run,
    },
    Task {
        name: "names",
        usage: "[LIBRARY]... [--cxxfilt PATH]",
        about: "the C++ names of libraries as our demangler and as llvm-cxxfilt writes them; fails where they differ",
        run: names::run,
    },
    Task {
        name: "corpus",
        usage: "FOLDER [--perf PATH]... [--ours PATH]",
        about: "the records of every recording in a folder as we, perf and the format count them, as a table",
        run: corpus::run,
    },
    Task {
        name: "convert",
        usage: "big-endian|pipe|compressed|compressed-pipe|directory FILE OUT",
        about: "the same recording in the other byte order or another container",
        run: convert::run,
    },
    Task {
        name: "bench",
        usage: "[--input NAME] [--runs N] [--slow-runs N] [--perf PATH]... [--ours PATH] [--limit SECONDS] [--size MB] [--freq HZ]",
        about: "make the inputs once, time us and the peers on them, write docs/BENCHMARKING.md",
        run: bench::run,
    },
    Task {
        name: "repeat",
        usage: "FILE OUT [--times N]",
        about: "a long recording out of a short one: the same records of other processes at later times",
        run: repeat::run,
    },
    Task {
        name: "floor",
        usage: "FILE [--read]",
        about: "what the bytes of a recording cost any program: reads it once and touches the cache lines that a walk touches; the unit of bench",
        run: bench::run_floor,
    },
];

fn main() -> ExitCode {
    tasks::run("lab", TASKS)
}
