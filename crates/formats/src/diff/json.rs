//! A difference as one JSON document: how it was made, all functions, and the union of all stacks in columns.
//! `docs/OUTPUT.md` has the fields, `docs/diff.schema.json` is their JSON Schema.

use std::io;

use options::Spelling;
use profile::query::diff::{
    Change, Diff, DiffCost, DiffFunction, DiffLabel, DiffNode, DiffNodeId, DiffRun, DiffSide,
    Normalization,
};

use super::DiffPrintOptions;
use super::labels::function;
use super::notes::sentence;
use crate::render::cut::in_table;
use crate::render::text::{push_json, push_number};

/// Counts up with changes that break readers: a field removed, or with another meaning.
const VERSION: u32 = 1;

/// Prints the document.
pub(super) fn print(
    diff: &Diff,
    options: DiffPrintOptions,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut json = Writer::default();
    json.object(|json| {
        json.field("meta", meta);
        json.field("event", |json| json.string(diff.event.as_bytes()));
        json.field("unit", |json| json.string(diff.unit.unwrap_or("samples").as_bytes()));
        json.field("normalization", |json| normalized(json, diff));
        json.field("inlines", |json| json.raw(bool_text(diff.inlines)));
        json.field("exact_names", |json| json.raw(bool_text(diff.exact_names)));
        json.field("method", |json| json.string(diff.method.as_str().as_bytes()));
        json.field("tested", |json| {
            json.object(|json| {
                json.field("own", |json| json.number(diff.tested[0] as u64));
                json.field("inclusive", |json| json.number(diff.tested[1] as u64));
            });
        });
        if let Some(gate) = options.gate {
            json.field("gate", |json| json.string(gate.as_str().as_bytes()));
        }
        json.field("not_compared", |json| {
            let [before, after] = diff.not_compared_shares();
            json.object(|json| {
                json.field("before", |json| json.float(before));
                json.field("after", |json| json.float(after));
            });
        });
        json.line();
        json.field("before", |json| side(json, &diff.before));
        json.line();
        json.field("after", |json| side(json, &diff.after));
        json.line();
        json.field("total", |json| change(json, &diff.total));
        json.field("notes", |json| notes(json, diff, options.look.spelling));
        json.line();
        json.field("modules", |json| modules(json, diff));
        json.line();
        json.field("functions", |json| {
            json.array(diff.functions.iter(), |json, row| {
                json.line();
                one_function(json, diff, row);
            });
        });
        json.line();
        json.field("tree", |json| tree(json, diff));
    });
    json.text.push(b'\n');
    out.write_all(&json.text)
}

fn meta(json: &mut Writer) {
    json.object(|json| {
        json.field("schema", |json| json.string(b"unwind-perf-diff"));
        json.field("version", |json| json.number(VERSION.into()));
        let generator = concat!("unwind-perf ", env!("CARGO_PKG_VERSION"));
        json.field("generator", |json| json.string(generator.as_bytes()));
    });
}

fn normalized(json: &mut Writer, diff: &Diff) {
    json.object(|json| {
        json.field("by", |json| json.string(diff.normalization.as_str().as_bytes()));
        if let Normalization::Work { before, after } = diff.normalization {
            json.field("before", |json| json.float(before));
            json.field("after", |json| json.float(after));
        }
        if let Some(reason) = &diff.not_by_time {
            json.field("not_by_time", |json| json.string(reason.to_string().as_bytes()));
        }
    });
}

fn side(json: &mut Writer, side: &DiffSide) {
    json.object(|json| {
        json.field("complete_share", |json| json.float(side.complete_share()));
        json.field("truncated_share", |json| json.float(side.truncated_share()));
        json.field("recordings", |json| json.array(side.runs.iter(), recording));
    });
}

fn recording(json: &mut Writer, run: &DiffRun) {
    json.object(|json| {
        json.field("name", |json| json.string(run.name.as_bytes()));
        if let Some(seconds) = run.seconds {
            json.field("seconds", |json| json.float(seconds));
        }
        let numbers = [
            ("samples", run.total.samples),
            ("cost", run.total.cost),
            ("complete", run.complete),
            ("truncated", run.truncated),
            ("lost", run.lost),
            ("other_events", run.other_events),
            ("threads", run.threads as u64),
        ];
        for (name, value) in numbers {
            json.field(name, |json| json.number(value));
        }
    });
}

fn change(json: &mut Writer, change: &Change) {
    json.object(|json| {
        json.field("before", |json| cost(json, change.before));
        json.field("after", |json| cost(json, change.after));
        json.field("delta", |json| json.float(change.delta()));
        json.field("ratio", |json| json.float_or_null(change.ratio()));
        json.field("low", |json| json.float_or_null(change.interval.map(|[low, _]| low)));
        json.field("high", |json| json.float_or_null(change.interval.map(|[_, high]| high)));
        json.field("p", |json| json.float_or_null(change.p));
        json.field("marked", |json| json.raw(bool_text(change.marked)));
    });
}

