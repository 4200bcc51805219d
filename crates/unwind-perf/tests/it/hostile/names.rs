//! Symbols of four languages with names that expand: each name refers twice to an earlier part of it.

use synth::Symbol;

use super::Input;
use super::program::{TEXT, elf, recording};

/// Number of symbols of a file; each is sampled.
const SYMBOLS: u64 = 10_000;

fn check(name: &str, status: i32, of: impl Fn(u64) -> String) {
    let mut file = elf(Vec::new());
    let symbol = |number: u64| Symbol::function(&of(number), TEXT + number * 16, 16);
    file.symbols = (0..SYMBOLS).map(symbol).collect();
    let addresses = (0..SYMBOLS).map(|number| TEXT + number * 16);
    Input::program(recording(addresses), file.build()).withstand(name).expect_status(status);
}

/// `pair<pair<…>, pair<…>>`, each a reference to the inner one.
#[test]
fn names_of_cxx() {
    check("names-cxx", 1, |number| {
        let mut name = format!("_Z1f{number}N1aI");
        name = name
            .replace(&format!("1f{number}"), &format!("{}f{number}", 1 + number.to_string().len()));
        name.push_str("iiE");
        let mut last = "S_".to_owned();
        for depth in 0..24_u32 {
            name.push_str(&format!("4pairI{last}{last}E"));
            last = format!(
                "S{}_",
                char::from_digit(depth % 36, 36).expect("a digit").to_ascii_uppercase()
            );
        }
        name + "Ev"
    });
}

/// Tuples of references back to the previous tuple.
#[test]
fn names_of_rust() {
    check("names-rust", 0, |number| {
        let digits = |mut value: usize| {
            const DIGITS: &[u8; 62] =
                b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
            if value == 0 {
                return "_".to_owned();
            }
            value -= 1;
            let mut text = Vec::new();
            loop {
                text.push(DIGITS[value % 62]);
                value /= 62;
                if value == 0 {
                    break;
                }
            }
            text.reverse();
            String::from_utf8(text).expect("text") + "_"
        };
        let mut name = format!("_RINvC1a{}f{number}", 1 + number.to_string().len());
        let mut last = name.len() - 2;
        name.push_str("TlllE");
        for _ in 0..20 {
            let here = name.len() - 2;
            let back = format!("B{}", digits(last));
            name.push_str(&format!("T{back}{back}{back}E"));
            last = here;
        }
        name + "E"
    });
}

/// Template arguments that refer back to the previous ones.
#[test]
fn names_of_d() {
    check("names-d", 0, |number| {
        let mut name = format!("_D{}a{number}__T1b", 1 + number.to_string().len());
        let mut last = name.len() + 1;
        name.push_str("TS1cAi");
        for _ in 0..20 {
            let here = name.len() + 1;
            name.push_str("TH");
            for _ in 0..2 {
                let mut distance = name.len() - last;
                let mut digits = vec![char::from(b'a' + (distance % 26) as u8)];
                distance /= 26;
                while distance > 0 {
                    digits.push(char::from(b'A' + (distance % 26) as u8));
                    distance /= 26;
                }
                name.push('Q');
                name.extend(digits.iter().rev());
            }
            last = here;
        }
        name + "ZQbFZv"
    });
}

/// Escapes of OCaml and Haskell, parts of Ada: long names in which each byte is examined.
#[test]
fn names_of_others() {
    check("names-others", 0, |number| match number % 3 {
        0 => format!("camlA{number}__{}_1", "$3e$".repeat(60)),
        1 => format!("base_{}_{number}_info", "zzZZz1f600U".repeat(20)),
        _ => format!("a{number}{}", "__b__2Xnb".repeat(25)),
    });
}
