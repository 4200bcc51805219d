//! Durations of spans, by name and by the values of a field or label.

use std::io;

use options::{Percent, TopFormat, parse_percent};
use profile::query::{DurationRange, SpanGroup, histogram, percentile, span_groups};
use profile::{Profile, StringId};
use serde::Serialize;

use super::labels;
use super::look::ConsoleLook;
use super::top_columns::{CostColumn, shown, width_of};
use crate::printer::Printer;
use crate::render::field_value::{value_json, value_text};
use crate::render::numbers::{counted, grouped};
use crate::render::width::{cut_middle, wrapped_text};

/// Prints the number of spans, their sums, percentiles and histograms.
#[derive(Debug)]
pub struct SpanDurations {
    /// Name of the label or field that spans are grouped by.
    pub by: Option<String>,
    /// Maximum number of rows; 0 for all.
    pub limit: usize,
    /// Output format, for people or for programs.
    pub format: TopFormat,
    /// Appearance of the table.
    pub look: ConsoleLook,
}

/// Percentiles of a row.
const PERCENTILES: [&str; 3] = ["50", "90", "99"];
/// Width of the longest bar of a histogram, in columns.
const BAR: u64 = 40;

/// Text of a string of a profile.
type TextOf<'p> = &'p dyn Fn(StringId) -> String;

/// Durations of spans for programs: the same object in all interfaces.
#[derive(Debug, Serialize)]
pub struct SpanDocument {
    schema: &'static str,
    version: u32,
    by: Option<String>,
    unit: &'static str,
    rows: Vec<Row>,
    /// Number of omitted rows.
    left_out: usize,
}

impl SpanDocument {
    /// Lists at most `limit` groups of spans, the longest sum first. `by` names a label or fields; `text` returns a
    /// string of the profile.
    #[must_use]
    pub fn new(profile: &Profile, by: Option<&str>, limit: usize, text: TextOf<'_>) -> Self {
        let groups = span_groups(profile, by);
        Self {
            schema: "unwind-perf.spans",
            version: 1,
            by: by.map(str::to_owned),
            unit: "nanoseconds",
            left_out: groups.len().saturating_sub(limit),
            rows: groups.iter().take(limit).map(|group| Row::new(group, text)).collect(),
        }
    }
}

/// The numbers of a group. Durations are in nanoseconds.
#[derive(Debug, Serialize)]
struct Row {
    span: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
    spans: u64,
    total: u64,
    #[serde(rename = "self")]
    own: u64,
    min: u64,
    p50: u64,
    p90: u64,
    p99: u64,
    max: u64,
    histogram: Vec<Range>,
}

/// A range of durations from `from` to before `to`, in nanoseconds.
#[derive(Debug, Serialize)]
struct Range {
    from: u64,
    to: u64,
    spans: u64,
}

impl Printer for SpanDurations {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let by = self.by.as_deref();
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let text = |id| String::from_utf8_lossy(profile.strings.get(id)).into_owned();
        match self.format {
            TopFormat::Text => self.text(profile, &span_groups(profile, by), limit, out),
            TopFormat::Json => {
                let document = SpanDocument::new(profile, by, limit, &text);
                serde_json::to_writer_pretty(&mut *out, &document)?;
                out.write_all(b"\n")
            }
            TopFormat::Csv => self.csv(SpanDocument::new(profile, by, limit, &text).rows, out),
        }
    }
}

impl SpanDurations {
    /// Prints CSV with a header; `value` and `missing` only if spans are grouped.
    ///
    /// Source: RFC 4180, with line feeds.
    fn csv(&self, rows: Vec<Row>, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let value = if self.by.is_some() { &["value", "missing"][..] } else { &[] };
        let numbers = ["spans", "total", "self", "min", "p50", "p90", "p99", "max"];
        writer.write_record(["span"].iter().chain(value).chain(&numbers))?;
        for row in rows {
            let mut cells = vec![row.span];
            if self.by.is_some() {
                cells.push(match row.value {
                    Some(serde_json::Value::String(text)) => text,
                    Some(value) => value.to_string(),
                    None => String::new(),
                });
                cells.push(row.missing.unwrap_or_default().to_owned());
            }
            let numbers =
                [row.spans, row.total, row.own, row.min, row.p50, row.p90, row.p99, row.max];
            cells.extend(numbers.map(|number| number.to_string()));
            writer.write_record(cells)?;
        }
        writer.flush()
    }

    fn text(
        &self,
        profile: &Profile,
        groups: &[SpanGroup],
        limit: usize,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut text = String::new();
        let all = span_groups(profile, None);
        for of_name in &all {
            let name = labels::text(profile.strings.get(of_name.name));
            let spans = counted(of_name.durations.len() as u64, "span");
            let total = duration(of_name.total);
            let line = format!("{spans} of {name}, {total} in all");
            text.push_str(&format!("{}\n", wrapped_text(&line, self.look.width, 2)));
        }
        if !groups.is_empty() {
            self.table(profile, groups.get(..limit).unwrap_or(groups), &mut text);
        }
        let rest = groups.len().saturating_sub(limit);
        if rest > 0 {
            text.push_str(&self.look.more("", rest, "more row"));
        }
        for of_name in &all {
            self.histogram(profile, of_name, &mut text);
        }
        out.write_all(text.as_bytes())
    }

