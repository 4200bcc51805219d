//! Pictures of the screens.

use super::View;
use super::profile::{Stacks, profile};
use crate::app::Screen;
use ratatui::style::Modifier;

/// A program with a recursive function, a worker and a system call.
const SUM: Stacks<'_> = &[
    (42, 6, &["main", "run<int>(int)", "leaf"]),
    (42, 2, &["main", "run<int>(int)", "run<int>(int)", "leaf"]),
    (43, 1, &["start_thread", "work", "leaf"]),
    (43, 1, &["start_thread", "work", "read", "kernel_read"]),
];

#[test]
fn functions_are_listed_by_cost() {
    let view = View::of(profile(SUM));
    let expected = [
        " 1 Functions  2 Tree  3 Bottom-up  4 Callers  5 Source                perf.data",
        " no filter; m opens the menu of a function",
        "▼   own   incl.      samples        function",
        " 90.0 %  90.0 %            9 ██████ leaf                                     sum",
        " 10.0 %  10.0 %            1 ▊      kernel_read                   [kernel…lsyms]",
        "         80.0 %            0        run                                      sum",
        "         80.0 %            0        main                                     sum",
        "         20.0 %            0        work                                     sum",
        "         20.0 %            0        start_thread                             sum",
        "         10.0 %            0        read                                     sum",
    ];
    assert_eq!(view.lines()[..10], expected);
    let state = " 10 samples of cpu-clock:u; 100.0 % of stacks complete                   h help";
    assert_eq!(view.state(), state);
    let cell = |row| view.screen.backend().buffer()[(10, row)].modifier;
    assert!(cell(3).contains(Modifier::REVERSED) && !cell(4).contains(Modifier::REVERSED));
}

#[test]
fn keys_change_the_table() {
    let mut view = View::of(profile(SUM));
    view.press("oV");
    assert_eq!(
        view.body()[..3],
        [
            "    own ▼ incl.      samples        function",
            " 90.0 %  90.0 %            9 ██████ leaf                                     sum",
            "         80.0 %            8 █████▍ run<int>(int)                            sum",
        ]
    );
    view.press("H");
    assert!(view.body()[0].contains("leaf"));
    view.press("s<down><enter>");
    assert_eq!(
        view.body()[0],
        " 90.0 %  90.0 %       9.0 ms ██████ leaf                                     sum"
    );
    assert!(view.state().starts_with(" 10 samples of cpu-clock:u, 10.0 ms; 100.0 %"));
}

#[test]
fn the_hot_path_is_open_at_first() {
    let mut view = View::of(profile(SUM));
    view.press("2");
    let expected = [
        "    own   incl.    samples function",
        "         80.0 %          8  - main                                           sum",
        "         80.0 %          8 └- run                                            sum",
        " 60.0 %  60.0 %          6 │    leaf                                         sum",
        "         20.0 %          2 │  + run                                          sum",
        "         20.0 %          2  + start_thread                                   sum",
    ];
    assert_eq!(view.body(), expected);
    assert_eq!(view.app.trees[0].list.at, 2, "the end of the hot path is selected");
    view.press("<down>+");
    assert_eq!(
        view.body()[5],
        " 20.0 %  20.0 %          2 │ └  leaf                                         sum"
    );
    view.press("-<left><left>");
    let closed = "         80.0 %          8 └+ run                                            sum";
    assert_eq!(view.body()[2..], [closed, expected[5]], "the caller is closed");
    assert_eq!(view.app.trees[0].list.at, 1);
    view.press("<home>C");
    assert_eq!(view.body().len(), 3);
    view.press("<end>E");
    assert_eq!(view.body().len(), 7);
    view.press("C<right>");
    assert_eq!(view.body().len(), 4);
    view.press("<home>e");
    assert_eq!(view.body()[1..5], expected[1..5]);
}

#[test]
fn the_bottom_up_tree_has_callers_below() {
    let mut view = View::of(profile(SUM));
    view.press("3");
    let expected = [
        "  incl.    samples function",
        " 90.0 %          9  - leaf                                                   sum",
        " 80.0 %          8 │  - run                                                  sum",
        " 60.0 %          6 │ │    main                                               sum",
        " 20.0 %          2 │ │  + run                                                sum",
        " 10.0 %          1 │  + work                                                 sum",
        " 10.0 %          1  + kernel_read                              [kernel.kallsyms]",
    ];
    assert_eq!(view.body(), expected);
    view.press("<tab>");
    assert_eq!(view.app.screen, Screen::Functions);
}

