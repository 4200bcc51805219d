//! Seeds of the targets that write their input by a grammar: pseudo-random choices, the same ones each time.

use crate::write;

/// Number of seeds of each target, and their size in bytes.
const SEEDS: u8 = 6;
const LEN: usize = 220;

/// Returns pseudo-random bytes.
fn choices(seed: u8) -> impl Iterator<Item = u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (u64::from(seed) << 32);
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    })
}

pub fn write_all() {
    for seed in 0..SEEDS {
        for target in ["go_table", "manifest", "relocations", "texts"] {
            let bytes: Vec<u8> = choices(seed).take(LEN).collect();
            write(target, &format!("{seed}"), &bytes);
        }
    }
    const LANGUAGES: [&str; 8] =
        ["cxx", "cxx-deep", "cxx-long", "rust", "rust-deep", "rust-legacy", "d", "plain"];
    for (number, language) in (0..).zip(LANGUAGES) {
        let bytes: Vec<u8> = std::iter::once(number).chain(choices(number).take(LEN)).collect();
        write("names", language, &bytes);
    }
}
