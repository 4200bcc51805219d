//! Facts of the recording, and the summary.

use formats::{ShortSummary, SummaryStyles, write_short_summary};

use crate::data::{Snapshot, safe};

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
