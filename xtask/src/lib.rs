//! Tasks that build, check and release this repository, run as `cargo xtask NAME`. Each task is a module; this file is
//! their table.
#![allow(clippy::disallowed_methods, reason = "tasks work on the repository's files")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are commands; they talk to the terminal"
)]

mod api;
pub mod args;
mod bless;
mod ci;
pub mod command;
mod dist;
mod docs;
mod fuzz;
mod licenses;
pub mod machine;
mod mutate;
mod packages;
mod release;
mod repository;
pub mod tasks;
mod testdata;
mod tidy;
mod unsafe_code;

use std::process::ExitCode;

use crate::tasks::Task;

const TASKS: &[Task] = &[
    Task {
        name: "testdata",
        usage: "[CASE]...",
        about: "compile testdata/programs, record them with perf, store the cases; without a name: all, from scratch",
        run: testdata::run,
    },
    Task {
        name: "bless",
        usage: "[CASE]... [--ours PATH]",
        about: "rewrite the expected outputs of the cases with the built unwind-perf",
        run: bless::run,
    },
    Task {
        name: "dist",
        usage: "[PROCESSOR]... [--profile NAME] [--again] [--recorder] [--images]",
        about: "the release program as Debian packages, Python wheels, an sdist, static archives and images, installed and tried; installs cargo-deb, maturin and zig if they are missing; --again compares them with a second build; --recorder adds the image with perf; --images makes images only",
        run: dist::run,
    },
    Task {
        name: "api",
        usage: "[--check]",
        about: "write the lists of public items of the libraries that stand alone; --check: compare them",
        run: api::run,
    },
    Task {
        name: "licenses",
        usage: "[--check]",
        about: "write the notices of the libraries in the program, by cargo-about; --check: compare their list with Cargo.lock",
        run: licenses::run,
    },
    Task {
        name: "release",
        usage: "VERSION [--dry-run [--no-packages]] [--profile NAME]",
        about: "check changelog, versions and tag, build all packages, tag and publish; --dry-run: without the last two",
        run: release::run,
    },
    Task {
        name: "fuzz",
        usage: "TARGET SECONDS [--corpus FOLDER] [--repeat RUNS] [--worst] | build",
        about: "hostile input for a reader (the folders of fuzz/seeds); installs cargo-fuzz where it is missing",
        run: fuzz::run,
    },
    Task {
        name: "mutate",
        usage: "[--runs N] [--seed N] [--only RUN] [--ours PATH] [--checked PATH]",
        about: "damaged recordings, files, bundles and maps, read by a release and by a build with overflow checks; lists changes of the output that nothing reports",
        run: mutate::run,
    },
    Task {
        name: "unsafe",
        usage: "[valgrind|address|miri]...",
        about: "the tests of `unsafe` code under the checkers that are installed; fails on any report",
        run: unsafe_code::run,
    },
    Task {
        name: "ci",
        usage: "[CHECK]... | quick [CHECK]... | long [CHECK]... [--seconds N] [--corpus FOLDER] [--ours PATH]",
        about: "everything that is checked for a change; quick: for the crates that are touched; long: the checks that take longer; ends with `N passed, N failed`",
        run: ci::run,
    },
    Task {
        name: "tidy",
        usage: "",
        about: "the conventions of this repository, checked",
        run: tidy::run,
    },
    Task {
        name: "docs",
        usage: "[--out FOLDER]",
        about: "the documents as a site, built with mdBook; every link is checked",
        run: docs::run,
    },
    Task {
        name: "prose",
        usage: "[-v] [--messages] [--in REPOSITORY] [FILE or FOLDER]...",
        about: "patterns that make a sentence need two readings, counted in comments, documents and messages; -v shows each; --messages lists the texts of the program",
        run: tidy::prose::run,
    },
];

/// Runs the task that the arguments of the process name.
pub fn run() -> ExitCode {
    tasks::run("xtask", TASKS)
}
