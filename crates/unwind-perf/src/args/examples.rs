//! Examples, exit statuses, environment and files for the help and the manual page.

/// A command line, and its effect.
pub(crate) const EXAMPLES: &[(&str, &str)] = &[
    ("unwind-perf record -- ./program", "record a program with perf"),
    ("unwind-perf", "show the costliest functions of ./perf.data"),
    ("unwind-perf top --by line --comm 'worker-*'", "show the costliest lines of some threads"),
    ("unwind-perf tree --bottom-up --min 2%", "show the callers of the costliest functions"),
    ("unwind-perf report -o report.html", "write a page for a browser"),
    ("unwind-perf flamegraph -o graph.svg", "draw a flame graph"),
    ("unwind-perf perf.data -o stacks.parquet", "write a table for data tools"),
    ("unwind-perf bundle -o perf.upb", "pack the recording and its files for another machine"),
    (
        "unwind-perf perf.data -f folded --time 10%-20%",
        "write the stacks of a part of the recording",
    ),
    ("unwind-perf - > stacks.json < perf.data", "read a stream, such as that of perf record -o -"),
];

/// The exit statuses.
pub(crate) const EXIT_STATUS: &[(&str, &str)] = &[
    ("0", "complete"),
    (
        "1",
        "the output was written, but the recording or a file with names is damaged or incomplete, or \
         --fail-if-incomplete is exceeded; standard error has the reason",
    ),
    ("2", "no output: an error, or no sample passes the filters; standard error has the reason"),
    (
        "other",
        "of record: the status of the recorded program, 128 + N after the signal N; 125 if there is no recording, 126 or \
         127 if the program cannot be started",
    ),
];

/// The variables of the environment that are read.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "if it is set and not empty, nothing has colours unless --color asks for them"),
    ("TERM", "if it is dumb, nothing has colours"),
    ("HOME", "the folder of ~/.debug, the store of record and the caches"),
    ("UNWIND_PERF_CACHE", "the folder of --cache if that option is missing, or off for --no-cache"),
    ("DEBUGINFOD_URLS", "the servers of --debuginfod without an address"),
    (
        "XDG_CACHE_HOME, DEBUGINFOD_CACHE_PATH",
        "folders for files of debuginfod servers; the first also for those of record and the cache",
    ),
    ("UNWIND_PERF_ERRORS", "if it is json, a line of JSON precedes the message of an error"),
];

/// The files that are read though nobody names them.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("perf.data", "the recording, if none is named"),
    ("~/.cache/unwind-perf/files", "the files of recordings that record stored"),
    ("~/.cache/unwind-perf/names", "names and unwind rules of earlier runs"),
    ("~/.debug", "perf's cache of files by build-id"),
    ("/usr/lib/debug", "separate debug files"),
    ("/proc/kallsyms, /sys/kernel/notes", "names of the running kernel, if it is the recorded one"),
    ("/tmp/perf-PID.map", "names of code that just-in-time compilers made"),
];

/// The examples as they stand below the help.
pub(crate) fn examples() -> String {
    let longest = EXAMPLES.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let lines = EXAMPLES.iter().map(|(line, what)| format!("\n  {line:<longest$}  {what}"));
    std::iter::once("Examples:".to_owned()).chain(lines).collect()
}
