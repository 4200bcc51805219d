//! The patterns, their counts and their limits.

use std::fmt;

/// A pattern that makes a sentence need two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A clause in the place of a noun mostly begins with it.
    What,
    /// It mostly stands for "if".
    Where,
    /// One of [`PHRASES`].
    Phrase,
    /// A sentence of more than [`MAX_WORDS`] words.
    Long,
}

const PATTERNS: [Pattern; 4] = [Pattern::What, Pattern::Where, Pattern::Phrase, Pattern::Long];

/// Phrases that a noun or a shorter sentence replaces.
const PHRASES: [&[&str]; 9] = [
    &["so", "many"],
    &["as", "far", "as"],
    &["of", "which"],
    &["by", "which"],
    &["in", "which"],
    &["for", "which"],
    &["with", "which"],
    &["anew"],
    &["whoever"],
];

/// Words of the longest sentence that is read once.
const MAX_WORDS: usize = 30;

/// Hits of "what", of "where" and of phrases in 1,000 words; a short file may have one of each.
const MAX_PER_THOUSAND: usize = 3;

/// Long sentences in a hundred.
const MAX_LONG_PERCENT: usize = 5;

/// Words, sentences and hits of a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    words: usize,
    sentences: usize,
    hits: [usize; PATTERNS.len()],
}

impl Counts {
    pub(super) const fn of(&self, pattern: Pattern) -> usize {
        self.hits[pattern as usize]
    }

    /// Hits of all patterns.
    pub(super) fn hits(&self) -> usize {
        self.hits.iter().sum()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.sentences += other.sentences;
        self.hits.iter_mut().zip(other.hits).for_each(|(sum, hits)| *sum += hits);
    }

    /// Counts a paragraph of plain text.
    pub(super) fn take_in(&mut self, text: &str) {
        let text = text.to_lowercase();
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '\'' || c == '-';
        let words: Vec<&str> = text
            .split(|c: char| !is_letter(c))
            .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
            .collect();
        self.words += words.len();
        let times = |word: &str| words.iter().filter(|&&it| it == word).count();
        self.hits[Pattern::What as usize] += times("what");
        self.hits[Pattern::Where as usize] += times("where");
        let phrases = PHRASES
            .iter()
            .map(|phrase| words.windows(phrase.len()).filter(|window| window == phrase).count());
        self.hits[Pattern::Phrase as usize] += phrases.sum::<usize>();
        for sentence in sentences(&text) {
            let length = sentence.split_whitespace().count();
            self.sentences += usize::from(length > 2);
            self.hits[Pattern::Long as usize] += usize::from(length > MAX_WORDS);
        }
    }

    /// The limit of a pattern for a text of this length.
    fn limit(&self, pattern: Pattern) -> usize {
        let limit = match pattern {
            Pattern::Long => self.sentences * MAX_LONG_PERCENT / 100,
            Pattern::What | Pattern::Where | Pattern::Phrase => {
                self.words * MAX_PER_THOUSAND / 1000
            }
        };
        limit.max(1)
    }

    /// The patterns that exceed their limits, a sentence each.
    pub(super) fn over_limits(&self) -> Vec<String> {
        let over = PATTERNS.into_iter().filter(|&it| self.of(it) > self.limit(it));
        over.map(|it| {
            let (hits, limit) = (self.of(it), self.limit(it));
            format!("{hits} times {it}, at most {limit}; see `cargo xtask prose -v`")
        })
        .collect()
    }
}

/// The sentences of a paragraph: it is split after each mark that white space follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let marks = rest.char_indices().zip(rest.chars().skip(1));
        let end = marks
            .filter(|&((_, mark), next)| ".!?;:".contains(mark) && next.is_whitespace())
            .map(|((at, _), _)| at + 1)
            .next();
        let (sentence, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::What => f.write_str("\"what\""),
            Self::Where => f.write_str("\"where\""),
            Self::Phrase => f.write_str("a phrase such as \"so many\" or \"of which\""),
            Self::Long => write!(f, "a sentence of more than {MAX_WORDS} words"),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, place, phrases, long] = self.hits;
        let per_thousand = |hits: usize| 1000.0 * hits as f64 / self.words.max(1) as f64;
        write!(
            f,
            "{} words; what {what} ({:.1} per 1,000), where {place} ({:.1}), phrases {phrases} ({:.1}); \
             long sentences {long} of {}",
            self.words,
            per_thousand(what),
            per_thousand(place),
            per_thousand(phrases),
            self.sentences,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_sentences_are_counted() {
        let mut counts = Counts::default();
        counts.take_in("What is a CFA? An address, e.g. 0x10; of which somewhat is known.");
        assert_eq!((counts.words, counts.sentences), (14, 3));
        assert_eq!(counts.hits, [1, 0, 1, 0]);
        counts.take_in(&"word ".repeat(MAX_WORDS + 1));
        assert_eq!(counts.of(Pattern::Long), 1);
    }

    #[test]
    fn a_short_text_may_have_one_of_each() {
        let counts = |text: &str| {
            let mut counts = Counts::default();
            counts.take_in(text);
            counts.over_limits()
        };
        assert_eq!(counts("what is where"), Vec::<String>::new());
        assert_eq!(
            counts("what is what"),
            ["2 times \"what\", at most 1; see `cargo xtask prose -v`"]
        );
    }
}
