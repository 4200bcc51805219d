//! Productions of Rust names: those of v0, and the legacy ones, which look like C++.
//!
//! Source: Rust RFC 2603; the legacy mangling as `rustc-demangle` documents it.

use super::writer::Writer;

const BASIC: [&str; 8] = ["u", "l", "e", "z", "b", "p", "v", "o"];

pub fn v0(w: &mut Writer<'_>) {
    w.one_of(&["_R", "R", "__R"]);
    w.inside(path);
    if w.choice(3) == 2 {
        w.inside(path);
    }
    w.one_of(&["", ".llvm.123456", ".cold", "@plt"]);
}

pub fn legacy(w: &mut Writer<'_>) {
    w.text("_ZN");
    w.list(escaped);
    w.text("17h0123456789abcdefE");
    w.one_of(&["", ".llvm.8A1", ".cold.1"]);
}

fn escaped(w: &mut Writer<'_>) {
    let start = w.out.len();
    w.one_of(&["a", "$LT$", "_$u7b$", "$RF$", "..", "core..fmt", "$u7e$$BP$"]);
    if w.choice(4) == 3 {
        w.times("$LT$");
    }
    let word = String::from_utf8_lossy(&w.out[start..]).into_owned();
    w.out.truncate(start);
    w.text(&word.len().to_string());
    w.text(&word);
}

fn path(w: &mut Writer<'_>) {
    match w.choice(9) {
        0 => {
            w.text("C");
            identifier(w);
        }
        1 | 2 => {
            w.one_of(&["Nv", "Nt", "NC", "NS", "Nz"]);
            w.inside(path);
            identifier(w);
        }
        3 => {
            w.one_of(&["M", "Ms_"]);
            w.inside(path);
            w.inside(kind);
        }
        4 => {
            w.one_of(&["X", "Xs1_"]);
            w.inside(path);
            w.inside(kind);
            w.inside(path);
        }
        5 => {
            w.text("Y");
            w.inside(kind);
            w.inside(path);
        }
        6 => {
            w.text("I");
            w.inside(path);
            w.list(argument);
            w.text("E");
        }
        7 => {
            w.times("Nv");
            w.inside(path);
            for _ in 0..w.choice(9) {
                identifier(w);
            }
        }
        _ => back(w),
    }
}

fn argument(w: &mut Writer<'_>) {
    match w.choice(4) {
        0 => w.text("l"),
        1 => w.one_of(&["L_", "L0_", "Lzzz_"]),
        2 => {
            w.text("K");
            w.inside(constant);
        }
        _ => w.inside(kind),
    }
}

fn kind(w: &mut Writer<'_>) {
    match w.choice(10) {
        0 | 1 => w.one_of(&BASIC),
        2 => {
            w.one_of(&["R", "Q", "P", "O", "S", "RL_", "RL0_"]);
            w.inside(kind);
        }
        3 => {
            w.times("R");
            w.inside(kind);
        }
        4 => {
            w.text("T");
            w.list(kind);
            w.text("E");
        }
        5 => {
            w.text("A");
            w.inside(kind);
            w.inside(constant);
        }
        6 => {
            w.one_of(&["F", "FG_", "FU", "FKC", "FUK3abiG0_"]);
            w.list(kind);
            w.text("E");
            w.inside(kind);
        }
        7 => {
            w.one_of(&["D", "DG_", "DGzz_"]);
            w.inside(path);
            w.one_of(&["", "p1al", "p3fooRe"]);
            w.text("EL_");
        }
        8 => w.inside(path),
        _ => back(w),
    }
}

fn constant(w: &mut Writer<'_>) {
    match w.choice(8) {
        0 => w.one_of(&["p", "j0_", "b1_", "c41_", "lnff_"]),
        1 => {
            w.one_of(&["e", "Re"]);
            w.times("61");
            w.text("_");
        }
        2 => {
            w.one_of(&["R", "Q", "A"]);
            w.inside(constant);
            w.one_of(&["", "E"]);
        }
        3 => {
            w.text("T");
            w.list(constant);
            w.text("E");
        }
        4 => {
            w.one_of(&["VU", "VT", "VS"]);
            w.inside(path);
            w.list(constant);
            w.text("E");
        }
        5 => {
            w.text("j");
            w.times("f");
            w.text("_");
        }
        _ => back(w),
    }
}

/// Writes a reference to the production that started at a place after `_R`.
fn back(w: &mut Writer<'_>) {
    let place = w.place().saturating_sub(2) as u64;
    w.text("B");
    if place > 0 {
        w.digits(place - 1, 62);
    }
    w.text("_");
}

fn identifier(w: &mut Writer<'_>) {
    w.one_of(&["", "s_", "s0_", "sZZZZZZZZZZZZ_", "u"]);
    w.identifier();
}
