//! Help, and facts of the recording.

use formats::{ShortSummary, SummaryStyles, write_short_summary};

use crate::data::{Snapshot, safe};

/// Keys, a line each. Those in the first part are as in `perf report`.
pub(crate) const HELP: &[&str] = &[
    "As in perf report:",
    "  h ? F1           this help                    q ESC   back, or exit",
    "  UP DOWN PGUP PGDN SPACE HOME END              Ctrl-C  exit",
    "  ENTER m          menu of the selected function; in trees ENTER opens a node",
    "  a                annotate: source and instructions with their cost",
    "  + -              open or close a node         e       open the hot path below it",
    "  E                open all below it            C c     close all below it",
    "  d                only functions of its module (zoom into DSO)",
    "  k                only functions of the kernel",
    "  t                only one thread              /       only rows with a text",
    "  H                headings on or off           V       full names on or off",
    "  i                summary of the recording     ESC     zoom out: undo a filter",
    "",
    "In addition:",
    "  1 2 3  TAB       functions, call tree, bottom-up tree",
    "  4 b              callers and callees          5       source, as a",
    "  LEFT RIGHT       close and open a node, or go to its caller or callee",
    "  f                focus: only stacks with the selected function",
    "  x                ignore: omit stacks with it",
    "  z                hide it: its cost goes to its callers",
    "  u                charge it and its callees to its callers",
    "  p                only one process             BACKSPACE  undo the last filter",
    "  s                event and weight             o       sort by own or inclusive cost",
    "",
    "In source:",
    "  s                source or instructions       H       hottest row",
    "  TAB, Shift-TAB   next and previous hottest row",
];

/// Columns of the facts.
const WIDTH: usize = 78;

/// Returns facts of the recording and the summary of the run.
pub(crate) fn info_lines(data: &Snapshot) -> Vec<String> {
    let recording = &data.profile.recording;
    let text = |id| safe(data.text(id));
    let mut lines = Vec::new();
    let mut fact = |name: &str, value: String| {
        let value: Vec<char> = value.chars().collect();
        for (row, part) in value.chunks(WIDTH - 10).enumerate() {
            let part: String = part.iter().collect();
            lines.push(format!("{:<9} {part}", if row == 0 { name } else { "" }));
        }
    };
    fact("host", text(recording.hostname));
    fact("kernel", text(recording.os_release));
    fact("processor", text(recording.cpu_desc));
    fact("perf", text(recording.perf_version));
    let words: Vec<String> = recording.command_line.iter().map(|&word| text(Some(word))).collect();
    fact("command", words.join(" "));
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let mut summary = Vec::new();
    let look = ShortSummary {
        styles: SummaryStyles::plain(),
        width: Some(WIDTH),
        packages: &|_| Vec::new(),
    };
    if data.profile.summary.samples > 0
        && write_short_summary(&data.profile, &look, &mut summary).is_ok()
    {
        let summary = String::from_utf8_lossy(&summary).into_owned();
        lines.extend(summary.lines().map(|line| safe(line.as_bytes())));
    } else {
        lines.push("The summary is shown when the recording ended.".to_owned());
    }
    lines
}
