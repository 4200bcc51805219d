//! Productions of the names of D, Ada, Fortran, Haskell and OCaml.
//!
//! Source: the D language's specification, "Name Mangling"; the others as `crates/demangle/src` states.

use super::writer::Writer;

pub fn d(w: &mut Writer<'_>) {
    w.text("_D");
    w.inside(d_name);
    w.inside(d_type);
}

fn d_name(w: &mut Writer<'_>) {
    match w.choice(6) {
        0 | 1 => w.identifier(),
        2 => {
            w.inside(d_name);
            w.inside(d_name);
        }
        3 => {
            w.one_of(&["__T", "__U", "10__T"]);
            w.identifier();
            w.list(d_argument);
            w.text("Z");
        }
        4 => d_back(w),
        _ => {
            w.identifier();
            w.one_of(&["MFZ", "FNaNbiZ", "__S1", "__ctorM"]);
            w.inside(d_name);
        }
    }
}

fn d_argument(w: &mut Writer<'_>) {
    match w.choice(4) {
        0 => w.text("Ti"),
        1 => {
            w.text("T");
            w.inside(d_type);
        }
        2 => {
            w.text("S");
            w.inside(d_name);
        }
        _ => {
            w.text("V");
            w.inside(d_type);
            w.inside(d_value);
        }
    }
}

fn d_type(w: &mut Writer<'_>) {
    match w.choice(9) {
        0 | 1 => w.one_of(&["i", "a", "v", "Z", "Nn", "zi"]),
        2 => {
            w.one_of(&["P", "A", "x", "y", "O", "Ng", "Nh", "D"]);
            w.inside(d_type);
        }
        3 => {
            w.times("A");
            w.inside(d_type);
        }
        4 => {
            w.one_of(&["G3", "H", "G99999999999999999999"]);
            w.inside(d_type);
            w.one_of(&["", "i"]);
        }
        5 => {
            w.one_of(&["S", "C", "E", "I"]);
            w.inside(d_name);
        }
        6 => {
            w.one_of(&["F", "FNaNb", "DFM", "U", "W"]);
            w.list(d_type);
            w.one_of(&["Z", "X", "Y"]);
            w.inside(d_type);
        }
        7 => {
            w.text("B");
            w.one_of(&["0", "2", "999999"]);
            w.list(d_type);
        }
        _ => d_back(w),
    }
}

fn d_value(w: &mut Writer<'_>) {
    match w.choice(7) {
        0 => w.one_of(&["i1", "n", "N7", "e0A8P6", "cINFcNAN"]),
        1 => {
            w.one_of(&["A", "S"]);
            w.one_of(&["2", "0", "99999999"]);
            w.list(d_value);
        }
        2 => {
            let digits = w.long_number() % 600;
            w.text("a");
            w.text(&digits.to_string());
            w.text("_");
            w.times("61");
        }
        3 => {
            w.text("f");
            w.inside(d_name);
        }
        4 => {
            w.text("i");
            w.times("9");
        }
        5 => {
            w.times("A1");
            w.inside(d_value);
        }
        _ => w.text("i0"),
    }
}

/// Writes a distance back, in digits of base 26 with a lower-case last letter.
fn d_back(w: &mut Writer<'_>) {
    let here = w.out.len();
    let mut distance = here.saturating_sub(w.place()).max(1);
    let mut digits = vec![b'a' + (distance % 26) as u8];
    distance /= 26;
    while distance > 0 {
        digits.push(b'A' + (distance % 26) as u8);
        distance /= 26;
    }
    digits.push(b'Q');
    w.out.extend(digits.iter().rev());
}

pub fn plain(w: &mut Writer<'_>) {
    match w.choice(4) {
        0 => {
            w.one_of(&["", "_ada_"]);
            parts(
                w,
                &[
                    "a", "ada", "__Oadd", "__", "b__2", "B1b__", "tSR", "Wc3", "X", "TK",
                    "___elabb", "nn",
                ],
            );
        }
        1 => {
            w.one_of(&["__", "_QM", "_QF"]);
            parts(w, &["m", "_MOD_", "F", "P", "S", "Simpl", "phys.", "E", "1"]);
        }
        2 => {
            w.one_of(&["ghczmprim_", "base_", "ZCMain_", ""]);
            parts(
                w,
                &[
                    "GHCziTuple_",
                    "Z2T",
                    "zq",
                    "z1f600U",
                    "ZLZR",
                    "Z9999999T",
                    "_info",
                    "_con_info",
                    "zi",
                ],
            );
        }
        _ => {
            w.text("caml");
            parts(w, &["Stdlib__", "Foo", ".", "$3e", "$", "_236", "fun_", "_code", "__entry"]);
        }
    }
}

fn parts(w: &mut Writer<'_>, texts: &[&str]) {
    for _ in 0..w.choice(24) {
        match w.choice(12) {
            11 => {
                let text = texts[w.choice(texts.len() as u64) as usize];
                w.times(text);
            }
            _ => w.one_of(texts),
        }
    }
}
