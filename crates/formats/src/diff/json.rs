//! A difference as one JSON document: its parameters, all functions, and the union of all stacks in columns.
//! `docs/OUTPUT.md` describes the fields; `docs/diff.schema.json` is the JSON Schema.

use std::io;

use options::Spelling;
use profile::query::diff::{
    Change, Diff, DiffCost, DiffFunction, DiffLabel, DiffNodeId, DiffRun, DiffRuns, Normalization,
};

use super::DiffPrintOptions;
use super::labels::function;
use super::notes::sentence;
use crate::render::encoding::json_writer::JsonWriter;

/// Version, incremented by changes that break readers: a field is removed or changes its meaning.
const VERSION: u32 = 1;

/// Prints the document.
pub(super) fn print(
    diff: &Diff,
    options: DiffPrintOptions,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut json = JsonWriter::default();
    json.object(|json| {
        meta(json.key("meta"));
        json.key("event").string(&diff.event);
        json.key("unit").string(diff.unit.unwrap_or("samples"));
        normalized(json.key("normalization"), diff);
        json.key("inlines").boolean(diff.inlines);
        json.key("exact_names").boolean(diff.exact_names);
        if !diff.filters.is_empty() {
            json.key("filters").array(&diff.filters, JsonWriter::string);
        }
        json.key("method").string(diff.method.as_str());
        json.key("tested").object(|json| {
            json.key("own").number(diff.tested[0]);
            json.key("inclusive").number(diff.tested[1]);
        });
        if let Some(gate) = options.gate {
            json.key("gate").string(gate.as_str());
        }
        json.key("not_compared").object(|json| {
            let [before, after] = diff.not_compared_shares();
            json.key("before").float(before);
            json.key("after").float(after);
        });
        json.end_line();
        side(json.key("before"), &diff.before);
        json.end_line();
        side(json.key("after"), &diff.after);
        json.end_line();
        change(json.key("total"), &diff.total);
        notes(json.key("notes"), diff, options.look.spelling);
        json.end_line();
        modules(json.key("modules"), diff);
        json.end_line();
        json.key("functions").array(diff.functions.iter(), |json, row| {
            one_function(json.line(), diff, row);
        });
        json.end_line();
        tree(json.key("tree"), diff);
    });
    json.end_line();
    out.write_all(&json.text)
}

fn meta(json: &mut JsonWriter) {
    json.object(|json| {
        json.key("schema").string(b"unwind-perf-diff");
        json.key("version").number(VERSION);
        json.key("generator").string(concat!("unwind-perf ", env!("CARGO_PKG_VERSION")));
    });
}

fn normalized(json: &mut JsonWriter, diff: &Diff) {
    json.object(|json| {
        json.key("by").string(diff.normalization.as_str());
        if let Normalization::Work { before, after } = diff.normalization {
            json.key("before").float(before);
            json.key("after").float(after);
        }
        if let Some(reason) = &diff.not_by_time {
            json.key("not_by_time").string(reason.to_string());
        }
    });
}

fn side(json: &mut JsonWriter, side: &DiffRuns) {
    json.object(|json| {
        json.key("complete_share").float(side.complete_share());
        json.key("truncated_share").float(side.truncated_share());
        json.key("recordings").array(side.runs.iter(), recording);
    });
}

fn recording(json: &mut JsonWriter, run: &DiffRun) {
    json.object(|json| {
        json.key("name").string(&run.name);
        if let Some(seconds) = run.seconds {
            json.key("seconds").float(seconds);
        }
        json.key("samples").number(run.total.samples);
        json.key("cost").number(run.total.cost);
        json.key("complete").number(run.complete);
        json.key("truncated").number(run.truncated);
        json.key("lost").number(run.lost);
        json.key("other_events").number(run.other_events);
        json.key("threads").number(run.threads);
    });
}

fn change(json: &mut JsonWriter, change: &Change) {
    json.object(|json| {
        cost(json.key("before"), change.before);
        cost(json.key("after"), change.after);
        json.key("delta").float(change.delta());
        json.key("ratio").float(change.ratio());
        json.key("low").float(change.interval.map(|[low, _]| low));
        json.key("high").float(change.interval.map(|[_, high]| high));
        json.key("p").float(change.p);
        json.key("marked").boolean(change.marked);
    });
}

fn cost(json: &mut JsonWriter, cost: DiffCost) {
    json.object(|json| {
        json.key("samples").number(cost.samples);
        json.key("cost").number(cost.cost);
        json.key("value").float(cost.value);
    });
}

fn notes(json: &mut JsonWriter, diff: &Diff, spelling: Spelling) {
    json.array(diff.notes.iter(), |json, note| {
        json.object(|json| {
            json.key("kind").string(note.kind());
            json.key("message").string(sentence(diff, note, spelling));
        });
    });
}

fn modules(json: &mut JsonWriter, diff: &Diff) {
    json.array(diff.modules.iter(), |json, row| {
        json.object(|json| {
            json.key("name").string(diff.text(row.name));
            if let Some(name) = row.other_name {
                json.key("name_after").string(diff.text(name));
            }
            json.key("paired_by").maybe_string(row.paired.map(|by| by.as_str()));
            let [before, after] = row.sampled;
            json.key("before").boolean(before);
            json.key("after").boolean(after);
            json.key("same_file").boolean(row.same_build);
            json.key("inlines").boolean(diff.inlines && !row.without_inlines);
        });
    });
}

fn one_function(json: &mut JsonWriter, diff: &Diff, row: &DiffFunction) {
    json.object(|json| {
        json.key("name").string(function(diff, row));
        if let Some(module) = row.module {
            json.key("module").number(module.index());
        }
        if let Some(reason) = row.not_compared {
            json.key("not_compared").string(reason.as_str());
        }
        change(json.key("own"), &row.own);
        change(json.key("inclusive"), &row.inclusive);
    });
}

/// Appends the tree in columns. A node is a function, the name of a thread, or `[truncated]` if it is neither.
fn tree(json: &mut JsonWriter, diff: &Diff) {
    json.object(|json| {
        let rows = || diff.tree.iter();
        json.key("length").number(diff.tree.len());
        let parents = rows().map(|node| node.parent.map(DiffNodeId::index));
        json.key("parent").array(parents, JsonWriter::maybe);
        let functions = rows().map(|node| match node.label {
            DiffLabel::Function(function) => Some(function.index()),
            DiffLabel::Thread(_) | DiffLabel::Truncated => None,
        });
        json.key("function").array(functions, JsonWriter::maybe);
        let threads = rows().map(|node| match node.label {
            DiffLabel::Thread(name) => Some(diff.text(name)),
            DiffLabel::Function(_) | DiffLabel::Truncated => None,
        });
        json.key("thread").array(threads, JsonWriter::maybe_string);
        let before = || rows().map(|node| node.before);
        let after = || rows().map(|node| node.after);
        json.key("before_samples").array(before(), |json, it| json.number(it.samples));
        json.key("before_value").array(before(), |json, it| json.float(it.value));
        json.key("after_samples").array(after(), |json, it| json.number(it.samples));
        json.key("after_value").array(after(), |json, it| json.float(it.value));
    });
}
