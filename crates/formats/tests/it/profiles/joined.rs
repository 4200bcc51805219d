//! Chains that are completed with frames of other samples. Every format marks these frames, and no format has an
//! address for a gap.

use address::{Bias, ModuleId, Pid, Tid};
use formats::{Format, FormatOptions, write_summary};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameId, FrameRow, InlineRow, LayoutId, LocationId,
    LocationRow, ModuleKind, ModuleRow, Profile, SampleRow, StackId, StackRow, Table, ThreadRow,
};
use serde_json::{Value, json};

use crate::firefox::{document as firefox, stack};
use crate::hotspot::messages;
use crate::page::{columns, tables};
use crate::parquet_file::{reader, rows};
use crate::{document, printed};

const DEFAULT: FormatOptions = FormatOptions::DEFAULT;

/// Four samples of `/bin/x`, mapped at 0x400000; `?` is a frame at the unmapped address 0:
///
/// ```text
/// leaf <- mid <- [gap] <- run (joined) <- main (joined)    root-across-gap
/// leaf <- mid <- main (joined)                             root
/// leaf <- mid <- main                                      root
/// leaf <- ?                                                not-mapped
/// ```
fn joined() -> Profile {
    let mut profile = Profile::default();
    let mut id = |text: &str| profile.strings.intern(text.as_bytes());
    let (path, file, comm, name) = (id("/bin/x"), id("x.c"), id("x"), id("cycles"));
    let functions = ["leaf", "mid", "[gap]", "run", "main"].map(&mut id);
    let module = ModuleRow { path, opened: None, build_id: None, kind: ModuleKind::Elf };
    let module = Some(profile.modules.push(module));
    for (function, (file, line)) in functions.into_iter().zip([
        (Some(file), 3),
        (Some(file), 5),
        (None, 0),
        (Some(file), 7),
        (Some(file), 9),
    ]) {
        let function = Some(function);
        profile.inlines.push(InlineRow { function, file, line, ..InlineRow::NAMELESS });
    }
    let places = [
        (module, 0x1010, Some(0x10)),
        (module, 0x1130, Some(0x30)),
        (None, 0, None),
        (module, 0x2020, Some(0x20)),
        (module, 0x3040, Some(0x40)),
    ];
    for ((module, relative, function_offset), first_inline) in
        places.into_iter().zip(profile.inlines.ids())
    {
        let offset = module.map(|_| relative);
        let row = LocationRow::unnamed(module, relative);
        let row = LocationRow { offset, function_offset, first_inline, n_inlines: 1, ..row };
        profile.locations.push(row);
    }
    profile.locations.push(LocationRow::unnamed(None, 0));
    let frames = [
        (0, FoundBy::Sampled),
        (1, FoundBy::Cfi),
        (2, FoundBy::Gap),
        (3, FoundBy::Joined),
        (4, FoundBy::Joined),
        (4, FoundBy::Cfi),
        (5, FoundBy::Cfi),
    ];
    profile.frames.extend(frames.map(|(location, found_by)| FrameRow {
        location: LocationId::new(location),
        found_by,
        kernel: false,
        instance: 0,
    }));
    profile.layouts.push([(ModuleId(0), Bias(0x40_0000))].into_iter().collect());
    let (pid, tid) = (Pid(7), Tid(8));
    let thread = profile.threads.push(ThreadRow { pid, tid, comm, process: comm, cgroup: None });
    profile.events.push(EventRow { name, kind: 0, config: 0, frequency: true, rate: 997 });
    fill_samples(&mut profile, thread);
    profile
}

fn fill_samples(profile: &mut Profile, thread: profile::ThreadId) {
    let node = |parent: Option<u32>, frame| StackRow {
        parent: parent.map(StackId::new),
        frame: FrameId::new(frame),
    };
    profile.stacks = Table::from_vec(vec![
        node(None, 4),
        node(Some(0), 3),
        node(Some(1), 2),
        node(Some(2), 1),
        node(Some(3), 0),
        node(Some(0), 1),
        node(Some(5), 0),
        node(None, 5),
        node(Some(7), 1),
        node(Some(8), 0),
        node(None, 6),
        node(Some(10), 0),
    ]);
    let samples = [
        (4, EndReason::RootAcrossGap),
        (6, EndReason::Root),
        (9, EndReason::Root),
        (11, EndReason::NotMapped),
    ];
    profile.samples.extend(samples.map(|(stack, end)| {
        SampleRow::new(thread, EventId::new(0), end, Some(StackId::new(stack)), LayoutId::new(0))
    }));
    profile.summary.samples = 4;
    profile.summary.frames = 13;
}

fn text(format: Format, options: FormatOptions) -> String {
    String::from_utf8(printed(&joined(), format, options)).expect("UTF-8")
}

