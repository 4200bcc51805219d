//! Comparison of one chain of ours with gdb's, from the same registers and the same stack.

use std::collections::BTreeMap;

use super::theirs;
use crate::truth::stepped::{Chain, Frame, Kind};

/// Size of the longest instruction, in bytes.
const LONGEST: u64 = 15;

/// Counts over the stops of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Stops with a chain of gdb.
    pub(super) stops: u64,
    /// Frames at addresses that both state.
    pub(super) both: u64,
    /// Frames left by jumps that both state.
    pub(super) tails_both: u64,
    /// Frames left by jumps that only ours states.
    pub(super) tails_ours: u64,
    /// Frames left by jumps that only gdb states, with a mark of ours in their position.
    pub(super) tails_marked: u64,
    /// Frames left by jumps that only gdb states.
    pub(super) tails_gdb: u64,
    /// Stops with a differing frame.
    pub(super) differ: u64,
    /// Stops at which our chain ends before gdb's.
    pub(super) ours_early: u64,
    /// Stops at which gdb's chain ends before ours.
    pub(super) gdb_early: u64,
    /// Pairs of neighbours with a unique path of jumps between them.
    pub(super) unique: u64,
    /// Pairs with a mark and known frames next to it.
    pub(super) several: u64,
    /// Pairs with only a mark.
    pub(super) unknown: u64,
    /// Frames that only one states, by kind and location.
    pub(super) alone: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds a stop.
    pub(super) fn add(&mut self, ours: &Chain, gdb: &theirs::Chain) {
        if gdb.frames.is_empty() {
            return;
        }
        self.stops += 1;
        let (plain, between) = split(&ours.frames, |frame| frame.kind == Kind::Plain);
        let (their_plain, their_between) = split(&gdb.frames, |frame| !frame.tail);
        for tails in &between {
            self.pair(tails);
        }
        let mut differs = None;
        let depth = plain.len().min(their_plain.len());
        for at in 0..depth {
            let (one, other) = (plain[at], their_plain[at]);
            // Return addresses are looked up one byte before.
            if other.pc.wrapping_sub(one.addr) > u64::from(at > 0) {
                differs = Some(format!(
                    "frame {at}: {} ({:#x}) and {} ({:#x})",
                    one.name, one.addr, other.name, other.pc
                ));
                break;
            }
            self.both += 1;
            if let (Some(mine), Some(theirs)) = (between.get(at), their_between.get(at))
                && at + 1 < depth
            {
                let place = format!("{} <- {}", one.name, plain[at + 1].name);
                if !self.tails(mine, theirs, &place) {
                    differs = Some(format!("jumps of {place}"));
                    break;
                }
            }
        }
        if let Some(how) = differs {
            self.differ += 1;
            self.note("differs", &how);
        } else if plain.len() < their_plain.len() {
            self.ours_early += 1;
            let inner = plain.last().map_or("", |frame| &frame.name);
            self.note(
                "ours ends early",
                &format!("{} at {inner}; gdb: {}", ours.end, their_plain[depth].name),
            );
        } else if plain.len() > their_plain.len() {
            self.gdb_early += 1;
            let inner = their_plain.last().map_or("", |frame| &frame.name);
            self.note(
                "gdb ends early",
                &format!("{} at {inner}; ours: {}", gdb.end, plain[depth].name),
            );
        }
    }

    fn note(&mut self, kind: &str, place: &str) {
        *self.alone.entry(format!("{kind}: {place}")).or_default() += 1;
    }

    fn pair(&mut self, tails: &[&Frame]) {
        let marks = tails.iter().filter(|frame| frame.kind != Kind::Tail).count();
        match (marks, tails.len()) {
            (_, 0) => {}
            (0, _) => self.unique += 1,
            (all, total) if all == total => self.unknown += 1,
            _ => self.several += 1,
        }
    }

    /// Compares the frames that were left by jumps between two others; returns false if they differ.
    fn tails(&mut self, ours: &[&Frame], gdb: &[&theirs::Frame], place: &str) -> bool {
        let marked = ours.iter().any(|frame| frame.kind != Kind::Tail);
        let known: Vec<_> = ours.iter().filter(|frame| frame.kind == Kind::Tail).collect();
        let common = common(&known, gdb);
        let (mine, theirs) = (known.len() as u64 - common, gdb.len() as u64 - common);
        if mine > 0 && theirs > 0 && !marked {
            return false;
        }
        self.tails_both += common;
        self.tails_ours += mine;
        *(if marked { &mut self.tails_marked } else { &mut self.tails_gdb }) += theirs;
        for (count, kind) in [
            (mine, "jumps of ours alone"),
            (theirs, if marked { "jumps of gdb, a mark of ours" } else { "jumps of gdb alone" }),
            (u64::from(marked && theirs == 0), "a mark of ours alone"),
        ] {
            if count > 0 {
                self.note(kind, place);
            }
        }
        true
    }
}

