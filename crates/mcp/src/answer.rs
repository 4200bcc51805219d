//! Answers of limited size: JSON for programs, and a short table as text.

use serde_json::{Map, Value, json};

/// Most bytes of an answer with its envelope.
const MOST_BYTES: usize = 64 << 10;

/// Bytes that are left for the envelope.
const ENVELOPE: usize = 1 << 10;

/// Answer of a tool.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) json: Map<String, Value>,
    pub(crate) text: String,
}

impl Answer {
    /// Returns the largest answer of at most `limit` rows that fits. `build` makes an answer with a maximum of rows;
    /// `narrow` lists arguments that lead to fewer rows.
    pub(crate) fn within(limit: usize, narrow: &str, build: impl Fn(usize) -> Self) -> Self {
        let mut most = limit;
        loop {
            let answer = build(most);
            if most == 0 || answer.bytes() <= MOST_BYTES - ENVELOPE {
                return if most < limit { answer.with_note(most, narrow) } else { answer };
            }
            most = most * 3 / 4;
        }
    }

    fn with_note(mut self, most: usize, narrow: &str) -> Self {
        let note = format!(
            "only {most} rows, since an answer has at most {} KiB; narrow it with {narrow}",
            MOST_BYTES >> 10
        );
        self.text.push_str(&format!("{note}\n"));
        self.json.insert("note".to_owned(), json!(note));
        self
    }

    /// Inserts a member.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.json.insert(name.to_owned(), value.into());
    }

    /// Appends a line to the text.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Appends a line with the number of omitted rows, if there are any, and inserts the number.
    pub(crate) fn omit(&mut self, omitted: usize) {
        self.set("omitted", omitted);
        if omitted > 0 {
            self.line(format!("omitted rows: {omitted}"));
        }
    }

    /// Bytes of both parts as JSON.
    fn bytes(&self) -> usize {
        let bytes = |value: Result<Vec<u8>, serde_json::Error>| value.map_or(0, |it| it.len());
        bytes(serde_json::to_vec(&self.json)) + bytes(serde_json::to_vec(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_answers_have_fewer_rows_and_a_note() {
        let build = |most| {
            let mut answer = Answer::default();
            answer.set("rows", vec![Value::String("x".repeat(1000)); most]);
            answer.omit(500 - most);
            answer
        };
        let answer = Answer::within(50, "limit", build);
        assert_eq!(
            (answer.json["rows"].as_array().unwrap().len(), &answer.json["omitted"]),
            (50, &json!(450))
        );
        assert_eq!(answer.json.get("note"), None);
        let answer = Answer::within(200, "limit", build);
        assert_eq!(
            (answer.json["rows"].as_array().unwrap().len(), &answer.json["omitted"]),
            (63, &json!(437))
        );
        let note = "only 63 rows, since an answer has at most 64 KiB; narrow it with limit";
        assert_eq!(answer.json["note"], note);
        assert_eq!(answer.text, format!("omitted rows: 437\n{note}\n"));
        assert!(answer.bytes() < MOST_BYTES);
    }
}
