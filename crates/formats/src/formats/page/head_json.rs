//! JSON as the head of the page needs it: written in order, by functions that put what is inside.

use crate::render::cut::in_table;
use crate::render::text::push_json;

/// JSON that is being written.
#[derive(Default)]
pub(crate) struct HeadJson {
    text: Vec<u8>,
}

impl HeadJson {
    /// An object.
    pub(crate) fn object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.comma();
        self.text.push(b'{');
        inside(self);
        self.text.push(b'}');
    }

    /// An array of what `put` makes of each value.
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

    /// The name of the next value.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.string(name.as_bytes());
        self.text.push(b':');
        self
    }

    pub(crate) fn string(&mut self, text: &[u8]) {
        self.comma();
        self.text.push(b'"');
        push_json(&mut self.text, &in_table(text));
        self.text.push(b'"');
    }

    pub(crate) fn number(&mut self, number: impl Into<i128>) {
        self.comma();
        self.text.extend_from_slice(number.into().to_string().as_bytes());
    }

    /// The shortest number that is read as the same one; null for what is none.
    pub(crate) fn float(&mut self, number: f64) {
        self.comma();
        let text = if number.is_finite() { format!("{number:?}") } else { "null".to_owned() };
        self.text.extend_from_slice(text.as_bytes());
    }

    /// A number, or null.
    pub(crate) fn maybe(&mut self, number: Option<impl Into<i128>>) {
        match number {
            Some(number) => self.number(number),
            None => {
                self.comma();
                self.text.extend_from_slice(b"null");
            }
        }
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.comma();
        self.text.extend_from_slice(text);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    /// Between two values is a comma.
    fn comma(&mut self) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(b',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_between_values() {
        let mut json = HeadJson::default();
        json.object(|json| {
            json.key("a").number(1_u32);
            json.key("b").array([1_u8, 2], |json, value| json.array([value], HeadJson::number));
            json.key("c").string(b"\"");
            json.key("d").maybe(None::<u8>);
            json.key("e").object(|_| ());
            json.key("f").array([0.1, 1e300, f64::NAN], HeadJson::float);
        });
        assert_eq!(
            String::from_utf8(json.into_bytes()).unwrap(),
            r#"{"a":1,"b":[[1],[2]],"c":"\"","d":null,"e":{},"f":[0.1,1e300,null]}"#
        );
    }
}