/// Splits at frames that were not left by jumps: returns these frames, and the frames between each and the next.
fn split<T>(frames: &[T], is_plain: impl Fn(&T) -> bool) -> (Vec<&T>, Vec<Vec<&T>>) {
    let (mut plain, mut between) = (Vec::new(), Vec::<Vec<&T>>::new());
    for frame in frames {
        if is_plain(frame) {
            plain.push(frame);
            between.push(Vec::new());
        } else if let Some(last) = between.last_mut() {
            last.push(frame);
        }
    }
    (plain, between)
}

/// Returns the length of the longest common subsequence: gdb has the address after a jump, ours that of the jump.
fn common(ours: &[&&Frame], gdb: &[&theirs::Frame]) -> u64 {
    let mut row = vec![0_u64; gdb.len() + 1];
    for one in ours {
        let mut diagonal = 0;
        for (at, other) in gdb.iter().enumerate() {
            let above = row[at + 1];
            // If several jumps of a function reach the target, ours has only the function.
            let is_same = (1..=LONGEST).contains(&other.pc.wrapping_sub(one.addr))
                || one.name.split_once(':').is_some_and(|(_, name)| name == other.name);
            row[at + 1] = if is_same { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[gdb.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` is a frame at an address, `A` one left by a jump, `*` a mark.
    fn ours(letters: &str) -> Chain {
        let frame = |letter: char| Frame {
            addr: u64::from(u32::from(letter.to_ascii_lowercase())) * 16,
            kind: match letter {
                '*' => Kind::Tails,
                'A'..='Z' => Kind::Tail,
                _ => Kind::Plain,
            },
            name: letter.to_string(),
        };
        Chain { end: "root".to_owned(), frames: letters.chars().map(frame).collect() }
    }

    fn gdb(letters: &str) -> theirs::Chain {
        let frame = |(at, frame): (usize, Frame)| theirs::Frame {
            pc: frame.addr
                + match frame.kind {
                    Kind::Plain => u64::from(at > 0),
                    _ => 5,
                },
            tail: frame.kind != Kind::Plain,
            name: frame.name,
        };
        let frames = ours(letters).frames.into_iter().enumerate().map(frame).collect();
        theirs::Chain { frames, end: "no reason".to_owned() }
    }

    fn tally(one: &str, other: &str) -> [u64; 8] {
        let mut tally = Tally::default();
        tally.add(&ours(one), &gdb(other));
        [
            tally.both,
            tally.tails_both,
            tally.tails_ours,
            tally.tails_marked,
            tally.tails_gdb,
            tally.differ,
            tally.ours_early,
            tally.gdb_early,
        ]
    }

    #[test]
    fn frames_of_both_and_of_one() {
        assert_eq!(tally("abc", "abc"), [3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(tally("aXYbc", "aXYbc"), [3, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(tally("aXYbc", "aYbc"), [3, 1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(tally("abc", "aYbc"), [3, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(tally("aX*bc", "aXYbc"), [3, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(tally("aXbc", "aYbc"), [1, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(tally("abd", "abc"), [2, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(tally("ab", "abc"), [2, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(tally("abc", "ab"), [2, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn pairs_by_their_marks() {
        let mut tally = Tally::default();
        for chain in ["aXbc", "aX*Yb*c", "a*bXYc"] {
            tally.add(&ours(chain), &gdb("abc"));
        }
        assert_eq!((tally.unique, tally.several, tally.unknown), (2, 1, 2));
    }
}
