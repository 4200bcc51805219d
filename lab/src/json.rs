//! A pull reader for one JSON value in memory, sufficient for our own NDJSON: it builds no tree, and strings borrow.

use std::borrow::Cow;

use anyhow::{Result, bail};

/// A position in a text.
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    /// Starts at the beginning of `text`.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        let found = self.peek();
        if found != byte {
            bail!(
                "column {}: expected {:?}, found {:?}",
                self.at,
                char::from(byte),
                char::from(found)
            );
        }
        self.at += 1;
        Ok(())
    }

    /// Calls `member` for each key of an object; it must take the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&str, &mut Self) -> Result<()>,
    ) -> Result<()> {
        self.expect(b'{')?;
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(&key, self)?;
            if self.peek() != b',' {
                return self.expect(b'}');
            }
            self.at += 1;
        }
    }

    /// Calls `item` before each element of an array; it must take the element.
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(b'[')?;
        if self.peek() == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            if self.peek() != b',' {
                return self.expect(b']');
            }
            self.at += 1;
        }
    }

    /// Reads a string; borrowed if it has no escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>> {
        self.expect(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            match bytes.get(self.at) {
                None => bail!("column {start}: the string does not end"),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                }
                Some(_) => {}
            }
            self.at += 1;
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(if escaped { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) })
    }

    /// Reads the text of a number, `true`, `false` or `null`.
    pub(crate) fn word(&mut self) -> Result<&'a str> {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        while matches!(
            bytes.get(self.at),
            Some(b'0'..=b'9' | b'a'..=b'z' | b'+' | b'-' | b'.' | b'E')
        ) {
            self.at += 1;
        }
        if start == self.at {
            bail!("column {start}: expected a value");
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Reads an unsigned number.
    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(self.word()?.parse()?)
    }

    /// Reads a string that holds a hexadecimal number, such as `"0x7f00"`.
    pub(crate) fn hex(&mut self) -> Result<u64> {
        let text = self.string()?;
        Ok(u64::from_str_radix(text.trim_start_matches("0x"), 16)?)
    }

    /// Skips any value.
    pub(crate) fn skip(&mut self) -> Result<()> {
        match self.peek() {
            b'{' => self.object(|_, value| value.skip()),
            b'[' => self.array(Self::skip),
            b'"' => self.string().map(|_| ()),
            _ => self.word().map(|_| ()),
        }
    }
}

fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).unwrap_or(0xfffd);
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn members_are_taken_by_name_and_others_passed_over() {
        let mut json = Json::new(
            r#"{"a": 17, "b": [{"x": "0xff"}, {"x": "0x1", "y": [true, null]}], "c\n": "d\u0041"}"#,
        );
        let (mut number, mut list, mut last) = (0, Vec::new(), String::new());
        json.object(|key, value| {
            match key {
                "a" => number = value.number()?,
                "b" => value.array(|item| {
                    item.object(|key, value| {
                        if key == "x" {
                            list.push(value.hex()?)
                        } else {
                            value.skip()?
                        }
                        Ok(())
                    })
                })?,
                "c\n" => last = value.string()?.into_owned(),
                _ => value.skip()?,
            }
            Ok(())
        })
        .unwrap();
        assert_eq!((number, list, last.as_str()), (17, vec![255, 1], "dA"));
    }

    #[test]
    fn damage_is_an_error() {
        assert_eq!(
            Json::new("{\"a").skip().unwrap_err().to_string(),
            "column 2: the string does not end"
        );
        assert_eq!(
            Json::new("[1 2]").skip().unwrap_err().to_string(),
            "column 3: expected ']', found '2'"
        );
    }
}