#[test]
fn json_has_words_and_counts() {
    let json: Value = serde_json::from_str(&text(Format::Json, DEFAULT)).expect("valid JSON");
    let schema: Value = serde_json::from_str(&document("stacks.schema.json")).expect("valid JSON");
    assert_eq!(crate::support::validator::violations(&schema, &json), [""; 0]);
    assert_eq!(json["meta"]["revision"], 12);
    let word = |list: &str, at: &Value| {
        json["words"][list][at.as_u64().expect("an index") as usize].clone()
    };
    let ends = json["samples"]["end"].as_array().expect("a column").iter();
    let ends: Vec<_> = ends.map(|end| word("end", end)).collect();
    assert_eq!(ends, ["root-across-gap", "root", "root", "not-mapped"]);
    let found = json["frames"]["found_by"].as_array().expect("a column").iter();
    let found: Vec<_> = found.map(|found_by| word("found_by", found_by)).collect();
    assert_eq!(found, ["sampled", "cfi", "gap", "joined", "joined", "cfi", "cfi"]);
    let locations = &json["locations"];
    assert_eq!(locations["function_offset"], json!([16, 48, null, 32, 64, null]));
    assert_eq!(locations["module"], json!([0, 0, null, 0, 0, null]));
    let summary = &json["summary"];
    assert_eq!((&summary["samples_joined"], &summary["samples_with_gap"]), (&json!(2), &json!(1)));
    assert_eq!(summary["found_by"], json!([4, 5, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0]));
    assert_eq!(summary["end"][1], 1);
}

#[test]
fn ndjson_has_all_of_a_joined_frame_and_no_place_of_a_gap() {
    let text = text(Format::Ndjson, DEFAULT);
    let schema: Value = serde_json::from_str(&document("ndjson.schema.json")).expect("valid JSON");
    for line in text.lines() {
        let line = serde_json::from_str(line).expect("valid JSON");
        assert_eq!(crate::support::validator::violations(&schema, &line), [""; 0]);
    }
    let expected = [
        r#"{"pid":7,"tid":8,"comm":"x","process":"x","event":"cycles","end":"root-across-gap","frames":["#,
        r#"{"addr":"0x401010","module":"/bin/x","svma":"0x1010","offset":"0x1010","function":"leaf","function_offset":16,"file":"x.c","line":3,"inlined":false,"found_by":"sampled","kernel":false},"#,
        r#"{"addr":"0x401130","module":"/bin/x","svma":"0x1130","offset":"0x1130","function":"mid","function_offset":48,"file":"x.c","line":5,"inlined":false,"found_by":"cfi","kernel":false},"#,
        r#"{"addr":"0x0","function":"[gap]","inlined":false,"found_by":"gap","kernel":false},"#,
        r#"{"addr":"0x402020","module":"/bin/x","svma":"0x2020","offset":"0x2020","function":"run","function_offset":32,"file":"x.c","line":7,"inlined":false,"found_by":"joined","kernel":false},"#,
        r#"{"addr":"0x403040","module":"/bin/x","svma":"0x3040","offset":"0x3040","function":"main","function_offset":64,"file":"x.c","line":9,"inlined":false,"found_by":"joined","kernel":false}]}"#,
    ];
    assert_eq!(text.lines().next(), Some(expected.concat().as_str()));
    let nowhere = r#"{"addr":"0x0","inlined":false,"found_by":"cfi","kernel":false}]}"#;
    assert!(text.ends_with(&format!("{nowhere}\n")), "an address without a name stays one");
}

#[test]
fn perf_script_has_the_gap_in_no_module() {
    let expected = "x     7/8     cycles: \n\
        \t          401010 leaf+0x10 (/bin/x)\n\
        \t          401130 mid+0x30 (/bin/x)\n\
        \t               0 [gap] ([unknown])\n\
        \t          402020 run+0x20 (/bin/x)\n\
        \t          403040 main+0x40 (/bin/x)\n\
        \n";
    assert!(text(Format::PerfScript, DEFAULT).starts_with(expected));
}

/// Only stacks without their root are truncated.
#[test]
fn folded_stacks_across_a_gap_have_their_root() {
    let expected =
        "x;main;mid;leaf 2\nx;main;run;[gap];mid;leaf 1\nx;[truncated];[unknown];leaf 1\n";
    assert_eq!(text(Format::Folded, DEFAULT), expected);
}