    fn table(&self, profile: &Profile, groups: &[SpanGroup], text: &mut String) {
        let no_text = |_| String::new();
        let rows: Vec<Row> = groups.iter().map(|group| Row::new(group, &no_text)).collect();
        let column = |heading, rank, of: fn(&Row) -> u64| {
            let cells = rows.iter().map(|row| duration(of(row)));
            CostColumn::new(heading, 0, cells).omitted(rank, ConsoleLook::LEAST_NAME)
        };
        let columns = vec![
            CostColumn::new("spans", 0, rows.iter().map(|row| grouped(row.spans))),
            column("total", 0, |row| row.total),
            column("self", 2, |row| row.own),
            column("p50", 0, |row| row.p50),
            column("p90", 1, |row| row.p90),
            column("p99", 0, |row| row.p99),
            column("max", 1, |row| row.max),
        ];
        let mut columns = shown(columns, self.look.width);
        let has_several =
            groups.iter().any(|group| groups.first().map(|it| it.name) != Some(group.name));
        if self.by.is_some() && has_several {
            let names = groups.iter().map(|it| labels::text(profile.strings.get(it.name)));
            columns.push(CostColumn::new("span", 0, names).left());
        }
        let heading = self.look.heading();
        let mut head: String = columns.iter().map(|column| column.head() + "  ").collect();
        head.push_str(self.by.as_deref().unwrap_or("span"));
        text.push_str(&format!("{heading}{}{heading:#}\n", head.trim_end()));
        let room = self.look.remaining(width_of(&columns));
        for (at, group) in groups.iter().enumerate() {
            text.extend(columns.iter().map(|column| column.cell(at) + "  "));
            let span = labels::text(profile.strings.get(group.name));
            let name = match group.value {
                None => span,
                Some(value) => labels::text(&value_text(profile, value)),
            };
            text.push_str(&format!("{}\n", cut_middle(&name, room)));
        }
    }

    fn histogram(&self, profile: &Profile, group: &SpanGroup, text: &mut String) {
        let ranges = histogram(&group.durations);
        let most = ranges.iter().map(|range| range.count).max().unwrap_or(1);
        let (heading, faint) = (self.look.heading(), self.look.faint());
        let name = labels::text(profile.strings.get(group.name));
        text.push_str(&format!("\n{heading}durations of {name}{heading:#}\n"));
        for DurationRange { from, to, count } in ranges {
            let length = (count * BAR).div_ceil(most.max(1)) as usize;
            let bar = "#".repeat(length);
            let line = format!(
                "{:>8} to {:>8}  {:>10}  {faint}{bar}{faint:#}",
                duration(from),
                duration(to),
                grouped(count)
            );
            text.push_str(&format!("{}\n", line.trim_end()));
        }
    }
}

impl Row {
    fn new(group: &SpanGroup, text: TextOf<'_>) -> Self {
        let (value, missing) = match group.value {
            None => (None, None),
            Some(Err(missing)) => (None, Some(missing.as_str())),
            Some(Ok(value)) => (Some(value_json(value, text)), None),
        };
        let durations = &group.durations;
        let [p50, p90, p99] = PERCENTILES.map(|percent| {
            let percent: Option<Percent> = parse_percent(percent).ok();
            percent.and_then(|percent| percentile(durations, &percent)).unwrap_or(0)
        });
        let ranges = histogram(durations).into_iter();
        Self {
            span: text(group.name),
            value,
            missing,
            spans: durations.len() as u64,
            total: group.total,
            own: group.own,
            min: durations.first().copied().unwrap_or(0),
            p50,
            p90,
            p99,
            max: durations.last().copied().unwrap_or(0),
            histogram: ranges
                .map(|DurationRange { from, to, count }| Range { from, to, spans: count })
                .collect(),
        }
    }
}

/// Formats a duration with three digits, such as `12.3 ms`.
fn duration(nanoseconds: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];
    let fits = |(size, _): &&(u64, &str)| nanoseconds >= *size;
    let &(size, unit) = UNITS.iter().find(fits).unwrap_or(&(1, "ns"));
    let whole = nanoseconds / size;
    let decimals = if size == 1 { 0 } else { 3_usize.saturating_sub(whole.to_string().len()) };
    if whole >= 1_000 {
        return format!("{} {unit}", grouped(whole));
    }
    format!("{:.decimals$} {unit}", nanoseconds as f64 / size as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (nanoseconds, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (123_456, "123 µs"),
            (1_500_000_000, "1.50 s"),
            (4_321_000_000_000, "4,321 s"),
        ] {
            assert_eq!(duration(nanoseconds), text);
        }
    }
}