#[test]
fn callers_and_callees_surround_the_function() {
    let mut view = View::of(profile(SUM));
    view.press("<down><down>b");
    let expected = [
        "  incl.        cost        callers, the function, callees",
        " 20.0 %           2 █▌     ↓ run                                             sum",
        " 80.0 %           8 ██████ ↓ main                                            sum",
        " 80.0 %           8 ██████ ■ run                                             sum",
        " 80.0 %           8 ██████ → leaf                                            sum",
        " 20.0 %           2 █▌     → run                                             sum",
    ];
    assert_eq!(view.body(), expected);
    view.press("<down><enter>");
    assert!(view.body()[3].contains("■ leaf"), "{:?}", view.body());
    view.press("q");
    assert_eq!(view.app.screen, Screen::Functions);
}

#[test]
fn source_begins_at_the_hottest_line() {
    let mut view = View::of(profile(SUM));
    view.press("a");
    let expected = [
        "    own   incl.      line  leaf                                   s instructions",
        "                           src/main.rs",
        "                        1  fn leaf() {",
        "                        2      let x = 1;",
        " 90.0 %  90.0 %         3      x \\x1b[2J+ 1;",
        "                        4  }",
    ];
    assert_eq!(view.body(), expected);
    assert_eq!(view.app.source.lists[0].at, 3);
    view.press("s");
    let expected = [
        "    own   incl.   address  leaf                                         s source",
        "                     3000  push %rbp",
        " 90.0 %  90.0 %      3001  add $1,%eax",
        "                     3005  ret",
    ];
    assert_eq!(view.body(), expected);
    assert_eq!(view.app.source.lists[1].at, 1);
    view.press("<home>H");
    assert_eq!(view.app.source.lists[1].at, 1);
    view.press("<esc><down>a");
    assert!(view.body()[1].contains("push"), "instructions stay chosen: {:?}", view.body());
}

#[test]
fn help_and_summary_are_texts() {
    let mut view = View::of(profile(SUM));
    view.press("h");
    assert_eq!(view.lines()[2], " As in perf report:");
    view.press("<end>");
    let last = "   TAB, Shift-TAB   next and previous hottest row";
    assert_eq!(view.lines()[22], last);
    view.press("x").press("i");
    assert_eq!(view.lines()[2], " 10 samples, 0 frames.");
    assert_eq!(view.lines()[3], " All 10 stacks are complete.");
    view.press("q");
    assert!(!view.app.is_over);
    view.press("q");
    assert!(view.app.is_over);
}

#[test]
fn any_size_can_be_drawn() {
    let mut view = View::of(profile(SUM));
    for keys in ["1", "2", "3", "1b", "1a", "1h", "1i", "1m", "1/x"] {
        view.press(keys);
        for (columns, rows) in [(1, 1), (5, 2), (20, 3), (30, 4), (80, 24), (200, 50)] {
            view.screen.backend_mut().resize(columns, rows);
            view.draw();
        }
        view.press("<esc><esc>");
    }
}

#[test]
fn a_hundred_thousand_functions_are_listed() {
    let names: Vec<String> = (0..100_000).map(|at| format!("function_{at}")).collect();
    let mut data = profile(&[(42, 1, &["main"])]);
    let [first, ..] = data.samples.as_slice() else { panic!("a sample") };
    let (thread, event, end, layout) = (first.thread, first.event, first.end, first.layout);
    for (at, name) in (1_u64..).zip(&names) {
        let function = data.strings.intern(name.as_bytes());
        let first_inline = data.inlines.push(::profile::InlineRow::with_name(function));
        let location = data.locations.push(::profile::LocationRow {
            first_inline,
            n_inlines: 1,
            ..::profile::LocationRow::unnamed(None, at << 16)
        });
        let found_by = ::profile::FoundBy::Sampled;
        let row = ::profile::FrameRow { location, found_by, kernel: false, instance: 0 };
        let frame = data.frames.push(row);
        let stack = Some(data.stacks.push(::profile::StackRow { parent: None, frame }));
        data.samples.push(::profile::SampleRow::new(thread, event, end, stack, layout));
    }
    let mut view = View::of(data);
    view.press("<end>");
    assert_eq!(view.app.functions.at, 100_000);
    view.press("<up><home><down>");
    assert_eq!(view.app.functions.at, 1);
    assert_eq!(view.app.rows.len(), 100_001);
}
