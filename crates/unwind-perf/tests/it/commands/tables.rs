//! `top` and `tree`, and their output on a terminal.

use crate::support::cases::{Case, sysroot};
use crate::support::pty::on_terminal;
use crate::support::run::{empty_folder, run};

/// Returns the output of a command for a case.
fn printed(case: &str, arguments: &[&str]) -> String {
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8"), "-q"];
    let arguments = [arguments, &files].concat();
    run(&Case::named(case).folder, &arguments).expect_status(0).text().to_owned()
}

#[test]
fn top_by_functions_threads_and_events() {
    let expected = "\
48 samples of cpu-clock:u
    own  samples  inclusive  samples  function          module
 97.9 %       47     97.9 %       47  spin.constprop.0  fork
  2.1 %  12 more rows; --limit 0 shows all
";
    assert_eq!(printed("fork", &["top", "-n", "1"]), expected);
    let expected = "\
48 samples of cpu-clock:u
    own  samples  thread         tid
 33.3 %       16  second thread  27951
 33.3 %       16  fork           27953
 31.3 %       15  fork           27952
  2.1 %        1  fork           27951
";
    assert_eq!(printed("fork", &["top", "--by", "thread"]), expected);
    let expected = "\
52 samples
    own  samples  event
 50.0 %       26  cpu-clock:u
 50.0 %       26  task-clock:u
";
    assert_eq!(printed("two-events", &["top", "--by", "event"]), expected);
    let expected = "\
26 samples of cpu-clock:u, 104.4 ms
    own      time  inclusive      time  module
100.0 %  104.4 ms    100.0 %  104.4 ms  /tmp/unwind-perf-testdata/two-events/two-events
  0.0 %    0.0 ms    100.0 %  104.4 ms  /usr/lib/x86_64-linux-gnu/libc.so.6
";
    assert_eq!(printed("two-events", &["top", "--by=module", "--weight=period"]), expected);
}

