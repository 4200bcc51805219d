//! Arguments: their help texts, and their effect on the output.

use crate::support::cases::{Case, formats, root};
use crate::support::run::{empty_folder, listing, run};

/// Every option of the main job.
const OPTIONS: &[&str] = &[
    "--buildid-dir",
    "--cache",
    "--cache-size",
    "--cgroup",
    "--charge-to-caller",
    "--collapse-recursion",
    "--color",
    "--comm",
    "--cpu",
    "--debug-dir",
    "--debuginfod",
    "--demangle",
    "--event",
    "--extra-dir",
    "--fail-if-incomplete",
    "--fields",
    "--focus",
    "--fold-parts",
    "--fold-threads",
    "--format",
    "--handover",
    "--help",
    "--hide",
    "--ignore",
    "--inside",
    "--jobs",
    "--join",
    "--kallsyms",
    "--keep-unrooted",
    "--kernel-frames",
    "--kernel-suffix",
    "--label",
    "--label-end",
    "--label-when",
    "--licenses",
    "--longer-than",
    "--map",
    "--map-file",
    "--max-frames",
    "--max-memory",
    "--module",
    "--no-cache",
    "--no-inline",
    "--no-join",
    "--no-open",
    "--no-symbols",
    "--no-tail-calls",
    "--output",
    "--path-map",
    "--perf-map-dir",
    "--pid",
    "--progress-lines",
    "--quiet",
    "--redact",
    "--reverse",
    "--root",
    "--rows",
    "--service-name",
    "--show-module",
    "--span",
    "--stacks",
    "--sysroot",
    "--tid",
    "--time",
    "--timings",
    "--trust-perf-maps",
    "--up-to",
    "--value",
    "--verbose",
    "--version",
    "--weight",
    "--where",
    "--with-arguments",
    "--with-fields",
];

#[test]
fn help_tells_every_option() {
    let help = run(root(), &["--help"]).expect_status(0);
    let mut reported: Vec<&str> = help
        .text()
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('-').map(|_| line))
        .flat_map(|line| line.split([' ', ',', '[', '=']))
        .filter(|word| word.starts_with("--"))
        .collect();
    reported.sort_unstable();
    assert_eq!(reported, OPTIONS);
    let headings: Vec<&str> = help
        .text()
        .lines()
        .filter(|line| !line.starts_with(' ') && line.ends_with(':') && !line.contains("  "))
        .collect();
    let expected = [
        "Commands:",
        "Arguments:",
        "Options:",
        "Filters:",
        "Functions:",
        "Symbols:",
        "Files:",
        "perf script:",
        "Folded stacks, flame graph, speedscope, Firefox:",
        "Arrow, OTLP, fields:",
        "Examples:",
    ];
    assert_eq!(headings, expected);
    let first = help.text().lines().next();
    let about = "Turn a recording of `perf record --call-graph dwarf` into symbolized callchains.";
    assert_eq!(first, Some(about));
}

/// `--color` is an option of every command, under no heading of formats.
#[test]
fn help_of_a_command_has_its_own_headings() {
    let help = run(root(), &["info", "--help"]).expect_status(0);
    let about = "Show the header of a recording: machine, events, features";
    assert_eq!(help.text().lines().next(), Some(about));
    let headings = help.text().lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
    assert_eq!(headings.collect::<Vec<_>>(), ["Arguments:", "Options:"]);
}

#[test]
fn the_documentation_tells_every_option() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    for option in OPTIONS {
        assert!(readme.contains(&format!("`{option}")), "README.md does not mention `{option}`");
    }
}

#[test]
fn the_documentation_tells_every_format() {
    for file in ["README.md", "docs/OUTPUT.md"] {
        let text = std::fs::read_to_string(root().join(file)).expect("a page");
        for format in formats() {
            assert!(text.contains(&format!("`{format}`")), "{file} does not mention `{format}`");
        }
    }
}