/// `main` is from other samples in two of the three stacks that begin with it, and `run` in its only stack.
#[test]
fn a_flame_graph_marks_what_is_mostly_of_other_samples() {
    let picture = text(Format::Flamegraph, DEFAULT);
    for title in [
        "main [joined] (3 samples, 75.00%)",
        "run [joined] (1 samples, 25.00%)",
        "[gap] (1 samples, 25.00%)",
        "mid (2 samples, 50.00%)",
    ] {
        assert!(picture.contains(&format!("<title>{title}</title>")), "{title}\n{picture}");
    }
    assert!(
        picture
            .contains(">[joined]: most of these stacks have the frame from other samples; [gap]")
    );
    let reverse = text(Format::Flamegraph, FormatOptions { reverse: true, ..DEFAULT });
    assert!(reverse.contains("<title>run [joined] (1 samples, 25.00%)</title>"), "{reverse}");
    assert!(reverse.contains("<title>main (2 samples, 50.00%)</title>"), "one of two");
    let mut profile = joined();
    let samples = profile.samples.as_slice()[2..].to_vec();
    profile.samples = Table::from_vec(samples);
    let plain = printed(&profile, Format::Flamegraph, DEFAULT);
    assert!(!String::from_utf8_lossy(&plain).contains("[joined]"), "no legend without");
}

#[test]
fn a_page_does_not_part_stacks_by_where_they_are_from() {
    let (head, bytes) = tables(&joined());
    let columns = columns(&head, &bytes);
    let name = |node: usize| {
        let function = &head["functions"][columns["func"][node] as usize];
        let name = function[0].as_i64().expect("a number");
        usize::try_from(name).ok().map_or("", |name| head["names"][name].as_str().expect("text"))
    };
    let nodes = (0..columns["func"].len())
        .map(|node| (name(node), columns["flags"][node] as u8, columns["line"][node] as u32));
    let expected = [
        ("", 8, 0),
        ("leaf", 0, 3),
        ("main", 16, 9),
        ("mid", 0, 5),
        ("leaf", 0, 3),
        ("run", 16, 7),
        ("[gap]", 16 + 32, 0),
        ("mid", 0, 5),
        ("leaf", 0, 3),
    ];
    assert_eq!(nodes.collect::<Vec<_>>(), expected);
    assert_eq!(head["ends"][1], "root-across-gap");
    let rooted = head["rooted"].as_array().expect("a list");
    assert_eq!(rooted[..3], [json!(1), json!(1), json!(0)]);
    let summary = head["summary"].as_str().expect("text");
    assert!(summary.contains("have frames of other samples"), "{summary}");
    let page = text(Format::Report, DEFAULT);
    assert!(
        page.contains("\"truncated, gap\"") && page.contains("\"of other samples\""),
        "the legend"
    );
}

#[test]
fn firefox_has_no_address_for_a_gap() {
    let document = firefox(&joined(), DEFAULT);
    let stacks = &document["threads"][0]["samples"]["stack"];
    let expected =
        ["main 0 9 1/1", "run 0 7 1/1", "[gap] 0 null 4/0", "mid 0 5 1/0", "leaf 0 3 1/0"];
    assert_eq!(stack(&document, &stacks[0]), expected);
    assert_eq!(stack(&document, &stacks[2]), ["main 0 9 1/0", "mid 0 5 1/0", "leaf 0 3 1/0"]);
    let frames = &document["shared"]["frameTable"];
    // In the order of the frames of the profile; `[truncated]` is the last.
    let addresses = json!([0x1010, 0x1130, -1, 0x2020, 0x3040, 0x3040, 0, -1]);
    assert_eq!(frames["address"], addresses);
    assert_eq!(frames["nativeSymbol"], json!([0, 1, null, 2, 3, 3, null, null]));
}

#[test]
fn graphs_of_functions_have_the_gap() {
    let document: Value =
        serde_json::from_str(&text(Format::Speedscope, DEFAULT)).expect("valid JSON");
    assert_eq!(
        document["shared"]["frames"],
        json!([
            {"name": "leaf", "file": "x.c"},
            {"name": "mid", "file": "x.c"},
            {"name": "[gap]"},
            {"name": "run", "file": "x.c"},
            {"name": "main", "file": "x.c"},
            {"name": "[unknown]"},
            {"name": "[truncated]"},
            {"name": "x"},
        ])
    );
    assert_eq!(
        document["profiles"][0]["samples"],
        json!([[4, 3, 2, 1, 0], [4, 1, 0], [4, 1, 0], [6, 5, 0]])
    );
    let graph = text(Format::Callgrind, DEFAULT);
    let gap = "ob=(2) ???\nfl=(2) ???\nfn=(3) [gap]\ncob=(1)\ncfi=(1)\ncfn=(2)\ncalls=1 0\n0 1\n";
    assert!(graph.contains(gap), "{graph}");
    let run = "ob=(1)\nfl=(1)\nfn=(4) run\ncob=(2)\ncfi=(2)\ncfn=(3)\ncalls=1 0\n7 1\n";
    assert!(graph.contains(run), "{graph}");
}