fn cost(json: &mut Writer, cost: DiffCost) {
    json.object(|json| {
        json.field("samples", |json| json.number(cost.samples));
        json.field("cost", |json| json.number(cost.cost));
        json.field("value", |json| json.float(cost.value));
    });
}

fn notes(json: &mut Writer, diff: &Diff, spelling: Spelling) {
    json.array(diff.notes.iter(), |json, note| {
        json.object(|json| {
            json.field("kind", |json| json.string(note.kind().as_bytes()));
            json.field("message", |json| json.string(sentence(diff, note, spelling).as_bytes()));
        });
    });
}

fn modules(json: &mut Writer, diff: &Diff) {
    json.array(diff.modules.iter(), |json, row| {
        json.object(|json| {
            json.field("name", |json| json.string(diff.text(row.name)));
            if let Some(name) = row.other_name {
                json.field("name_after", |json| json.string(diff.text(name)));
            }
            json.field("paired_by", |json| match row.paired {
                Some(by) => json.string(by.as_str().as_bytes()),
                None => json.raw("null"),
            });
            let [before, after] = row.seen.map(bool_text);
            json.field("before", |json| json.raw(before));
            json.field("after", |json| json.raw(after));
            let same = row.same_file.map_or("null", bool_text);
            json.field("same_file", |json| json.raw(same));
            json.field("inlines", |json| {
                json.raw(bool_text(diff.inlines && !row.without_inlines));
            });
        });
    });
}

fn one_function(json: &mut Writer, diff: &Diff, row: &DiffFunction) {
    json.object(|json| {
        json.field("name", |json| json.string(&function(diff, row)));
        if let Some(module) = row.module {
            json.field("module", |json| json.number(module.index() as u64));
        }
        if let Some(reason) = row.not_compared {
            json.field("not_compared", |json| json.string(reason.as_str().as_bytes()));
        }
        json.field("own", |json| change(json, &row.own));
        json.field("inclusive", |json| change(json, &row.inclusive));
    });
}

/// The tree in columns: a node is a thread's name, `[truncated]` where it is neither that nor a function, or a function.
fn tree(json: &mut Writer, diff: &Diff) {
    json.object(|json| {
        json.field("length", |json| json.number(diff.tree.len() as u64));
        json.field("parent", |json| {
            json.array(diff.tree.iter(), |json, node| {
                json.number_or_null(node.parent.map(DiffNodeId::index));
            });
        });
        json.field("function", |json| {
            json.array(diff.tree.iter(), |json, node| match node.label {
                DiffLabel::Function(function) => json.number(function.index() as u64),
                DiffLabel::Thread(_) | DiffLabel::Truncated => json.raw("null"),
            });
        });
        json.field("thread", |json| {
            json.array(diff.tree.iter(), |json, node| match node.label {
                DiffLabel::Thread(name) => json.string(diff.text(name)),
                DiffLabel::Function(_) | DiffLabel::Truncated => json.raw("null"),
            });
        });
        for (name, is_after) in [("before", false), ("after", true)] {
            let side = |node: &DiffNode| if is_after { node.after } else { node.before };
            json.field(&format!("{name}_samples"), |json| {
                json.array(diff.tree.iter(), |json, node| json.number(side(node).samples));
            });
            json.field(&format!("{name}_value"), |json| {
                json.array(diff.tree.iter(), |json, node| json.float(side(node).value));
            });
        }
    });
}

const fn bool_text(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// Writes a document value by value.
#[derive(Default)]
struct Writer {
    text: Vec<u8>,
}

impl Writer {
    fn raw(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// A new line between values; readers do not see it.
    fn line(&mut self) {
        self.text.push(b'\n');
    }

    fn object(&mut self, fields: impl FnOnce(&mut Self)) {
        self.text.push(b'{');
        fields(self);
        self.text.push(b'}');
    }

    /// A field of the object that was begun.
    fn field(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        let last = self.text.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        if last != Some(&b'{') {
            self.text.push(b',');
        }
        self.text.push(b'"');
        self.raw(name);
        self.raw("\":");
        value(self);
    }

    fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut element: impl FnMut(&mut Self, T),
    ) {
        self.text.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            element(self, item);
        }
        self.text.push(b']');
    }

    fn string(&mut self, text: &[u8]) {
        self.text.push(b'"');
        push_json(&mut self.text, &in_table(text));
        self.text.push(b'"');
    }

    fn number(&mut self, number: u64) {
        push_number(&mut self.text, number);
    }

    fn number_or_null(&mut self, number: Option<usize>) {
        match number {
            Some(number) => self.number(number as u64),
            None => self.raw("null"),
        }
    }

    /// The shortest number that is read as the same one; `null` for what is none.
    fn float(&mut self, number: f64) {
        if number.is_finite() {
            self.raw(&format!("{number:?}"));
        } else {
            self.raw("null");
        }
    }

    fn float_or_null(&mut self, number: Option<f64>) {
        self.float(number.unwrap_or(f64::NAN));
    }
}
