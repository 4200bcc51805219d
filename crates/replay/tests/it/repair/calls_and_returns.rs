//! Random programs that call and return on one stack:
//! completed chains of truncated dumps are compared with the whole stacks.

use crate::repair::stage::{How, PID, Recording, Written, address, saved};
use replay::Join;

const SEEDS: u64 = 300;
const SAMPLES: usize = 200;
const DEEPEST: usize = 24;

/// Random numbers.
///
/// Source: Marsaglia, "Xorshift RNGs", 2003.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % end
    }

    fn letter(&mut self) -> char {
        (b'A' + self.below(17) as u8) as char
    }
}

/// An active function.
struct Activation {
    letter: char,
    /// True at the second of its calls.
    second: bool,
    /// The value that it saved.
    saved: u64,
}

impl Activation {
    fn address(&self) -> u64 {
        address(if self.second { self.letter.to_ascii_lowercase() } else { self.letter })
    }
}

/// A running program.
struct Machine {
    random: Random,
    /// Targets of the two calls of each function: one function, or one of two.
    callees: Vec<[char; 2]>,
    stack: Vec<Activation>,
    rbx: u64,
    values: u64,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let callees = (0..36).map(|_| {
            let (one, other) = (random.letter(), random.letter());
            [one, if random.below(4) == 0 { other } else { one }]
        });
        let callees = callees.collect();
        let root = Activation { letter: 'R', second: false, saved: 0 };
        let mut new = Self { random, callees, stack: vec![root], rbx: 0, values: 0 };
        new.enter('A');
        new
    }

    fn enter(&mut self, letter: char) {
        self.stack.push(Activation { letter, second: false, saved: self.rbx });
        if self.random.below(2) == 0 {
            self.values += 1;
            self.rbx = saved(self.values);
        }
    }

    /// Performs a call or a return.
    fn step(&mut self) {
        let depth = self.stack.len();
        let second = self.random.below(2) == 1;
        if depth < DEEPEST && (depth == 2 || self.random.below(2) == 0) {
            let Some(caller) = self.stack.last_mut() else { return };
            caller.second = second;
            let site = 2 * (caller.letter as usize - 'A' as usize) + usize::from(second);
            let callee = self.callees[site][self.random.below(2) as usize];
            self.enter(callee);
        } else if depth > 2
            && let Some(returned) = self.stack.pop()
        {
            self.rbx = returned.saved;
        }
    }

    /// Returns addresses and saved values, innermost first.
    fn frames(&self) -> Vec<(u64, u64)> {
        self.stack.iter().rev().map(|it| (it.address(), it.saved)).collect()
    }
}

/// Returns a recording, and a copy with dumps of at most `shown` frames.
fn recordings(seed: u64, shown: usize) -> [Recording; 2] {
    let mut machine = Machine::new(seed);
    let [mut whole, mut cut] = [Recording::new(), Recording::new()];
    for _ in 0..SAMPLES {
        (0..machine.random.below(24)).for_each(|_| machine.step());
        let frames = machine.frames();
        whole.written((PID, PID), &Written::of(&frames, None), &[]);
        let shown = Some(shown).filter(|shown| *shown < frames.len());
        cut.written((PID, PID), &Written::of(&frames, shown), &[]);
    }
    [whole, cut]
}

/// Results for the truncated samples of all recordings.
#[derive(Debug, Default)]
struct Counts {
    cut: usize,
    /// Joined to the root without a gap, and those with the frames of the truth.
    joined: usize,
    exact: usize,
    /// Joined in part, and those with frames of the truth.
    in_part: usize,
    inner: usize,
    across_a_gap: usize,
    /// Those with all frames in the truth, in its order.
    in_order: usize,
    /// Those with frames that are not in the truth, and the others in its order.
    alien: usize,
}

impl Counts {
    fn add(&mut self, truth: &str, cut: &str, found: &str) {
        let words = |chain: &str| -> Vec<String> {
            let (frames, _) = chain.rsplit_once(' ').expect("an end");
            frames.split(' ').map(|word| word.trim_matches(['@', '+']).to_owned()).collect()
        };
        let (all, own, frames) = (words(truth), words(cut), words(found));
        assert_eq!(frames[..own.len()], own, "its own frames");
        assert_eq!(all[..own.len()], own, "frames of the stack");
        self.cut += 1;
        if frames.iter().any(|frame| frame == "~") {
            self.across_a_gap += 1;
            let mut seen = frames.clone();
            seen.retain(|frame| all.contains(frame));
            let mut outer = all.iter();
            let in_order = seen.iter().all(|frame| outer.any(|at| at == frame));
            let has_all = seen.len() + 1 == frames.len();
            self.in_order += usize::from(in_order && has_all);
            self.alien += usize::from(in_order && !has_all);
        } else if found.ends_with(" root") {
            self.joined += 1;
            self.exact += usize::from(frames == all);
        } else if frames.len() > own.len() {
            self.in_part += 1;
            self.inner += usize::from(all.starts_with(&frames));
        }
    }
}

#[test]
fn repaired_chains_are_those_of_the_stack() {
    let mut counts = Counts::default();
    for seed in 0..SEEDS {
        let [whole, cut] = recordings(seed, 4 + seed as usize % 5);
        let off = How { join: Join::Off, ..How::default() };
        let (truth, own, found) = (whole.chains(off), cut.chains(off), cut.chains(How::default()));
        for ((truth, own), found) in truth.iter().zip(&own).zip(&found) {
            assert!(truth.ends_with(" root"), "{truth}");
            if own.ends_with(" root") {
                assert_eq!(own, found);
            } else {
                counts.add(truth, own, found);
            }
        }
    }
    // There must be many, so that the other checks are meaningful.
    assert!(counts.joined > counts.cut / 10, "{counts:?}");
    assert!(counts.exact == counts.joined, "{counts:?}");
    assert!(counts.inner == counts.in_part, "{counts:?}");
    assert!(counts.in_order * 100 >= counts.across_a_gap * 99, "{counts:?}");
    assert!((counts.in_order + counts.alien) * 1000 >= counts.across_a_gap * 999, "{counts:?}");
}