#[test]
fn the_tree_has_forms_for_programs() {
    let text = printed("fork", &["tree", "-f", "json", "-n", "2"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let head = ["schema", "version", "bottom_up", "unit", "event", "samples", "total"];
    let head = head.map(|key| json[key].to_string()).join(" ");
    assert_eq!(head, r#""unwind-perf.tree" 1 false "samples" "cpu-clock:u" 48 48"#);
    let row = |at: usize| {
        let keys = ["parent", "depth", "function", "own", "inclusive", "inclusive_share"];
        keys.map(|key| json["rows"][at][key].to_string()).join(" ")
    };
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(row(0), r#"null 0 "_start" 0 31 0.6458333333333334"#);
    assert_eq!(row(1), r#"0 1 "__libc_start_main" 0 31 0.6458333333333334"#);
    assert_eq!(json["left_out"], 13);
    let csv = printed("fork", &["tree", "--bottom-up", "--min", "50%", "-f", "csv", "-n", "1"]);
    let expected = "\
parent,depth,function,mark,module,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share
,0,spin.constprop.0,,/tmp/unwind-perf-testdata/fork/fork,0,0,0.0,47,47,0.9791666666666666
";
    assert_eq!(csv, expected);
}

#[test]
fn a_function_has_a_form_for_programs() {
    let text = printed("inlines-gcc", &["annotate", "_M_gen_rand", "-f", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let keys = ["schema", "version", "own", "inclusive", "unit", "samples", "total"];
    let head = keys.map(|key| json[key].to_string()).join(" ");
    assert_eq!(head, r#""unwind-perf.annotate" 1 15 15 "samples" 35 35"#);
    let line = json["lines"][0].to_string();
    let expected = r#"{"file":"/usr/include/c++/12/bits/random.tcc","inclusive":2,"inclusive_samples":2,"line":408,"own":2,"own_samples":2,"text":null}"#;
    assert_eq!(line, expected);
    let instruction = json["instructions"][0].to_string();
    let expected = r#"{"address":6592,"inclusive":0,"inclusive_samples":0,"length":3,"own":0,"own_samples":0,"text":"mov %rdi,%r8"}"#;
    assert_eq!(instruction, expected);
}

#[test]
fn functions_are_chosen_by_patterns() {
    // Function, own and inclusive samples of the first row.
    let first = |options: &[&str]| {
        let text = printed("recursion-rs", &[&["top", "-f", "json"], options].concat());
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let row = &json["rows"][0];
        format!("{} {} {}", row["function"], row["own"], row["inclusive"])
    };
    let charged =
        ["--charge-to-caller", "PartialOrd>::lt$|^core::", "--charge-to-caller=unchecked"];
    assert_eq!(first(&charged), r#""std::sys::backtrace::__rust_begin_short_backtrace" 23 23"#);
    let hidden = ["--hide", "^core::|^<", "--collapse-recursion"];
    assert_eq!(first(&hidden), r#""recursion::work::{{closure}}" 23 41"#);
    assert_eq!(first(&["--focus=rotate_left$"]), r#""core::intrinsics::rotate_left" 4 4"#);
    assert_eq!(first(&["--show-module=/libc"]), r#""libc.so.6+0x271d0" 23 23"#);
    let options = ["--show-module=/recursion-rs$", "--focus=^main$", "--charge-to-caller=lang"];
    let expected = "\
23 samples of cpu-clock:u
inclusive      own  samples  function
  100.0 %                23  _start  recursion-rs
  100.0 %  100.0 %       23  └ main  recursion-rs
";
    assert_eq!(printed("recursion-rs", &[&["tree"][..], &options].concat()), expected);
    let refused = run(&Case::named("fork").folder, &["top", "--focus", "("]).expect_status(2);
    let message = "error: invalid value '(' for '--focus <REGEX>': regex parse error:";
    assert!(refused.stderr.starts_with(message), "{}", refused.stderr);
}

#[test]
fn top_for_programs() {
    let csv = "\
module,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share
/tmp/unwind-perf-testdata/two-events/two-events,26,26,1.000000,26,26,1.000000
/usr/lib/x86_64-linux-gnu/libc.so.6,0,0,0.000000,26,26,1.000000
";
    assert_eq!(printed("two-events", &["top", "--by", "module", "-f", "csv"]), csv);
    let json = printed("recursion-rs", &["top", "-n1", "--sort", "inclusive", "-f", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let row = serde_json::json!({
        "function": "core::iter::traits::iterator::Iterator::fold", "mark": null,
        "module": "/tmp/unwind-perf-testdata/recursion-rs/recursion-rs",
        "own_samples": 0, "own": 0, "own_share": 0.0,
        "inclusive_samples": 41, "inclusive": 41, "inclusive_share": 1.0,
    });
    assert_eq!(
        json,
        serde_json::json!({
            "schema": "unwind-perf.top", "version": 1, "by": "function", "unit": "samples",
            "event": "cpu-clock:u", "samples": 41, "total": 41, "rows": [row], "left_out": 44,
        })
    );
}

#[test]
fn a_file_of_an_unknown_kind_is_refused() {
    let folder = empty_folder("top-endings");
    let file = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (case, sysroot) = (Case::named("fork").folder, sysroot());
    let sysroot = sysroot.to_str().expect("UTF-8");
    let write = |name: &str| run(&case, &["top", "-q", "--sysroot", sysroot, "-o", &file(name)]);
    let refused = write("top.html").expect_status(2);
    let expected = format!(
        "unwind-perf: {}: no format has the ending .html; use one of .txt, .text, .json, .csv, or choose with \
         --format\n",
        file("top.html")
    );
    assert_eq!(refused.stderr, expected);
    for (name, start) in
        [("top.csv", "function,mark,"), ("top.json", "{\n"), ("top", "48 samples of ")]
    {
        write(name).expect_status(0);
        let text = std::fs::read_to_string(file(name)).expect("a table");
        assert!(text.starts_with(start), "{name}: {text}");
    }
}

#[test]
fn annotate_takes_a_name_a_file_or_an_address() {
    for (function, named) in [
        ("main", "main"),
        ("inlines.cpp:main", "main"),
        ("inlines-gcc/inlines.cpp:main", "main"),
        ("0x1080", "main"),
        ("main (inlines.cpp)", "main"),
        ("main (inlines.cpp:38)", "main"),
        ("Walk<double>::step", "(anonymous namespace)::Walk<double>::step"),
    ] {
        let text = printed("inlines-gcc", &["annotate", "--no-code", function]);
        let line = text.lines().nth(1).expect("a second line");
        assert!(line.starts_with(&format!("{named}  inlines-gcc: own ")), "{function}: {line}");
    }
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8"), "-q"];
    for wrong in ["lines.cpp:main", "0x1081", "main (lines.cpp)", "main ()"] {
        let arguments = [&["annotate", wrong], &files[..]].concat();
        let refused = run(&Case::named("inlines-gcc").folder, &arguments).expect_status(2);
        let expected = format!(
            "unwind-perf: no sampled function has {wrong} in its name; unwind-perf top lists them\n"
        );
        assert_eq!(refused.stderr, expected);
    }
}

#[test]
fn processors() {
    let expected = "\
26 samples of cpu-clock:u
    own  samples  processor
100.0 %       26  0
";
    assert_eq!(printed("two-events", &["top", "--by", "cpu"]), expected);
    assert_eq!(printed("two-events", &["top", "--by", "cpu", "--cpu", "0,2-3"]), expected);
    for (case, cpus, expected) in [
        ("two-events", "1-3", "no sample passes the filters; there are, for --cpu: 0"),
        (
            "fork",
            "0",
            "--cpu: the samples do not state their processors; record with perf record -a or --sample-cpu",
        ),
    ] {
        let refused = run(&Case::named(case).folder, &["top", "-q", "--cpu", cpus, "perf.data"]);
        assert_eq!(refused.expect_status(2).stderr, format!("unwind-perf: {expected}\n"));
    }
}

#[test]
fn trees() {
    let expected = "\
30 samples of cpu-clock:u
inclusive      own  samples  function
  100.0 %                30  _start  anon
  100.0 %                30  └ __libc_start_main  libc.so.6
  100.0 %                30  └ libc.so.6+0x271d0  libc.so.6
  100.0 %                30  └ main  anon
   50.0 %                15  ├─ call_copy  anon
   50.0 %                15  │  └ [unknown]  anon
   50.0 %                15  │  └ target  anon
   50.0 %   50.0 %       15  │  └ spin  anon
   50.0 %                15  └─ [gap]
   50.0 %                15     └ [unknown]  anon
   50.0 %                15     └ target  anon
   50.0 %   50.0 %       15     └ spin  anon
";
    assert_eq!(printed("anon", &["tree"]), expected);
    let expected = "\
30 samples of cpu-clock:u
  share  samples  function and its callers
100.0 %       30  spin  anon
100.0 %       30  └ target  anon
100.0 %       30  └ [unknown]  anon
";
    assert_eq!(printed("anon", &["tree", "--bottom-up", "--min", "60%"]), expected);
    let beside = printed("anon", &["tree", "--keep-unrooted", "-n", "10"]);
    assert!(beside.ends_with("└ [unknown]  anon\n2 more lines; --limit 0 shows all\n"), "{beside}");
}

/// Without the source, lines have only numbers.
#[test]
fn source_and_instructions() {
    let text = printed("spin-lld", &["annotate", "spin", "perf.data"]);
    let expected = "\
31 samples of cpu-clock:u
spin  spin-lld: own 100.0 %, inclusive 100.0 %

    own  inclusive    line  /tmp/unwind-perf-testdata/spin-lld/./spin.h
";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\n    own  inclusive     address  instruction\n"), "{text}");
    assert!(text.contains("        1860  test %rdi,%rdi\n"), "{text}");
    let own = |line: &str| line.get(..7)?.trim().strip_suffix(" %")?.parse::<f64>().ok();
    let code = text.split("instruction\n").nth(1).expect("instructions");
    let sum: f64 = code.lines().filter_map(own).sum();
    assert!((99.5..=100.5).contains(&sum), "{text}");
    let none = printed("spin-lld", &["annotate", "spin", "perf.data", "--no-code"]);
    assert!(!none.contains("instruction"), "{none}");
    let unknown = Case::named("spin-lld");
    let ran = run(&unknown.folder, &["annotate", "nothing", "perf.data"]).expect_status(2);
    let message =
        "unwind-perf: no sampled function has nothing in its name; unwind-perf top lists them\n";
    assert_eq!(ran.stderr, message);
}

/// Neither function has samples of its own; PLT stubs are named by relocations.
#[test]
fn calls_have_the_names_of_their_targets() {
    let called = |case: &str| {
        let text = printed(case, &["annotate", "main"]);
        let names = text.lines().filter_map(|line| line.get(line.find(" <")? + 1..));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(called("plt"), ["<call_back@plt>"]);
    let expected =
        ["__sigaction", "__sigaction", "deep", "qsort", "with_alloca", "raiser", "trapper"];
    assert_eq!(called("aarch64-chain"), expected.map(|name| format!("<{name}>")));
}

#[test]
fn instructions_of_aarch64() {
    let text = printed("aarch64-chain", &["annotate", "stop_leaf"]);
    let code = text.split("instruction\n").nth(1).expect("instructions");
    let texts: Vec<&str> = code.lines().filter_map(|line| line.get(32..)).collect();
    let expected = [
        "adrp x2, 0x492000",
        "ldr x1, [x2, #0x58]",
        "add x1, x1, x0",
        "str x1, [x2, #0x58]",
        "ret",
    ];
    assert_eq!(texts, expected);
}

/// Returns the command's output on a terminal of 60 columns, its messages, and its status.
fn on_a_terminal(case: &Case, arguments: &[&str]) -> (String, String, Option<i32>) {
    let sysroot = sysroot();
    let files = ["perf.data", "--sysroot", sysroot.to_str().expect("UTF-8")];
    let ran = on_terminal(&case.folder, &[&files, arguments].concat(), 60, false);
    (ran.text, ran.stderr, ran.status)
}

#[test]
fn a_terminal_gets_the_functions_that_cost_most() {
    let case = Case::named("exceptions");
    let (text, summary, status) = on_a_terminal(&case, &["--color", "never"]);
    assert!(text.starts_with("40 samples of cpu-clock:u\n    own  samples  inclusive"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    assert!(text.contains('…'), "names are cut: {text}");
    assert!(summary.contains("36 of 40 stacks (90.0 %) are complete."), "{summary}");
    assert_eq!(status, Some(0));
    let (text, ..) = on_a_terminal(&case, &["-q"]);
    assert!(text.contains("\x1b[1m\x1b[4m    own"), "{text}");
    let (text, ..) = on_a_terminal(&case, &["-q", "-f", "json"]);
    assert!(text.starts_with("{\"meta\""), "{text}");
    for format in ["pprof", "firefox", "hotspot", "parquet", "arrow"] {
        let (text, message, status) = on_a_terminal(&case, &["-f", format]);
        let expected = format!(
            "unwind-perf: {format} is binary and is not written to a terminal; add -o FILE\n"
        );
        assert_eq!((text.as_str(), message, status), ("", expected, Some(2)));
    }
}

#[test]
fn the_recording_is_perf_data_where_none_is_named() {
    let case = Case::named("plt");
    let sysroot = sysroot();
    let files = ["-q", "-f", "folded", "--sysroot", sysroot.to_str().expect("UTF-8")];
    let named = case.run(&["-q", "-f", "folded"]).expect_status(0);
    assert_eq!(run(&case.folder, &files).expect_status(0).text(), named.text());
    let none = run(crate::support::cases::root(), &files).expect_status(2).stderr;
    let expected = "unwind-perf: no perf.data here. Record one: unwind-perf record -- ./program\n";
    assert_eq!(none, expected);
}