/// The gap is a location without address and mapping, with a line that has only its function.
#[test]
fn pprof_has_the_gap_in_no_mapping() {
    let plain = crate::support::graphs::pprof_bytes(&joined(), DEFAULT);
    let top = crate::support::graphs::fields(&plain);
    let all = |field| top.iter().filter(move |row| row.0 == field).map(|row| row.2);
    let strings: Vec<&[u8]> = all(6).collect();
    let numbers = |message: &[u8]| -> Vec<(u64, u64)> {
        crate::support::graphs::fields(message).iter().map(|row| (row.0, row.1)).collect()
    };
    let lines = |location: &[u8]| -> Vec<Vec<(u64, u64)>> {
        let fields = crate::support::graphs::fields(location);
        fields.iter().filter(|row| row.0 == 4).map(|row| numbers(row.2)).collect()
    };
    let gap = all(4).nth(2).expect("a location");
    assert_eq!(numbers(gap)[..2], [(1, 3), (4, 2)], "neither mapping nor address");
    assert_eq!(lines(gap), [[(1, 3)]]);
    let run = all(4).nth(3).expect("a location");
    assert_eq!(numbers(run)[..3], [(1, 4), (2, 1), (3, 0x2020)]);
    assert_eq!(lines(run), [[(1, 4), (2, 7)]]);
    let name = numbers(all(5).nth(2).expect("a function"))[1];
    assert_eq!((name.0, strings[name.1 as usize]), (2, &b"[gap]"[..]));
    let label = crate::support::graphs::fields(all(2).next().expect("a sample"));
    let label = numbers(label.last().expect("a label").2);
    let [key, value] = [label[0].1, label[1].1].map(|at| strings[at as usize]);
    assert_eq!((key, value), (&b"end"[..], &b"root-across-gap"[..]));
}

#[test]
fn parquet_rows_have_the_words() {
    let rows = rows(&reader(&joined(), DEFAULT));
    assert!(rows[0].contains("end: \"root-across-gap\", complete: false"), "{}", rows[0]);
    assert!(rows[1].contains("end: \"root\", complete: true"), "{}", rows[1]);
    for frame in [
        "{addr: 0, module: null, build_id: null, svma: null, offset: null, function: \"[gap]\", \
         function_offset: null, file: null, line: null, inlined: false, found_by: \"gap\", kernel: false}",
        "{addr: 4202528, module: \"/bin/x\", build_id: null, svma: 8224, offset: 8224, function: \"run\", \
         function_offset: 32, file: \"x.c\", line: 7, inlined: false, found_by: \"joined\", kernel: false}",
    ] {
        assert!(rows[0].contains(frame), "{}", rows[0]);
    }
}

/// The gap is a location without module and with a symbol of its name. It and all outer frames are guessed.
#[test]
fn hotspot_is_told_that_joined_frames_are_guessed() {
    let stream = printed(&joined(), Format::Hotspot, DEFAULT);
    let messages = messages(&stream);
    let of = |kind| messages.iter().filter(move |message| message.0 == kind).map(|row| row.1);
    let number = |bytes: &[u8]| i32::from_be_bytes(*bytes.first_chunk().expect("a number"));
    let gap = of(5).find(|string| string.ends_with(b"[gap]")).expect("the name");
    let symbol = of(4).find(|symbol| symbol[4..8] == gap[..4]).expect("the symbol");
    assert_eq!((number(&symbol[8..]), number(&symbol[12..]), symbol[16]), (-1, -1, 0));
    let location = of(3).find(|location| location[..4] == symbol[..4]).expect("the location");
    assert_eq!(location[4..12], [0; 8], "its address");
    let samples: Vec<_> = of(13).map(|sample| (number(&sample[20..]), sample)).collect();
    let guessed = samples.iter().map(|(n, sample)| (*n, sample[24 + 4 * *n as usize]));
    assert_eq!(guessed.collect::<Vec<_>>(), [(5, 3), (3, 1), (3, 0), (2, 0)]);
}

#[test]
fn the_summary_has_lines() {
    let mut out = Vec::new();
    write_summary(&joined(), &mut out).expect("a vector");
    let expected = "\
4 samples, 13 frames.
2 of 4 stacks (50.0 %) are complete. Ends:
   50.0 %  root                          2
   25.0 %  root-across-gap               1
   25.0 %  not-mapped                    1
Stacks: 50.0 % have frames of other samples, 25.0 % have a gap.
Evidence of frames: 38.5 % cfi, 30.8 % sampled, 23.1 % joined, 7.7 % gap.
";
    assert_eq!(String::from_utf8(out).expect("UTF-8"), expected);
}
