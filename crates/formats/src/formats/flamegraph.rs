//! Flame graph as an SVG with search and zoom, drawn by the inferno library from the folded stacks.

use std::io;

use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};

use crate::facts::{FormatFacts, ShownWeights};
use crate::formats::folded::Folded;
use crate::printer::Printer;
use crate::render::text::push_line_safe;
use profile::query::{WeightUnit, Weights, found_counts};
use profile::{LONGEST_REPEATED, Profile};

/// Prints an SVG.
#[derive(Debug, Clone)]
pub struct Flamegraph {
    /// Options of the drawn stacks.
    pub stacks: Folded,
    /// Whether the outermost functions are at the top.
    pub inverted: bool,
}

/// Suffix for the name of a frame that most of its samples have from other samples.
const MARK: &[u8] = b" [joined]";

/// Legend for frames that the samples themselves do not contain.
const LEGEND: &str = "[joined]: most of these stacks have the frame from other samples; [gap]: frames that no sample shows";

impl Flamegraph {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts {
        weights: ShownWeights::Added,
        ..FormatFacts::text(
            "flamegraph",
            "a flame graph as an SVG picture",
            &[".svg"],
            "image/svg+xml",
        )
    };
}

impl Printer for Flamegraph {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut folded = Vec::new();
        let joined = found_counts(profile).joined > 0;
        self.stacks.print_marked(profile, joined.then_some(MARK), most_of_names, &mut folded)?;
        let folded = String::from_utf8_lossy(&folded).replace(NO_XML, "\u{fffd}");
        let lines: Vec<String> = folded.lines().map(unmistakable).collect();
        let mut options = Options::default();
        // Colours are equal in every run, and a function has the same colour in all graphs.
        options.hash = true;
        options.deterministic = true;
        // The start of a name is more informative than its end.
        options.text_truncate_direction = TextTruncateDirection::Right;
        options.title = title(profile);
        options.count_name = self.unit(profile).to_owned();
        options.subtitle = joined.then(|| LEGEND.to_owned());
        if self.inverted {
            options.direction = Direction::Inverted;
        }
        let mut picture = Vec::new();
        let drawn = from_lines(&mut options, lines.iter().map(String::as_str), &mut picture);
        // Without samples, inferno draws a message and returns an error.
        if let (Err(error), false) = (drawn, profile.samples.is_empty()) {
            return Err(error);
        }
        out.write_all(&picture)
    }
}

impl Flamegraph {
    fn unit(&self, profile: &Profile) -> &'static str {
        match Weights::new(profile, self.stacks.weight).unit() {
            WeightUnit::Samples => "samples",
            WeightUnit::Nanoseconds => "ns",
            WeightUnit::Events => "events",
        }
    }
}

/// Budget for the names of all frames, and minimum for one name, in bytes.
const BYTES_OF_NAMES: usize = 32 << 20;
const SHORTEST: usize = 64;

/// Returns the maximum length of a name, in bytes, in a graph with `frames` frames.
fn most_of_names(frames: usize) -> usize {
    (BYTES_OF_NAMES / frames.max(1)).clamp(SHORTEST, LONGEST_REPEATED)
}

/// Characters that XML does not allow, apart from control characters.
///
/// Source: XML 1.0, 2.2.
const NO_XML: [char; 2] = ['\u{fffe}', '\u{ffff}'];

/// Returns the recorded command line, or a default if it is unknown.
fn title(profile: &Profile) -> String {
    let words: Vec<String> = profile
        .recording
        .command_line
        .iter()
        .map(|&word| {
            let mut text = Vec::new();
            push_line_safe(&mut text, profile.strings.get(word));
            String::from_utf8_lossy(&text).replace(NO_XML, "\u{fffd}")
        })
        .collect();
    if words.is_empty() { "Flame graph".to_owned() } else { words.join(" ") }
}

/// Replaces spaces that inferno would misread by no-break spaces.
/// It would read a number at the end of the innermost name as a second weight, and `# ` as the start of a comment.
fn unmistakable(line: &str) -> String {
    let mut line = line.to_owned();
    if let Some((stack, _)) = line.rsplit_once(' ')
        && let Some((rest, last)) = stack.rsplit_once(' ')
        && last.parse::<f64>().is_ok()
    {
        let at = rest.len();
        line.replace_range(at..=at, "\u{a0}");
    }
    if line.starts_with("# ") {
        line.replace_range(1..2, "\u{a0}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_misread() {
        assert_eq!(unmistakable("a;b 3 12"), "a;b\u{a0}3 12");
        assert_eq!(unmistakable("# x;b c 12"), "#\u{a0}x;b c 12");
        assert_eq!(unmistakable("a 1"), "a 1");
    }
}
