//! The tool `source`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use pipeline::{Analysis, Svma};
use profile::query::{
    Annotation, Cost, FunctionMarks, FunctionQuery, Functions, LineCost, address_costs, annotate,
    stack_costs,
};
use profile::{Profile, StackId, StringId};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use super::cost_rows::{add_costs, function, label};
use super::functions::{OTHERS, unknown};
use crate::answer::Answer;
use crate::arguments::{CountedArgs, rows};
use crate::refusal::Refusal;
use crate::selected::{Counted, weights};
use crate::text::{TextTable, of_profile, safe, share};

/// Default number of lines, and of instructions.
const ROWS: usize = 40;

/// Columns that a tab in a source line stands for.
const TAB: &str = "    ";

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct Args {
    /// The function: its name or a part of it; `FILE:NAME`, an address, or `NAME (MARK)` selects one of several.
    function: String,
    #[serde(flatten)]
    counted: CountedArgs,
    /// True to list instructions that have a cost.
    #[serde(default)]
    instructions: bool,
    /// Most lines, and most instructions, the costliest ones; 40 if it is omitted.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

pub(super) fn answer(call: &Call<'_>, args: &Args) -> Result<Answer, Refusal> {
    let limit = rows(args.limit, ROWS)?;
    let loaded = call.load_counted(&args.counted)?;
    let analysis: &Analysis = &loaded.profile;
    let profile = &analysis.profile;
    let weights = weights(profile, &args.counted)?;
    let functions = Functions::new(profile, true);
    let query = FunctionQuery { profile, functions: &functions, text: &args.function };
    let stacks = stack_costs(profile, &weights);
    let found = query.find(|is_wanted| annotate(profile, &stacks, &functions, is_wanted));
    let Some((found, others)) = found.split_first() else {
        return Err(unknown(profile, &functions, &args.function));
    };
    let marks = FunctionMarks::new(profile, &functions.rows);
    let all = profile.samples.iter().filter_map(|row| weights.of(row));
    let total: Cost = all.map(|weight| Cost { samples: 1, weight }).sum();
    let counted = Counted::new(profile, &weights, total);
    let parts = FunctionParts {
        row: function(profile, &found.function, &marks),
        also: others.iter().map(|it| label(&function(profile, &it.function, &marks))).collect(),
        lines: lines(call, analysis, found),
        instructions: args.instructions.then(|| instructions(analysis, &stacks, found)),
    };
    Ok(Answer::within(limit, "limit", |most| {
        parts.answer(counted.answer(&loaded.name), &counted, [found.own, found.inclusive], most)
    }))
}

/// Parts of a function's answer.
struct FunctionParts {
    row: Map<String, Value>,
    also: Vec<String>,
    lines: Vec<CostRow>,
    /// Instructions, if they were asked for, or the reason that there are none.
    instructions: Option<Result<Vec<CostRow>, String>>,
}

/// A line or an instruction.
struct CostRow {
    row: Map<String, Value>,
    /// Its text in a table.
    label: String,
    costs: [Cost; 2],
}

impl FunctionParts {
    fn answer(
        &self,
        mut answer: Answer,
        counted: &Counted,
        costs: [Cost; 2],
        most: usize,
    ) -> Answer {
        let (total, unit) = (counted.total, counted.unit);
        let [own, inclusive] = costs.map(|cost| share(cost, total));
        answer.line(format!("{}: own {own} %, inclusive {inclusive} %", label(&self.row)));
        let mut row = self.row.clone();
        add_costs(&mut row, costs, total, unit);
        answer.set("function", row);
        let also = self.also.get(..OTHERS).unwrap_or(&self.also);
        if !also.is_empty() {
            answer.line(format!("also with such a name: {}", also.join(", ")));
            answer.set("also", also.to_vec());
        }
        let mut omitted = 0;
        let mut add = |answer: &mut Answer, name: &str, all: &[CostRow]| {
            let shown = costliest(all, most);
            omitted += all.len() - shown.len();
            let mut lines = TextTable::new(&["own %", "inclusive %", name]);
            let mut rows = Vec::new();
            for CostRow { row, label, costs } in shown {
                let [own, inclusive] = costs.map(|cost| share(cost, total));
                lines.push(vec![own, inclusive, label.clone()]);
                let mut row = row.clone();
                add_costs(&mut row, *costs, total, unit);
                rows.push(Value::Object(row));
            }
            answer.text.push_str(&lines.text());
            answer.set(name, rows);
        };
        add(&mut answer, "lines", &self.lines);
        match &self.instructions {
            None => {}
            Some(Ok(rows)) => add(&mut answer, "instructions", rows),
            Some(Err(reason)) => {
                answer.line(format!("no instructions: {reason}"));
                answer.set("no_instructions", reason.clone());
            }
        }
        answer.omit(omitted);
        answer
    }
}

/// Returns the costliest rows in their original order.
fn costliest(rows: &[CostRow], most: usize) -> Vec<&CostRow> {
    let mut ranked: Vec<(usize, &CostRow)> = rows.iter().enumerate().collect();
    ranked.sort_by_key(|(_, row)| {
        let [own, inclusive] = row.costs;
        Reverse((own.weight, inclusive.weight))
    });
    ranked.truncate(most);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, row)| row).collect()
}

