//! A flame graph as a picture that can be searched and zoomed in a browser, drawn by the inferno library out of the
//! folded stacks.

use std::io;

use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};

use crate::facts::{FormatFacts, ShownWeights};
use crate::formats::folded::Folded;
use crate::printer::Printer;
use crate::render::text::push_line_safe;
use profile::query::{WeightUnit, Weights, found_counts};
use profile::{LONGEST_REPEATED, Profile};

/// Draws an SVG picture.
#[derive(Debug, Clone, Copy)]
pub struct Flamegraph {
    /// The stacks that are drawn.
    pub stacks: Folded,
    /// Whether the outermost functions are at the top.
    pub inverted: bool,
}

/// What stands behind the name of a frame that most of its samples have from other samples.
const MARK: &[u8] = b" [joined]";

/// What the picture says of frames that the samples themselves do not show.
const LEGEND: &str = "[joined]: most of these stacks have the frame from other samples; [gap]: frames that no sample shows";

impl Flamegraph {
    /// The name of the format, its files and its weights.
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
        // The same colours in every run, and for a function in every picture.
        options.hash = true;
        options.deterministic = true;
        // The beginning of a name tells more than its end.
        options.text_truncate_direction = TextTruncateDirection::Right;
        options.title = title(profile);
        options.count_name = self.unit(profile).to_owned();
        options.subtitle = joined.then(|| LEGEND.to_owned());
        if self.inverted {
            options.direction = Direction::Inverted;
        }
        let mut picture = Vec::new();
        let drawn = from_lines(&mut options, lines.iter().map(String::as_str), &mut picture);
        // Without samples there is a picture that says so, and an error.
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

/// Bytes of the names of all frames, and of one name at least.
const BYTES_OF_NAMES: usize = 32 << 20;
const SHORTEST: usize = 64;

/// Bytes of a name in a picture with so many frames.
fn most_of_names(frames: usize) -> usize {
    (BYTES_OF_NAMES / frames.max(1)).clamp(SHORTEST, LONGEST_REPEATED)
}

/// Characters that XML has not, beside control characters.
///
/// Source: XML 1.0, 2.2.
const NO_XML: [char; 2] = ['\u{fffe}', '\u{ffff}'];

/// What was recorded, in so far as it is known.
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

/// The line without what the library would misread: a number at the end of the innermost name (a second weight), and a
/// name that begins a comment. Their spaces become ones that do not part words.
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
