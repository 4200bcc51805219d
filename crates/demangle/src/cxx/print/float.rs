//! Floating-point literals as hexadecimal numbers, like `%a` in C. Mangled names have the bytes of the values.

use std::io::Write as _;

/// Writes the value of the digits with the suffix of its type. `what` is the letter of the type in the mangled name,
/// `f`, `d` or `e`. The parser has checked the number of digits.
pub(super) fn write(out: &mut Vec<u8>, what: u8, digits: &[u8]) {
    let value = digits.iter().fold(0_u128, |value, &digit| {
        let digit = char::from(digit).to_digit(16).unwrap_or(0);
        (value << 4) | u128::from(digit)
    });
    match what {
        b'f' => {
            let value = f32::from_bits(u32::try_from(value).unwrap_or(0));
            double(out, f64::from(value).to_bits());
            out.push(b'f');
        }
        b'd' => double(out, u64::try_from(value).unwrap_or(0)),
        _ => {
            extended(out, value);
            out.push(b'L');
        }
    }
}

/// Writes a binary64 number. Source: IEEE 754, binary64: sign, 11 bits of exponent, 52 of fraction.
fn double(out: &mut Vec<u8>, bits: u64) {
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    sign(out, bits >> 63 != 0);
    match (exponent, fraction) {
        (0x7ff, 0) => out.extend_from_slice(b"inf"),
        (0x7ff, _) => out.extend_from_slice(b"nan"),
        (0, 0) => out.extend_from_slice(b"0x0p+0"),
        (0, _) => number(out, 0, fraction, 13, -1022),
        _ => number(out, 1, fraction, 13, exponent - 1023),
    }
}

/// Writes an x87 number of 80 bits. Source: System V psABI for x86-64, 3.1.2: sign, 15 bits of exponent, 64 of
/// significand with its leading 1.
fn extended(out: &mut Vec<u8>, bits: u128) {
    let exponent = i32::try_from((bits >> 64) & 0x7fff).unwrap_or(0);
    let significand = u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
    sign(out, (bits >> 79) & 1 != 0);
    match (exponent, significand << 1) {
        (0x7fff, 0) => out.extend_from_slice(b"inf"),
        (0x7fff, _) => out.extend_from_slice(b"nan"),
        (0, _) if significand == 0 => out.extend_from_slice(b"0x0p+0"),
        _ => {
            let fraction = significand & ((1 << 60) - 1);
            number(out, significand >> 60, fraction, 15, exponent.max(1) - 16383 - 3);
        }
    }
}

fn sign(out: &mut Vec<u8>, is_negative: bool) {
    if is_negative {
        out.push(b'-');
    }
}

/// Writes `0x1.8p+3`. The fraction has `digits` digits; trailing zeros are omitted.
fn number(out: &mut Vec<u8>, leading: u64, fraction: u64, digits: usize, exponent: i32) {
    // Writing to a vector does not fail.
    let _ = write!(out, "0x{leading:x}");
    if fraction != 0 {
        let _ = write!(out, ".{fraction:0digits$x}");
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    let _ = write!(out, "p{exponent:+}");
}

#[cfg(test)]
mod tests {
    use super::write;

    fn check(what: u8, digits: &str, text: &str) {
        let mut out = Vec::new();
        write(&mut out, what, digits.as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn floats_as_printf_writes_them() {
        check(b'f', "3f800000", "0x1p+0f");
        check(b'f', "c1200000", "-0x1.4p+3f");
        check(b'f', "00000001", "0x1p-149f");
        check(b'd', "3ff8000000000000", "0x1.8p+0");
        check(b'd', "0000000000000001", "0x0.0000000000001p-1022");
        check(b'd', "8000000000000000", "-0x0p+0");
        check(b'd', "7ff0000000000000", "inf");
        check(b'd', "fff8000000000000", "-nan");
        check(b'e', "3fff8000000000000000", "0x8p-3L");
        check(b'e', "4000c90fdaa22168c235", "0xc.90fdaa22168c235p-2L");
        check(b'e', "00000000000000000000", "0x0p+0L");
    }
}
