//! Productions of C++ names.
//!
//! Source: the Itanium C++ ABI, "Mangling".

use super::writer::Writer;

const BUILTIN: [&str; 12] =
    ["i", "v", "c", "z", "d", "Dn", "Di", "DF16_", "u3foo", "n", "e", "DB8_"];
const STANDARD: [&str; 8] = ["S_", "St", "Sa", "Ss", "Sb", "Si", "So", "Sd"];
const UNARY: [&str; 6] = ["ng", "de", "ad", "nt", "pp_", "sz"];
const BINARY: [&str; 8] = ["pl", "mi", "ls", "ss", "aS", "cm", "ix", "ds"];

pub fn name(w: &mut Writer<'_>) {
    w.one_of(&["_Z", "__Z", "____Z", "_ZTV", "_ZGVZ", "_ZThn16_", "_ZTcvn8_n8_v16_n24_"]);
    w.inside(encoding);
    w.one_of(&["", ".cold", ".isra.0.part.1", ".llvm.12345", "@plt", "@@GLIBC_2.34"]);
    if w.choice(8) == 7 {
        w.times(".cold");
    }
}

fn encoding(w: &mut Writer<'_>) {
    w.inside(entity);
    if w.choice(3) > 0 {
        w.inside(kind);
        w.list(kind);
    } else {
        w.text("v");
    }
}

/// Writes the name of an entity.
fn entity(w: &mut Writer<'_>) {
    match w.choice(12) {
        0..=2 => w.identifier(),
        3 | 4 => {
            w.one_of(&["N", "NK", "NVK", "NR", "NO", "NKH"]);
            w.inside(entity);
            w.list(entity);
            w.text("E");
        }
        5 => {
            w.identifier();
            arguments(w);
        }
        6 => substitution(w),
        7 => {
            w.text("Z");
            w.inside(encoding);
            w.one_of(&["Es", "E_0", "E__12_", "Ed_", "E"]);
            w.inside(entity);
        }
        8 => {
            w.one_of(&["Ul", "Ut", "UlTyTnj"]);
            w.list(kind);
            w.text("E");
            w.one_of(&["_", "0_", "12_"]);
        }
        9 => {
            w.text("cv");
            w.inside(kind);
        }
        10 => {
            w.one_of(&["C1", "D2", "pl", "li3foo", "ss", "B3abi", "L1x", "DC1a1bE", "CI11a", "W1m"])
        }
        _ => w.one_of(&STANDARD),
    }
}

fn arguments(w: &mut Writer<'_>) {
    w.text("I");
    w.list(argument);
    w.text("E");
}

fn argument(w: &mut Writer<'_>) {
    match w.choice(5) {
        0 => w.one_of(&BUILTIN),
        1 => {
            w.text("X");
            w.inside(expression);
            w.text("E");
        }
        2 => {
            w.text("J");
            w.list(argument);
            w.text("E");
        }
        3 => literal(w),
        _ => w.inside(kind),
    }
}

/// Writes a type.
fn kind(w: &mut Writer<'_>) {
    match w.choice(14) {
        0 | 1 => w.one_of(&BUILTIN),
        2 => {
            w.one_of(&["P", "R", "O", "K", "VK", "Dp", "C", "G", "U3abi", "PU11objcproto1aE"]);
            w.inside(kind);
        }
        3 => {
            w.one_of(&["P", "R", "Dp", "PK", "A1_", "M1a", "FvP"]);
            w.times("P");
            w.inside(kind);
        }
        4 => w.inside(entity),
        5 => {
            w.one_of(&["F", "PF", "DoF", "FY", "DwvEF"]);
            w.list(kind);
            w.text("E");
        }
        6 => {
            w.text("A");
            w.one_of(&["3", "", "99999999999999999999", "sZ1_"]);
            w.text("_");
            w.inside(kind);
        }
        7 => parameter(w),
        8 | 9 => substitution(w),
        10 => {
            w.text("M");
            w.inside(kind);
            w.inside(kind);
        }
        11 => {
            w.one_of(&["DT", "Dt"]);
            w.inside(expression);
            w.text("E");
        }
        12 => {
            w.text("Dv4_");
            w.inside(kind);
        }
        _ => {
            w.inside(entity);
            arguments(w);
        }
    }
}

fn substitution(w: &mut Writer<'_>) {
    w.text("S");
    let number = w.number();
    if number > 0 {
        let start = w.out.len();
        w.digits(number - 1, 36);
        w.out[start..].make_ascii_uppercase();
    }
    w.text("_");
}

fn parameter(w: &mut Writer<'_>) {
    w.text("T");
    let number = w.number();
    if number > 0 {
        w.digits(number - 1, 10);
    }
    w.text("_");
    if w.choice(4) == 3 {
        arguments(w);
    }
}

fn literal(w: &mut Writer<'_>) {
    w.text("L");
    w.one_of(&["i", "b", "d", "A3_Kc", "_Z", "N1a1bE", "f"]);
    let number = w.number();
    w.digits(number, 16);
    w.text("E");
}

fn expression(w: &mut Writer<'_>) {
    match w.choice(12) {
        0 => w.one_of(&["Li0E", "fp_", "fpT", "T_", "fL0p_"]),
        1 => {
            w.one_of(&UNARY);
            w.inside(expression);
        }
        2 | 3 => {
            w.one_of(&BINARY);
            w.inside(expression);
            w.inside(expression);
        }
        4 => {
            w.one_of(&["cl", "il", "nw_v", "cp"]);
            w.list(expression);
            w.text("E");
        }
        5 => {
            w.one_of(&["st", "at", "ti"]);
            w.inside(kind);
        }
        6 => {
            w.text("sr");
            w.inside(kind);
            w.identifier();
        }
        7 => {
            w.one_of(&["cv", "sc", "dc", "tl"]);
            w.inside(kind);
            w.list(expression);
            w.text("E");
        }
        8 => {
            w.one_of(&["fl", "fr", "fLpl", "fRmi"]);
            w.one_of(&BINARY);
            w.inside(expression);
        }
        9 => {
            w.text("ng");
            w.times("ng");
            w.inside(expression);
        }
        10 => {
            w.text("qu");
            w.list(expression);
        }
        _ => literal(w),
    }
}
