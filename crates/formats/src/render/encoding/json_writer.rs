//! Writer for short JSON values around the columns of a document. Closures write the nested values.

use crate::render::text::{push_json, push_number};
use crate::render::truncation::in_table;

/// Appends JSON values to `text` in order.
#[derive(Default)]
pub(crate) struct JsonWriter {
    pub(crate) text: Vec<u8>,
}

impl JsonWriter {
    /// Appends an object; `inside` appends its members.
    pub(crate) fn object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.begin_object();
        inside(self);
        self.end_object();
    }

    pub(crate) fn begin_object(&mut self) {
        self.comma();
        self.text.push(b'{');
    }

    pub(crate) fn end_object(&mut self) {
        self.text.push(b'}');
    }

    pub(crate) fn begin_array(&mut self) {
        self.comma();
        self.text.push(b'[');
    }

    pub(crate) fn end_array(&mut self) {
        self.text.push(b']');
    }

    /// Appends an array; `put` appends each value.
    pub(crate) fn array<T>(
        &mut self,
        values: impl IntoIterator<Item = T>,
        put: impl Fn(&mut Self, T),
    ) {
        self.comma();
        self.text.push(b'[');
        values.into_iter().for_each(|value| put(self, value));
        self.text.push(b']');
    }

    /// Appends the key of the next value.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.text.push(b':');
        self
    }

    pub(crate) fn string(&mut self, text: impl AsRef<[u8]>) {
        self.comma();
        push_string(&mut self.text, text.as_ref());
    }

    /// Appends a text of lines, such as a source file. Unlike a name, it is never truncated.
    pub(crate) fn lines(&mut self, text: impl AsRef<[u8]>) {
        self.comma();
        self.text.push(b'"');
        push_json(&mut self.text, text.as_ref());
        self.text.push(b'"');
    }

    /// Appends a string, or null.
    pub(crate) fn maybe_string(&mut self, text: Option<impl AsRef<[u8]>>) {
        match text {
            Some(text) => self.string(text),
            None => self.raw(b"null"),
        }
    }

    pub(crate) fn number(&mut self, number: impl itoa::Integer + Copy + TryInto<u64>) {
        self.comma();
        push_number(&mut self.text, number);
    }

    /// Appends a number, or null.
    pub(crate) fn maybe(&mut self, number: Option<impl itoa::Integer + Copy + TryInto<u64>>) {
        match number {
            Some(number) => self.number(number),
            None => self.raw(b"null"),
        }
    }

    /// Appends the shortest text that parses to the same number; null if there is no finite number.
    pub(crate) fn float(&mut self, number: impl Into<Option<f64>>) {
        match number.into().filter(|number| number.is_finite()) {
            Some(number) => self.raw(format!("{number:?}").as_bytes()),
            None => self.raw(b"null"),
        }
    }

    /// Appends true, false, or null.
    pub(crate) fn boolean(&mut self, value: impl Into<Option<bool>>) {
        self.raw(value.into().map_or("null", |it| if it { "true" } else { "false" }).as_bytes());
    }

    /// Appends a value that is already JSON.
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.comma();
        self.text.extend_from_slice(text);
    }

    /// Ends the line after a comma, if one is needed, so that the next value starts on a new line.
    pub(crate) fn line(&mut self) -> &mut Self {
        self.comma();
        self.end_line();
        self
    }

    /// Ends the line after a value. A comma, if needed, goes to the next line.
    pub(crate) fn end_line(&mut self) {
        self.text.push(b'\n');
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    /// Appends a comma if the text ends with a value.
    fn comma(&mut self) {
        let last = self.text.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(last, None | Some(b'{' | b'[' | b':' | b',')) {
            self.text.push(b',');
        }
    }
}

/// Appends `"…"`, escaped, and truncated if it is too long for a table.
#[inline]
pub(crate) fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    push_json(out, &in_table(text));
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use profile::LONGEST_IN_TABLE;

    use super::*;

    #[test]
    fn lines_are_never_truncated() {
        let text = "x\n".repeat(LONGEST_IN_TABLE);
        let mut json = JsonWriter::default();
        json.lines(&text);
        assert_eq!(json.text, format!("\"{}\"", "x\\n".repeat(LONGEST_IN_TABLE)).into_bytes());
    }

    #[test]
    fn commas_are_between_values() {
        let mut json = JsonWriter::default();
        json.object(|json| {
            json.key("a").number(1_u32);
            json.key("b").array([1_u8, 2], |json, value| json.array([value], JsonWriter::number));
            json.key("c").string(b"\"");
            json.key("d").maybe(None::<u8>);
            json.key("e").object(|_| ());
            json.key("f").array([0.1, 1e300, f64::NAN], JsonWriter::float);
            json.line().key("g").array([Some(true), None], JsonWriter::boolean);
            json.end_line();
            json.key("h").number(-1);
        });
        assert_eq!(
            String::from_utf8(json.into_bytes()).unwrap(),
            r#"{"a":1,"b":[[1],[2]],"c":"\"","d":null,"e":{},"f":[0.1,1e300,null],
"g":[true,null]
,"h":-1}"#
        );
    }
}
