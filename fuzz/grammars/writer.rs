//! A name written production by production. Each choice is a byte of the input; where the input ends, or the name is too
//! deep or too long, every choice is the first production, which ends.

use super::input::Input;

/// Productions inside each other.
const DEEPEST: usize = 200;
/// No production but an ending one begins after so many bytes.
const LONGEST: usize = 1 << 15;
/// Items of a list, and repetitions of a text.
const MOST_ITEMS: u64 = 12;
const MOST_TIMES: u64 = 3000;

/// A name so far.
pub struct Writer<'i> {
    /// Its bytes.
    pub out: Vec<u8>,
    input: Input<'i>,
    depth: usize,
    /// The beginnings of productions that can be referred back to.
    places: Vec<usize>,
}

impl<'i> Writer<'i> {
    pub fn new(input: Input<'i>) -> Self {
        Self { out: Vec::new(), input, depth: 0, places: Vec::new() }
    }

    /// A number below `of`; 0 if the name is to end.
    pub fn choice(&mut self, of: u64) -> u64 {
        let must_end = self.depth >= DEEPEST || self.out.len() >= LONGEST;
        if must_end { 0 } else { self.input.number(1) % of }
    }

    /// A production inside this one, which begins at a place that can be referred back to.
    pub fn inside(&mut self, production: fn(&mut Self)) {
        self.places.push(self.out.len());
        self.depth += 1;
        production(self);
        self.depth -= 1;
    }

    pub fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// One of these texts.
    pub fn one_of(&mut self, texts: &[&str]) {
        let number = self.choice(texts.len() as u64) as usize;
        self.text(texts[number]);
    }

    /// A text again and again.
    pub fn times(&mut self, text: &str) {
        let times = self.long_number() % MOST_TIMES;
        let room = LONGEST.saturating_sub(self.out.len()) / text.len().max(1);
        let repeated = text.repeat(times.min(room as u64) as usize);
        self.text(&repeated);
    }

    /// Some items: different ones, or the first one again and again.
    pub fn list(&mut self, item: fn(&mut Self)) {
        let items = self.choice(MOST_ITEMS);
        if items == MOST_ITEMS - 1 {
            let start = self.out.len();
            self.inside(item);
            let first = String::from_utf8_lossy(&self.out[start..]).into_owned();
            self.times(&first);
            return;
        }
        for _ in 0..items {
            self.inside(item);
        }
    }

    /// Two bytes of the input.
    pub fn long_number(&mut self) -> u64 {
        if self.out.len() >= LONGEST { 0 } else { self.input.number(2) }
    }

    /// A number as compilers like to write them: small, or of any size.
    pub fn number(&mut self) -> u64 {
        match self.choice(4) {
            0 => 0,
            1 | 2 => self.choice(40),
            _ => self.input.number(8),
        }
    }

    /// A place that a back reference can mean: mostly the beginning of a production.
    pub fn place(&mut self) -> usize {
        match (self.choice(8), self.places.len()) {
            (7, _) | (_, 0) => self.long_number() as usize,
            (_, places) => {
                let number = self.long_number() as usize % places;
                self.places[number]
            }
        }
    }

    /// An identifier with its length before it, which sometimes lies.
    pub fn identifier(&mut self) {
        let words = ["a", "foo", "operator", "_GLOBAL__N_1", "h0123456789abcdef", "$LT$u20$", "é"];
        let number = self.choice(words.len() as u64 + 1) as usize;
        let word = match words.get(number) {
            Some(word) => (*word).to_owned(),
            None => "x".repeat((self.long_number() % MOST_TIMES) as usize),
        };
        let len = match self.choice(16) {
            15 => self.number(),
            _ => word.len() as u64,
        };
        self.text(&len.to_string());
        self.text(&word);
    }

    /// A number in any base up to 36, or 62 as Rust writes it.
    pub fn digits(&mut self, mut number: u64, base: u64) {
        const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let start = self.out.len();
        loop {
            self.out.push(DIGITS[(number % base) as usize]);
            number /= base;
            if number == 0 {
                break;
            }
        }
        self.out[start..].reverse();
    }
}
