//! The recorded program and its arguments, without the recorder and its options.

use crate::profile::Profile;

/// Recorder's options that are followed by a value in the next word.
/// Source: tools/perf/Documentation/perf-record.txt.
const SHORT_WITH_VALUE: &[u8] = b"eptrcoFmCDGjku";
const LONG_WITH_VALUE: &[&[u8]] = &[
    b"event",
    b"filter",
    b"pid",
    b"tid",
    b"realtime",
    b"count",
    b"output",
    b"freq",
    b"mmap-pages",
    b"mmap-flush",
    b"call-graph",
    b"cpu",
    b"delay",
    b"cgroup",
    b"branch-filter",
    b"clockid",
    b"uid",
    b"max-size",
    b"switch-max-files",
    b"affinity",
    b"control",
    b"num-thread-synthesize",
    b"proc-map-timeout",
    b"synth",
    b"vmlinux",
    b"clang-path",
    b"clang-opt",
    b"switch-output-event",
    b"setup-filter",
    b"off-cpu-thresh",
];

/// Recorder's options that select running processes, CPUs or users.
const SHORT_OF_OTHERS: &[u8] = b"aptCu";
const LONG_OF_OTHERS: &[&[u8]] = &[b"all-cpus", b"pid", b"tid", b"cpu", b"uid"];

/// Returns the program that the recorder started, as named there, and its arguments; `None` if it recorded others, or
/// none is known. The recorder is `perf record`; options of others are unknown.
#[must_use]
pub fn recorded_command(profile: &Profile) -> Option<Vec<&[u8]>> {
    let mut words = profile.recording.command_line.iter().map(|&word| profile.strings.get(word));
    if !file_name(words.next()?).starts_with(b"perf") || words.next()? != b"record" {
        return None;
    }
    let mut program = loop {
        let word = words.next()?;
        let skipped = match word {
            b"--" => break words.next()?,
            [b'-', b'-', long @ ..] => {
                let name = long.split(|&byte| byte == b'=').next().unwrap_or_default();
                if LONG_OF_OTHERS.contains(&name) {
                    return None;
                }
                name.len() == long.len() && LONG_WITH_VALUE.contains(&name)
            }
            [b'-', short @ ..] => {
                // Options without values can be joined with each other and with one that has a value.
                let at = short.iter().position(|option| SHORT_WITH_VALUE.contains(option));
                let mut options = short.iter().take(at.map_or(short.len(), |at| at + 1));
                if options.any(|option| SHORT_OF_OTHERS.contains(option)) {
                    return None;
                }
                at.is_some_and(|at| at + 1 == short.len())
            }
            program => break program,
        };
        if skipped {
            words.next()?;
        }
    };
    // The program is that which `env` starts.
    while file_name(program) == b"env" {
        program = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    }
    Some(std::iter::once(program).chain(words).collect())
}

/// Returns the file name of the recorded program.
#[must_use]
pub fn recorded_program(profile: &Profile) -> Option<&[u8]> {
    recorded_command(profile)?.first().map(|path| file_name(path))
}

/// Returns the last component of a path.
pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_follows_the_options() {
        for (command_line, expected) in [
            (
                "/usr/bin/perf record -q -e cpu-clock -F 1999 -o a.data -- /usr/bin/g++ -O2 -c t.cpp",
                Some("/usr/bin/g++ -O2 -c t.cpp"),
            ),
            ("perf record -gF 99 --call-graph dwarf,8192 --freq=9 ./app 60", Some("./app 60")),
            ("perf record -F99 -g --no-inherit make -j2", Some("make -j2")),
            ("perf record -- env A=b LANG=C cargo build", Some("cargo build")),
            ("perf record -a -- sleep 6", None),
            ("perf record -p 5", None),
            ("perf record -g -p5", None),
            ("perf record -gaF 99 sleep 5", None),
            ("perf record --pid=5", None),
            ("perf record --cpu 1 sleep 5", None),
            ("perf record -F", None),
            ("perf record ./app -p 5", Some("./app -p 5")),
            ("perf record --off-cpu-thresh 100 -p 5", None),
            ("perf mem record ./app", None),
            ("simpleperf record --duration 10 -p 55", None),
            ("perf", None),
        ] {
            let mut profile = Profile::default();
            let words = command_line.split(' ').map(|word| profile.strings.intern(word.as_bytes()));
            profile.recording.command_line = words.collect();
            let command = recorded_command(&profile).map(|words| words.join(&b' '));
            assert_eq!(command.as_deref(), expected.map(str::as_bytes), "{command_line}");
            let name =
                expected.map(|command| file_name(command.split(' ').next().unwrap().as_bytes()));
            assert_eq!(recorded_program(&profile), name, "{command_line}");
        }
    }
}