#[test]
fn version() {
    let version = run(root(), &["--version"]).expect_status(0);
    assert_eq!(version.text(), concat!("unwind-perf ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn licenses_of_the_program_and_its_libraries() {
    let ran = run(root(), &["--licenses"]).expect_status(0);
    let own = "unwind-perf is licensed under either of the Apache License 2.0 or the MIT licence";
    assert!(ran.text().starts_with(own));
    let third_party = "crates/unwind-perf/THIRD-PARTY-LICENSES.txt";
    for file in ["LICENSE-MIT", "LICENSE-APACHE", third_party] {
        let text = std::fs::read_to_string(root().join(file)).expect("a text");
        assert!(ran.text().contains(&text), "{file} is not printed");
    }
    // The condition of its licence for programs that contain it.
    assert!(
        ran.text().contains("inferno is under the Common Development and Distribution License")
    );
    run(root(), &["--licenses", "perf.data"]).expect_status(2);
}

#[test]
fn the_ending_of_the_file_chooses_the_format() {
    let folder = empty_folder("endings");
    let case = Case::named("plt");
    let endings = [
        ("a.json", "json"),
        ("a.jsonl", "ndjson"),
        ("a.perf.txt", "perf-script"),
        ("a.folded", "folded"),
    ];
    for (name, format) in endings {
        let expected = case.run(&["-q", "-f", format]).expect_status(0).stdout;
        let path = folder.join(name);
        let ran = case.run(&["-q", "-o", path.to_str().expect("UTF-8")]).expect_status(0);
        assert_eq!((ran.text(), ran.stderr.as_str()), ("", ""));
        assert!(std::fs::read(&path).expect("the output") == expected, "{name}");
    }
    // --format takes precedence over the ending, and an existing file is replaced.
    let path = folder.join("a.json");
    let folded = std::fs::read(folder.join("a.folded")).expect("the output");
    let path_text = path.to_str().expect("UTF-8");
    case.run(&["-q", "-f", "folded", "-o", path_text]).expect_status(0);
    assert_eq!(std::fs::read(&path).expect("the output"), folded);
    assert_eq!(listing(&folder), ["a.folded", "a.json", "a.jsonl", "a.perf.txt"]);
}

#[test]
fn the_most_frames_of_a_chain() {
    let case = Case::named("spin-lld");
    let most = usize::MAX.to_string();
    case.run(&["-q", "-f", "ndjson", "--max-frames", &most]).expect_status(0);
    for sample in case.run(&["-q", "-f", "ndjson", "--max-frames", "3"]).expect_status(0).lines() {
        let names: Vec<&str> = sample["frames"]
            .as_array()
            .expect("frames")
            .iter()
            .map(|frame| frame["function"].as_str().expect("a name"))
            .collect();
        assert_eq!(
            (names.as_slice(), &sample["end"]),
            (&["spin", "inner", "outer"][..], &"max-frames".into())
        );
    }
}

#[test]
fn folded_stacks_can_be_had_otherwise() {
    let folded = |case: &str, options: &[&str]| {
        let ran = Case::named(case).run(&[&["-q", "-f", "folded"], options].concat());
        ran.expect_status(0).text().to_owned()
    };
    let short = |text: String| text.replace("_start;__libc_start_main;libc.so.6+0x271d0;main", "…");
    assert_eq!(
        short(folded("anon", &[])),
        "anon;…;[gap];[anon];target;spin 15\nanon;…;call_copy;[anon];target;spin 15\n"
    );
    let cut = "_Unwind_Resume;libgcc_s.so.1+0x14770 2\n";
    let (under, among) = (folded("exceptions", &[]), folded("exceptions", &["--keep-unrooted"]));
    assert!(under.contains(&format!("exceptions;[truncated];{cut}")), "{under}");
    assert!(among.starts_with(&format!("exceptions;{cut}")), "{among}");
    assert_eq!(
        short(folded("syscalls", &["--kernel-suffix", "--comm", "syscalls"])),
        "syscalls;…;fill;read;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];ksys_read_[k];\
         vfs_read_[k];read_zero_[k];rep_stos_alternative_[k] 28\nsyscalls;…;spin.constprop.0 20\n"
    );
    // 31 samples of 1/299 s.
    assert_eq!(
        short(folded("spin-lld", &["--weight", "period"])),
        "spin-lld;…;outer;inner;spin 103678911\n"
    );
}

#[test]
fn names_as_one_wants_them() {
    let first = |how: &str| {
        let ran = Case::named("exceptions").run(&[
            "-q",
            "-f",
            "ndjson",
            "--no-inline",
            "--demangle",
            how,
        ]);
        let lines = ran.expect_status(0).lines();
        let names = lines.iter().flat_map(|line| line["frames"].as_array().expect("frames"));
        let mut names: Vec<String> = names
            .filter_map(|frame| frame["function"].as_str())
            .filter(|name| name.contains("thrower"))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(first("full"), ["thrower(int)", "thrower(int) [clone .cold]"]);
    assert_eq!(first("short"), ["thrower"]);
    assert_eq!(first("none"), ["_ZL7throweri", "_ZL7throweri.cold"]);
}

#[test]
fn pictures() {
    let folder = empty_folder("pictures");
    let case = Case::named("spin-lld");
    let (recording, root) = (case.folder.join("perf.data"), crate::support::cases::sysroot());
    let (recording, root) = (recording.to_str().expect("UTF-8"), root.to_str().expect("UTF-8"));
    let picture = |options: &[&str]| {
        let arguments = [&["flamegraph", recording, "--sysroot", root, "-q"], options].concat();
        run(&folder, &arguments).expect_status(0).text().to_owned()
    };
    let printed = picture(&[]);
    assert!(printed.contains("<title>outer (31 samples, 100.00%)</title>"), "{printed}");
    assert_ne!(picture(&["--inverted"]), printed);
    assert_eq!(picture(&["-o", "a.svg"]), "");
    assert_eq!(std::fs::read_to_string(folder.join("a.svg")).expect("a picture"), printed);
    assert_eq!(case.run(&["-q", "-f", "flamegraph"]).expect_status(0).text(), printed);
}

#[test]
fn fields_of_perf_script() {
    let first = |fields: &str| {
        let ran = Case::named("inlines-gcc").run(&["-q", "-f", "perf-script", "-F", fields]);
        let ran = ran.expect_status(0);
        ran.text().lines().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = first("+srcline");
    assert!(whole[0].starts_with("inlines-gcc 32401/32401  2892.835303: "), "{}", whole[0]);
    assert!(whole[2].starts_with("  random.tcc:") || whole[2].starts_with('\t'), "{}", whole[2]);
    assert_eq!(first("comm,tid"), ["     inlines-gcc 32401 "; 3]);
    assert!(first("pid,ip,dso")[1].ends_with("/inlines-gcc)"), "{:?}", first("pid,ip,dso"));
    assert_eq!(first("ip,sym")[0], "");
    let error = Case::named("plt").run(&["-f", "perf-script", "-F", "sym"]).expect_status(2).stderr;
    assert!(error.contains("sym needs ip"), "{error}");
}

/// Also checks messages about the arguments themselves.
#[test]
fn colours() {
    let case = Case::named("spin-lld");
    let reported = |color: &[&str]| {
        let ran = case.run(&[&["-f", "folded"], color].concat()).expect_status(0);
        assert!(!ran.text().contains('\x1b'), "output has no colours");
        ran.stderr
    };
    let plain = reported(&[]);
    assert!(!plain.contains('\x1b'), "{plain}");
    assert_eq!(reported(&["--color", "auto"]), plain);
    assert_eq!(reported(&["--color", "never"]), plain);
    let coloured = reported(&["--color=always"]);
    for line in [
        "31 samples, 217 frames.\n",
        "\x1b[1mAll 31 stacks are complete.\x1b[0m\n",
        "\x1b[33munverified-file:\x1b[0m /usr/lib",
    ] {
        assert!(coloured.contains(line), "{coloured}");
    }
    let hotspot = case.run(&["-f", "hotspot", "--color=always"]).expect_status(0).stderr;
    assert_eq!(hotspot, coloured);
    let error = |arguments: &[&str]| run(root(), arguments).expect_status(2).stderr;
    let missing =
        "unwind-perf:\x1b[0m cannot read missing: No such file or directory (os error 2)\n";
    assert_eq!(error(&["missing", "--color=always"]), format!("\x1b[1m\x1b[31m{missing}"));
    assert!(
        error(&["info", "missing", "--color", "always"]).contains("\x1b[1m\x1b[31munwind-perf:")
    );
    assert!(error(&["--unknown", "--color=always"]).contains('\x1b'));
    assert!(!error(&["--unknown", "--color=never"]).contains('\x1b'));
}

/// The summary is short; `--verbose` has the words of every end and of all findings.
#[test]
fn details_of_the_summary() {
    let case = Case::named("deep");
    let reported = |more: &[&str]| {
        let ran = case.run(&[&["-f", "folded", "-o", "/dev/null"], more].concat());
        ran.expect_status(0).stderr
    };
    let short = reported(&[]);
    assert!(short.contains("\n5 of 37 stacks (13.5 %) are complete.\n"), "{short}");
    assert!(short.lines().count() <= 7 && !short.contains("not-covered"), "{short}");
    let details = reported(&["--verbose"]);
    for part in [
        "\n   86.5 %  root-across-gap              32\n",
        "\nEvidence of frames: 85.1 % cfi, 9.6 % joined, ",
        "\nnot-covered: ",
    ] {
        assert!(details.contains(part), "{details}");
    }
    assert_eq!(reported(&["-v"]), details);
    case.run(&["-q", "-v"]).expect_status(2);
}

#[test]
fn a_folder_takes_files_of_usual_names() {
    let folder = empty_folder("names");
    let case = Case::named("plt");
    let path = folder.to_str().expect("UTF-8");
    for format in formats() {
        let ran = case.run(&["-q", "-f", &format, "-o", path]).expect_status(0);
        assert_eq!((ran.text(), ran.stderr.as_str()), ("", ""));
    }
    case.run(&["-q", "-o", path]).expect_status(0);
    let names = [
        "callgrind.out.perf",
        "perf.arrows",
        "perf.folded",
        "perf.html",
        "perf.json",
        "perf.json.gz",
        "perf.ndjson",
        "perf.otlp",
        "perf.parquet",
        "perf.pb.gz",
        "perf.perf-script",
        "perf.perfparser",
        "perf.speedscope.json",
        "perf.svg",
    ];
    assert_eq!(listing(&folder), names);
    let json = case.run(&["-q"]).expect_status(0).stdout;
    assert!(std::fs::read(folder.join("perf.json")).expect("the output") == json);
}

#[test]
fn manual_and_completions() {
    let man = run(root(), &["man"]).expect_status(0);
    let man = man.text().replace("\\-", "-");
    assert!(man.contains(".TH unwind-perf 1"), "{man}");
    for option in OPTIONS {
        assert!(man.contains(option), "the manual does not mention {option}");
    }
    assert!(man.contains(".SH \"COMMAND FLAMEGRAPH\"") && man.contains("--inverted"));
    for section in ["COMMANDS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"] {
        assert!(man.contains(&format!(".SH \"{section}\"\n")), "no {section}");
    }
    let pages = man.lines().filter(|line| line.contains("(1)"));
    assert_eq!(pages.collect::<Vec<_>>(), ["\\fBperf-record\\fR(1), \\fBperf-script\\fR(1)"]);
    for shell in ["bash", "zsh", "fish"] {
        let text = run(root(), &["completions", shell]).expect_status(0);
        for word in ["flamegraph", "max-frames", "keep-unrooted", "perf-script", "speedscope"] {
            assert!(text.text().contains(word), "{shell}: {word}");
        }
    }
}

/// One program serves as all three, by the name under which it is started.
#[test]
fn a_link_is_the_program_of_its_name() {
    let folder = empty_folder("links-of-programs");
    for (name, first) in [
        ("hotspot-perfparser", concat!("hotspot-perfparser ", env!("CARGO_PKG_VERSION"))),
        ("up", concat!("unwind-perf ", env!("CARGO_PKG_VERSION"))),
    ] {
        let link = folder.join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_unwind-perf"), &link).expect("a link");
        let ran = std::process::Command::new(&link).arg("--version").output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim_end(), first);
    }
}

#[test]
fn progress_in_lines() {
    let case = Case::named("plt");
    let run = case.run(&["-q", "-f", "folded", "--progress-lines"]).expect_status(0);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.first(), Some(&"progress: reading"));
    assert_eq!(lines.last(), Some(&"progress: writing"));
    assert!(lines.iter().all(|line| line.starts_with("progress: ")), "{lines:?}");
}
