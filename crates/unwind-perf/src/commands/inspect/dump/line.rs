//! One record as one line: `key=value` for people or a JSON object for programs, from the same description.

use std::io::Write as _;

use formats::is_misleading;

use crate::terminal::shown_json;

/// Buffer of the lines being written.
#[derive(Debug)]
pub(crate) struct DumpLine {
    pub(crate) text: Vec<u8>,
    json: bool,
    in_list: bool,
}

impl DumpLine {
    /// Returns an empty buffer for lines of either form.
    pub(crate) fn new(json: bool) -> Self {
        Self { text: Vec::with_capacity(1 << 16), json, in_list: false }
    }

    /// Begins a record.
    pub(crate) fn begin(&mut self, time: u64, offset: u64, size: u32, kind: &str) {
        if self.json {
            self.text.push(b'{');
            self.key("type");
            self.string(kind.as_bytes());
            self.hex("offset", offset);
            self.number("size", u64::from(size));
            if time != 0 {
                self.number("time_ns", time);
            }
            return;
        }
        // Writing to memory cannot fail.
        let (seconds, nanos) = (time / 1_000_000_000, time % 1_000_000_000);
        let _ = write!(self.text, "{seconds}.{nanos:09} {offset:#x} [{size:#x}] {kind}");
    }

    /// Ends a record.
    pub(crate) fn end(&mut self) {
        self.text.extend_from_slice(if self.json { b"}\n" } else { b"\n" });
    }

    fn key(&mut self, key: &str) {
        if self.json {
            if self.text.last() != Some(&b'{') {
                self.text.push(b',');
            }
            self.text.push(b'"');
            self.text.extend_from_slice(key.as_bytes());
            self.text.extend_from_slice(b"\":");
        } else {
            self.text.push(b' ');
            self.text.extend_from_slice(key.as_bytes());
            self.text.push(b'=');
        }
    }

    fn string(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        if self.json {
            // Strings always serialize.
            let text = serde_json::to_string(&value).unwrap_or_default();
            self.text.extend_from_slice(shown_json(&text).as_bytes());
        } else if value.is_empty() || value.contains(is_quoted) {
            let _ = write!(self.text, "{value:?}");
        } else {
            self.text.extend_from_slice(value.as_bytes());
        }
    }

    /// Appends a number that counts or identifies something.
    pub(crate) fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    /// Appends the id of a process or thread.
    pub(crate) fn signed(&mut self, key: &str, value: i32) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    /// Appends an address, offset or set of bits; a string in JSON, whose numbers are not exact at that size.
    pub(crate) fn hex(&mut self, key: &str, value: u64) {
        self.key(key);
        self.hex_value(value);
    }

    fn hex_value(&mut self, value: u64) {
        let _ = if self.json {
            write!(self.text, "\"{value:#x}\"")
        } else {
            write!(self.text, "{value:#x}")
        };
    }

    /// Appends a name or path.
    pub(crate) fn text(&mut self, key: &str, value: &[u8]) {
        self.key(key);
        self.string(value);
    }

    /// Appends bytes in hexadecimal.
    pub(crate) fn bytes(&mut self, key: &str, value: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.key(key);
        if self.json {
            self.text.push(b'"');
        }
        for byte in value {
            self.text.push(DIGITS[usize::from(byte >> 4)]);
            self.text.push(DIGITS[usize::from(byte & 15)]);
        }
        if self.json {
            self.text.push(b'"');
        }
    }

    /// Appends a flag that is set; omits one that is not.
    pub(crate) fn flag(&mut self, key: &str, value: bool) {
        if !value {
            return;
        }
        if self.json {
            self.key(key);
            self.text.extend_from_slice(b"true");
        } else {
            self.text.push(b' ');
            self.text.extend_from_slice(key.as_bytes());
        }
    }

    /// Appends a list of addresses.
    pub(crate) fn list(&mut self, key: &str, values: impl Iterator<Item = u64>) {
        self.key(key);
        self.text.push(b'[');
        for value in values {
            if std::mem::replace(&mut self.in_list, true) {
                self.text.push(b',');
            }
            self.hex_value(value);
        }
        self.in_list = false;
        self.text.push(b']');
    }
}

/// Returns true if the character causes the text to be quoted. It is then escaped, unless it is a space.
fn is_quoted(char: char) -> bool {
    char.is_whitespace() || char.is_control() || is_misleading(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: bool) -> String {
        let mut line = DumpLine::new(json);
        line.begin(1_000_000_002, 0x10, 24, "COMM");
        line.signed("pid", -1);
        line.text("comm", b"a \"b");
        line.flag("exec", true);
        line.flag("other", false);
        line.list("ips", [1, u64::MAX].into_iter());
        line.bytes("tag", &[0, 0xab]);
        line.end();
        String::from_utf8(line.text).expect("text")
    }

    #[test]
    fn both_forms() {
        assert_eq!(
            line(false),
            "1.000000002 0x10 [0x18] COMM pid=-1 comm=\"a \\\"b\" exec ips=[0x1,0xffffffffffffffff] tag=00ab\n"
        );
        assert_eq!(
            line(true),
            concat!(
                r#"{"type":"COMM","offset":"0x10","size":24,"time_ns":1000000002,"pid":-1,"comm":"a \"b","#,
                r#""exec":true,"ips":["0x1","0xffffffffffffffff"],"tag":"00ab"}"#,
                "\n"
            )
        );
    }
}
