//! Keys that filter, updates, and hostile names.

use super::View;
use super::profile::profile;
use crate::app::Screen;
use crate::data::Snapshot;

fn sum() -> View {
    View::of(profile(&[
        (42, 6, &["main", "run<int>(int)", "leaf"]),
        (43, 3, &["start_thread", "work", "leaf"]),
        (43, 1, &["start_thread", "work", "read", "kernel_read"]),
    ]))
}

/// The names of the shown functions, whose modules follow.
fn names(view: &View) -> Vec<String> {
    let name = |line: &String| line.split_whitespace().rev().nth(1).map(str::to_owned);
    view.body().iter().skip(1).filter_map(name).collect()
}

#[test]
fn filters_are_added_and_undone() {
    let mut view = sum();
    view.press("<down><down>f");
    assert_eq!(view.chips(), " Filters focus run");
    assert_eq!(names(&view), ["leaf", "run", "main"]);
    assert!(view.state().starts_with(" 6 samples of"), "{}", view.state());
    view.press("u");
    assert_eq!(view.chips(), " Filters focus run | charge run");
    assert_eq!(names(&view), ["main"]);
    view.press("<back><back>x");
    assert_eq!(view.chips(), " Filters ignore run");
    assert_eq!(names(&view), ["leaf", "kernel_read", "work", "start_thread", "read"]);
    view.press("<esc><down>z");
    assert_eq!(view.app.filters.steps.len(), 1);
    view.press("<back><back>");
    assert!(view.state().contains("there is no filter to undo"), "{}", view.state());
}

#[test]
fn two_focused_functions_must_both_be_there() {
    let mut view = sum();
    view.press("/work<enter>f/leaf<enter>f");
    assert_eq!(view.chips(), " Filters focus work | /leaf | focus leaf");
    assert!(view.state().starts_with(" 3 samples of"), "{}", view.state());
}

#[test]
fn modules_threads_processes_and_the_kernel_are_zoomed_into() {
    let mut view = sum();
    view.press("d");
    assert_eq!(view.chips(), " Filters module sum");
    assert_eq!(names(&view), ["leaf", "read", "run", "main", "work", "start_thread"]);
    view.press("k");
    assert_eq!(view.chips(), " Filters module [kernel.kallsyms]");
    view.press("<back>t");
    let menu = view.app.menu.as_ref().expect("a menu");
    let labels: Vec<&str> = menu.items.iter().map(|item| item.label.as_str()).collect();
    assert_eq!(labels, [" 60.0 % sum 42", " 40.0 % worker 43"]);
    view.press("<down><enter>");
    assert_eq!(view.chips(), " Filters thread worker 43");
    assert!(view.state().starts_with(" 4 samples of"), "{}", view.state());
    view.press("p<enter>");
    assert_eq!(view.chips(), " Filters thread worker 43 | process sum 42");
}

#[test]
fn rows_are_filtered_by_text() {
    let mut view = sum();
    view.press("/");
    assert_eq!(view.state(), "/");
    view.press("WORx<back><back>o");
    assert_eq!(view.state(), "/WOo");
    view.press("<esc>/wor<enter>");
    assert_eq!(view.chips(), " Filters /wor");
    assert_eq!(names(&view), ["work"]);
    view.press("2");
    let body = view.body();
    assert_eq!(body.len(), 3, "{body:?}");
    assert!(body[1].contains("- start_thread") && body[2].contains("└+ work"), "{body:?}");
    view.press("1/<enter>");
    assert_eq!(names(&view).len(), 7);
}

#[test]
fn the_menu_names_what_can_be_done() {
    let mut view = sum();
    view.press("<enter>");
    let lines = view.lines();
    assert!(lines.iter().any(|line| line.contains("│ a  Annotate leaf")), "{lines:#?}");
    view.press("<down><enter>");
    assert_eq!(view.app.screen, Screen::Callers);
    view.press("<esc><enter>f");
    assert_eq!((view.chips(), view.app.menu.is_none()), (" Filters focus leaf".to_owned(), true));
    view.press("<back><esc>");
    assert!(view.state().contains("press ESC again to exit"), "{}", view.state());
    view.press("<down><esc>");
    assert!(!view.app.is_over);
    view.press("<esc>");
    assert!(view.app.is_over);
}

#[test]
fn selection_and_open_nodes_survive_new_data() {
    let mut view = sum();
    view.press("<down><down>");
    let before = names(&view)[view.app.functions.at].clone();
    view.press("2<end>+");
    let opened = view.body();
    let more = profile(&[
        (42, 6, &["main", "run<int>(int)", "leaf"]),
        (43, 3, &["start_thread", "work", "leaf"]),
        (43, 20, &["start_thread", "work", "fresh"]),
    ]);
    let hasher = view.app.hasher.clone();
    view.app.set_data(Snapshot::new(more, true, &hasher));
    view.draw();
    let after = view.body();
    assert!(opened[4].contains("- start_thread"), "{opened:?}");
    assert!(after[1].contains("- start_thread") && after[2].contains("+ work"), "{after:?}");
    assert_eq!(view.app.trees[0].list.at, 0, "the selected node moved up");
    view.press("1");
    assert_eq!(names(&view)[view.app.functions.at], before);
    assert!(view.state().starts_with(" 29 samples of"), "{}", view.state());
}

#[test]
fn names_cannot_control_the_terminal() {
    let evil = "a\x1b]0;x\x07\n\u{9b}31m\u{202e}b";
    let mut view = View::of(profile(&[(42, 1, &["main", evil])]));
    for keys in ["1", "2", "3", "1b", "1a", "1m", "<esc>f", "t"] {
        view.press(keys);
        let text = view.lines().concat();
        let is_safe = |char: char| !char.is_control() && !formats::is_misleading(char);
        assert!(text.chars().all(is_safe), "{text:?}");
    }
    view.press("<esc>1");
    assert!(view.body()[1].contains("a\\x1b]0;x\\x07\\n"), "{:?}", view.body());
    assert!(view.chips().contains("focus a\\x1b]0;x"), "{}", view.chips());
}

#[test]
fn control_c_ends_everywhere() {
    for keys in ["", "h", "/", "m", "2", "a"] {
        let mut view = sum();
        view.press(keys).press("<ctrl-c>");
        assert!(view.app.is_over, "{keys}");
    }
}
