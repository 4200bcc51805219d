//! A name written production by production. Each choice is a byte of the input. At the end of the input, or if the name
//! is too deep or too long, every choice is the first production, which ends.

use super::input::Input;

/// Maximum depth of nested productions.
const DEEPEST: usize = 200;
/// Size in bytes from which only ending productions start.
const LONGEST: usize = 1 << 15;
/// Maximum number of items of a list, and of repetitions of a text.
const MOST_ITEMS: u64 = 12;
const MOST_TIMES: u64 = 3000;

/// A name under construction.
pub struct Writer<'i> {
    /// Bytes of the name.
    pub out: Vec<u8>,
    input: Input<'i>,
    depth: usize,
    /// Starts of productions, for back references.
    places: Vec<usize>,
}

impl<'i> Writer<'i> {
    pub fn new(input: Input<'i>) -> Self {
        Self { out: Vec::new(), input, depth: 0, places: Vec::new() }
    }

    /// Returns a number below `of`; 0 if the name must end.
    pub fn choice(&mut self, of: u64) -> u64 {
        let must_end = self.depth >= DEEPEST || self.out.len() >= LONGEST;
        if must_end { 0 } else { self.input.number(1) % of }
    }

    /// Writes a nested production and records its start for back references.
    pub fn inside(&mut self, production: fn(&mut Self)) {
        self.places.push(self.out.len());
        self.depth += 1;
        production(self);
        self.depth -= 1;
    }

    pub fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes one of these texts.
    pub fn one_of(&mut self, texts: &[&str]) {
        let number = self.choice(texts.len() as u64) as usize;
        self.text(texts[number]);
    }

    /// Writes a text repeatedly.
    pub fn times(&mut self, text: &str) {
        let times = self.long_number() % MOST_TIMES;
        let room = LONGEST.saturating_sub(self.out.len()) / text.len().max(1);
        let repeated = text.repeat(times.min(room as u64) as usize);
        self.text(&repeated);
    }

    /// Writes some items: different ones, or the first one repeatedly.
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

    /// Returns a number from two bytes of the input.
    pub fn long_number(&mut self) -> u64 {
        if self.out.len() >= LONGEST { 0 } else { self.input.number(2) }
    }

    /// Returns a number: mostly small as in compiler output, or of any size.
    pub fn number(&mut self) -> u64 {
        match self.choice(4) {
            0 => 0,
            1 | 2 => self.choice(40),
            _ => self.input.number(8),
        }
    }

    /// Returns the target of a back reference: mostly the start of a production.
    pub fn place(&mut self) -> usize {
        match (self.choice(8), self.places.len()) {
            (7, _) | (_, 0) => self.long_number() as usize,
            (_, places) => {
                let number = self.long_number() as usize % places;
                self.places[number]
            }
        }
    }

    /// Writes an identifier after its length, which is sometimes wrong.
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

    /// Writes a number in any base up to 36, or in Rust's base 62.
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