/// Returns the lines of a function, with the text of those whose file is available. An answer goes to others, so only
/// files with the ending of a source file are read.
fn lines(call: &Call<'_>, analysis: &Analysis, found: &Annotation) -> Vec<CostRow> {
    let options = &call.recordings.options;
    let files = analysis.source_files(&options.options.files, &**options.pipeline.host());
    let mut texts: HashMap<StringId, Vec<String>> = HashMap::new();
    let mut text = |file: StringId, line: u32| {
        let lines = texts.entry(file).or_insert_with(|| {
            let text = files.text_to_show(analysis.profile.strings.get(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).lines().map(|it| it.replace('\t', TAB)).collect()
        });
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        lines.get(at).map(|text| safe(text.as_bytes()))
    };
    let row = |it: &LineCost| {
        let text = it.file.and_then(|file| text(file, it.line));
        line(&analysis.profile, it, text)
    };
    found.lines.iter().map(row).collect()
}

fn line(profile: &Profile, it: &LineCost, text: Option<String>) -> CostRow {
    let file = it.file.map(|file| of_profile(profile, file));
    let last = file.as_deref().map_or("[no file]", |file| file.rsplit('/').next().unwrap_or(file));
    let mut label =
        if it.line == 0 { "[no line]".to_owned() } else { format!("{last}:{}", it.line) };
    if let Some(text) = &text {
        label.push_str(&format!("  {text}"));
    }
    let mut row = Map::new();
    row.insert("file".to_owned(), json!(file));
    row.insert("line".to_owned(), json!((it.line > 0).then_some(it.line)));
    if let Some(text) = text {
        row.insert("text".to_owned(), json!(text));
    }
    CostRow { row, label, costs: [it.own, it.inclusive] }
}

/// Returns the instructions of a function that have a cost.
fn instructions(
    analysis: &Analysis,
    stacks: &[(StackId, Cost)],
    found: &Annotation,
) -> Result<Vec<CostRow>, String> {
    let &(place, _) = found.code.first().ok_or("the begin of the function is unknown")?;
    let decoded = analysis.code().instructions(place.0, Svma(place.1));
    let decoded = decoded.map_err(|error| safe(error.to_string().as_bytes()))?;
    let costs = address_costs(&analysis.profile, stacks, place).into_iter();
    let costs: BTreeMap<u64, [Cost; 2]> =
        costs.map(|it| (it.address, [it.own, it.inclusive])).collect();
    let rows = decoded.into_iter().filter_map(|it| {
        let begin = it.address.0;
        // A call has its cost at its last byte.
        let inside = costs.range(begin..begin + u64::from(it.len.max(1)));
        let sums: [Vec<Cost>; 2] = inside.map(|(_, [own, all])| (*own, *all)).unzip().into();
        let costs = sums.map(|costs| costs.into_iter().sum::<Cost>());
        let [_, inclusive] = costs;
        let text = safe(it.text.replace('\t', " ").as_bytes());
        let row = Map::from_iter([
            ("address".to_owned(), json!(format!("{begin:#x}"))),
            ("text".to_owned(), json!(text)),
        ]);
        let label = format!("{begin:#x}  {text}");
        (inclusive.samples > 0).then_some(CostRow { row, label, costs })
    });
    Ok(rows.collect())
}
