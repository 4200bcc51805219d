//! Values as arguments of templates.

use std::fmt::Write as _;

use super::parser::Parser;

impl Parser<'_> {
    /// Returns the first letter of the next type, after resolving back references. It determines the form of the value.
    pub(super) fn kind_of_value(&mut self) -> Option<u8> {
        let at = self.at();
        let kind = match self.peek()? {
            b'Q' => self.referred(Self::kind_of_value),
            kind => Some(kind),
        };
        self.seek(at);
        kind
    }

    /// Parses a value; `kind` and `name` are those of its type.
    pub(super) fn value(&mut self, out: &mut String, kind: u8, name: &str) -> Option<()> {
        match self.peek()? {
            b'n' => {
                self.next()?;
                self.put(out, "null")
            }
            b'N' => {
                self.next()?;
                self.put(out, "-")?;
                self.integer(out, kind)
            }
            b'i' => {
                self.next()?;
                self.integer(out, kind)
            }
            // Older compilers omitted the letter.
            b'0'..=b'9' => self.integer(out, kind),
            b'e' => {
                self.next()?;
                self.real(out)
            }
            b'c' => {
                self.next()?;
                self.real(out)?;
                self.put(out, "+")?;
                self.eat(b"c").then_some(())?;
                self.real(out)?;
                self.put(out, "i")
            }
            b'a' | b'w' | b'd' => self.text(out),
            b'A' => {
                self.next()?;
                let is_map = kind == b'H';
                self.list(out, ["[", "]"], is_map)
            }
            b'S' => {
                self.next()?;
                self.put(out, name)?;
                self.list(out, ["(", ")"], false)
            }
            b'f' => {
                self.next()?;
                self.eat(b"_D").then_some(())?;
                self.nested(|it| it.symbol(out))
            }
            _ => None,
        }
    }

    /// Parses a number, a character or a boolean.
    fn integer(&mut self, out: &mut String, kind: u8) -> Option<()> {
        let digits = self.digits()?;
        match kind {
            b'a' | b'u' | b'w' => {
                let code: u32 = digits.parse().ok()?;
                let text = match (kind, u8::try_from(code).ok()) {
                    (_, Some(byte @ (b' '..=b'~'))) => char::from(byte).to_string(),
                    (b'a', _) => format!("\\x{code:02x}"),
                    (b'u', _) => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                };
                self.put(out, &format!("'{text}'"))
            }
            b'b' => {
                self.put(out, if digits.bytes().all(|it| it == b'0') { "false" } else { "true" })
            }
            _ => {
                self.put(out, digits)?;
                self.put(
                    out,
                    match kind {
                        b'h' | b't' | b'k' => "u",
                        b'l' => "L",
                        b'm' => "uL",
                        _ => "",
                    },
                )
            }
        }
    }

    /// Parses a floating-point number in hexadecimal digits.
    fn real(&mut self, out: &mut String) -> Option<()> {
        for (code, text) in [(&b"NAN"[..], "NaN"), (b"INF", "Inf"), (b"NINF", "-Inf")] {
            if self.eat(code) {
                return self.put(out, text);
            }
        }
        let sign = if self.eat(b"N") { "-" } else { "" };
        let len = self.rest().iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let digits = self.take(len)?;
        let (first, fraction) = digits.split_at_checked(1)?;
        self.eat(b"P").then_some(())?;
        let exponent_sign = if self.eat(b"N") { "-" } else { "" };
        let exponent = self.digits()?;
        self.put(out, &format!("{sign}0x{first}.{fraction}p{exponent_sign}{exponent}"))
    }

    /// Parses a string: the width of its characters, its length in bytes, and these as hexadecimal digits.
    fn text(&mut self, out: &mut String) -> Option<()> {
        let width = self.next()?;
        let len = self.number()?;
        self.eat(b"_").then_some(())?;
        let digits = self.take(len.checked_mul(2)?)?;
        let mut text = String::from("\"");
        for pair in digits.as_bytes().chunks_exact(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            let byte = u8::from_str_radix(pair, 16).ok()?;
            match byte {
                b'\n' => text.push_str("\\n"),
                b'\r' => text.push_str("\\r"),
                b'\t' => text.push_str("\\t"),
                0x0b => text.push_str("\\v"),
                0x0c => text.push_str("\\f"),
                b' '..=b'~' => text.push(byte.into()),
                // Writing to a string cannot fail.
                _ => drop(write!(text, "\\x{pair}")),
            }
        }
        text.push('"');
        if width != b'a' {
            text.push(width.into());
        }
        self.put(out, &text)
    }

    /// Parses several values and writes them in brackets. In a map they are pairs.
    fn list(&mut self, out: &mut String, brackets: [&str; 2], is_map: bool) -> Option<()> {
        let count = self.number()?;
        let [open, close] = brackets;
        self.put(out, open)?;
        for index in 0..count {
            if index > 0 {
                self.put(out, ", ")?;
            }
            self.nested(|it| it.value(out, 0, ""))?;
            if is_map {
                self.put(out, ":")?;
                self.nested(|it| it.value(out, 0, ""))?;
            }
        }
        self.put(out, close)
    }
}
