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
    let line = profile.recording.command_line.iter();
    let words: Vec<&[u8]> = line.map(|&word| profile.strings.get(word)).collect();
    let found = split(&words).filter(|found| !found.is_of_others)?;
    words.get(found.program..).filter(|words| !words.is_empty()).map(<[_]>::to_vec)
}

/// Returns the words of a recorder's command line without the arguments of the recorded program, and without the
/// variables that `env` sets for it. Of a recorder other than `perf record`, only its name and command remain, since its
/// options are unknown.
#[must_use]
pub fn without_arguments<'w>(words: &[&'w [u8]]) -> Vec<&'w [u8]> {
    if !is_perf_record(words) {
        let is_plain = |word: &&&[u8]| word.iter().all(u8::is_ascii_lowercase);
        let command = words.iter().skip(1).take(2).take_while(is_plain);
        let length = command.clone().position(|word| *word == b"record").map_or(1, |at| at + 2);
        return words.iter().take(length).copied().collect();
    }
    let Some(found) = split(words) else {
        // No word is a program.
        return words.to_vec();
    };
    let options = words.iter().take(found.options);
    options.chain(words.get(found.program)).copied().collect()
}

/// Parts of the command line of `perf record`.
struct CommandParts {
    /// Number of words before the recorded command, with the recorder's name.
    options: usize,
    /// Index of the program. After `env`, it is that which `env` starts; the number of words if there is none.
    program: usize,
    /// True if the recorder recorded processes that it did not start.
    is_of_others: bool,
}

fn is_perf_record(words: &[&[u8]]) -> bool {
    matches!(words, [recorder, b"record", ..] if file_name(recorder).starts_with(b"perf"))
}

/// Returns the parts of a command line; `None` if it names no program, or the recorder is not `perf record`.
fn split(words: &[&[u8]]) -> Option<CommandParts> {
    if !is_perf_record(words) {
        return None;
    }
    let (mut at, mut is_of_others) = (2, false);
    let options = loop {
        let is_skipped = match *words.get(at)? {
            b"--" => break at + 1,
            [b'-', b'-', long @ ..] => {
                let name = long.split(|&byte| byte == b'=').next().unwrap_or_default();
                is_of_others |= LONG_OF_OTHERS.contains(&name);
                name.len() == long.len() && LONG_WITH_VALUE.contains(&name)
            }
            [b'-', short @ ..] => {
                // Options without values can be joined with each other and with one that has a value.
                let at = short.iter().position(|option| SHORT_WITH_VALUE.contains(option));
                let mut options = short.iter().take(at.map_or(short.len(), |at| at + 1));
                is_of_others |= options.any(|option| SHORT_OF_OTHERS.contains(option));
                at.is_some_and(|at| at + 1 == short.len())
            }
            _ => break at,
        };
        at += if is_skipped { 2 } else { 1 };
    };
    let mut program = options;
    words.get(program)?;
    // The program is that which `env` starts.
    while words.get(program).is_some_and(|word| file_name(word) == b"env") {
        let mut rest = words.iter().skip(program + 1);
        let next = rest.position(|word| !word.starts_with(b"-") && !word.contains(&b'='));
        program = next.map_or(words.len(), |next| program + 1 + next);
    }
    Some(CommandParts { options, program, is_of_others })
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

    #[test]
    fn arguments_can_be_omitted() {
        for (command_line, expected) in [
            ("perf record -F 99 -- ./app --password=X y", "perf record -F 99 -- ./app"),
            ("perf record -gF99 ./app --password=X", "perf record -gF99 ./app"),
            ("perf record -- env -i KEY=X ./app y", "perf record -- ./app"),
            ("perf record env KEY=X", "perf record"),
            ("perf record -a -- sleep 6", "perf record -a -- sleep"),
            ("perf record -p 5 --call-graph dwarf", "perf record -p 5 --call-graph dwarf"),
            // An option of a later version: its value is taken for the program.
            ("perf record --later 5 ./app X", "perf record --later 5"),
            ("perf mem record -p ./app --password=X", "perf mem record"),
            ("simpleperf record --app x --password=X", "simpleperf record"),
            ("tool X record", "tool"),
            ("perf record", "perf record"),
            ("perf", "perf"),
            ("", ""),
        ] {
            let words: Vec<&[u8]> =
                command_line.split(' ').filter(|it| !it.is_empty()).map(str::as_bytes).collect();
            let kept = without_arguments(&words).join(&b' ');
            assert_eq!(kept, expected.as_bytes(), "{command_line}");
        }
    }
}
