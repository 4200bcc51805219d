//! A page that shows a profile in a browser: flame graph, tables, timeline, quality. All of it is in one file, and it asks
//! for nothing: the tables of the profile are in the page, compressed, and its own few scripts count and draw them.
//!
//! The scripts are written for this: at a million samples, what counts is that tables stay columns of numbers until the
//! few hundred frames that are drawn are known.

mod base64;
mod tree;

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::printer::Printer;
use crate::render::text::push_json;
use crate::summary::write_summary;
use base64::Base64;
use profile::query::period_units;
use profile::{EndReason, Profile, StringId};
use tree::{NodeId, PageTree};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 5] = [
    include_str!("data.js"),
    include_str!("flame.js"),
    include_str!("timeline.js"),
    include_str!("tables.js"),
    include_str!("main.js"),
];

/// What stands for "none" in columns of numbers. `data.js` has the same.
const NONE: u32 = u32::MAX;

/// Bytes of a column that are collected before they are compressed.
const FLUSH_SIZE: usize = 1 << 16;

/// Prints the page.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Whether inlined functions are frames of their own.
    pub inlines: bool,
}

impl Printer for Page {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        for part in parts(PAGE) {
            match part {
                PagePart::Text(text) => out.write_all(text.as_bytes())?,
                PagePart::Style => out.write_all(STYLE.as_bytes())?,
                PagePart::Script => {
                    SCRIPTS.iter().try_for_each(|text| out.write_all(text.as_bytes()))?
                }
            }
        }
        let tree = PageTree::new(profile, self.inlines);
        let mut sink = GzEncoder::new(Base64::new(out), Compression::new(6));
        let columns = PageColumns::new(profile, &tree);
        let head = columns.head(profile, &tree)?;
        sink.write_all(&(head.len() as u32).to_le_bytes())?;
        sink.write_all(&[0; 4])?;
        sink.write_all(&head)?;
        sink.write_all(&[0; 8][..(8 - head.len() % 8) % 8])?;
        columns.write(profile, &tree, &mut sink)?;
        let out = sink.finish()?.finish()?;
        out.write_all(b"\n</script>\n</body>\n</html>\n")
    }
}

/// A part of the page.
enum PagePart<'a> {
    Text(&'a str),
    Style,
    Script,
}

/// The page with its two marks.
fn parts(page: &str) -> Vec<PagePart<'_>> {
    let mut parts = Vec::new();
    let (before, rest) = page.split_once("/*STYLE*/").unwrap_or((page, ""));
    parts.extend([PagePart::Text(before), PagePart::Style]);
    let (between, after) = rest.split_once("/*SCRIPT*/").unwrap_or((rest, ""));
    parts.extend([PagePart::Text(between), PagePart::Script, PagePart::Text(after)]);
    parts
}

/// How the columns of samples are stated.
struct PageColumns {
    /// Name, type and length of each, in order.
    shapes: Vec<(&'static str, &'static str, usize)>,
    /// The first sample's time.
    origin: u64,
    /// Nanoseconds of a unit of time: the whole recording fits into 32 bits.
    unit: u64,
    periods: bool,
}

impl PageColumns {
    fn new(profile: &Profile, tree: &PageTree) -> Self {
        let times = || profile.samples.iter().filter_map(|sample| sample.time).map(|time| time.0);
        let (origin, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        // One less than what stands for no end.
        let unit = ((last - origin) / (u64::from(u32::MAX) - 2)) + 1;
        let periods = profile.samples.iter().any(|sample| sample.period.is_some());
        let (nodes, leaves, n) = (tree.nodes.len(), tree.leaves.len(), profile.samples.len());
        let mut shapes = vec![
            ("parent", "u32", nodes),
            ("func", "u32", nodes),
            ("line", "u32", nodes),
            ("lines", "u32", nodes),
            ("flags", "u8", nodes),
            ("leaf_node", "u32", leaves),
            ("leaf_line", "u32", leaves),
            ("leaf_end", "u8", leaves),
            ("time", "u32", n),
            ("thread", "u32", n),
            ("leaf", "u32", n),
            ("event", "u8", n),
        ];
        if periods {
            shapes.push(("period", "f64", n));
        }
        Self { shapes, origin, unit, periods }
    }

    /// What the page must know before it reads the columns, as JSON.
    fn head(&self, profile: &Profile, tree: &PageTree) -> io::Result<Vec<u8>> {
        let mut text = b"{\"title\":\"".to_vec();
        let words: Vec<&[u8]> =
            profile.recording.command_line.iter().map(|&id| profile.strings.get(id)).collect();
        let title = if words.is_empty() { b"Profile".to_vec() } else { words.join(&b' ') };
        push_json(&mut text, &title);
        let mut summary = Vec::new();
        write_summary(profile, &mut summary)?;
        text.extend_from_slice(b"\",\"summary\":\"");
        push_json(&mut text, &summary);
        text.extend_from_slice(format!("\",\"unit\":{},\"events\":[", self.unit).as_bytes());
        let units = period_units(profile);
        each(&mut text, profile.events.entries(), |text, (id, event)| {
            text.extend_from_slice(b"{\"name\":\"");
            push_json(text, profile.strings.get(event.name));
            let unit = units.get(id).copied().flatten().unwrap_or("count");
            text.extend_from_slice(format!("\",\"unit\":\"{unit}\"}}").as_bytes());
        });
        text.extend_from_slice(b"],\"ends\":[");
        each(&mut text, EndReason::ALL.iter(), |text, end| {
            text.extend_from_slice(format!("\"{}\"", end.as_str()).as_bytes());
        });
        text.extend_from_slice(b"],\"rooted\":[");
        each(&mut text, EndReason::ALL.iter(), |text, &end| {
            text.extend_from_slice(if end.is_rooted() { b"1" } else { b"0" });
        });
        text.extend_from_slice(b"],\"threads\":[");
        each(&mut text, profile.threads.iter(), |text, thread| {
            text.extend_from_slice(format!("[{},{},\"", thread.pid, thread.tid).as_bytes());
            push_json(text, profile.strings.get(thread.comm));
            text.extend_from_slice(b"\"]");
        });
        // The strings of functions, and after them one for those without a name.
        text.extend_from_slice(b"],\"functions\":[");
        let unknown = tree.strings.len() as i64;
        let index = |id: Option<StringId>| {
            id.and_then(|id| tree.strings.binary_search(&id).ok()).map_or(-1, |at| at as i64)
        };
        each(&mut text, tree.functions.iter(), |text, function| {
            let name = Some(index(function.name)).filter(|&at| at >= 0).unwrap_or(unknown);
            let (file, module) = (index(function.file), index(function.module));
            text.extend_from_slice(format!("[{name},{file},{module}]").as_bytes());
        });
        text.extend_from_slice(b"],\"names\":[");
        let names = tree.strings.iter().map(|&id| profile.strings.get(id));
        each(&mut text, names.chain([&b"[unknown]"[..]]), |text, name| {
            text.push(b'"');
            push_json(text, if name.is_empty() { b"[unknown]" } else { name });
            text.push(b'"');
        });
        text.extend_from_slice(b"],\"columns\":[");
        each(&mut text, self.shapes.iter(), |text, (name, kind, length)| {
            text.extend_from_slice(format!("[\"{name}\",\"{kind}\",{length}]").as_bytes());
        });
        text.extend_from_slice(b"]}");
        Ok(text)
    }

    /// The columns, in the order of the head, each filled up to 8 bytes.
    fn write(
        &self,
        profile: &Profile,
        tree: &PageTree,
        sink: &mut dyn io::Write,
    ) -> io::Result<()> {
        let nodes = &tree.nodes;
        column(
            sink,
            nodes.iter().map(|node| node.parent.map_or(NONE, NodeId::as_u32).to_le_bytes()),
        )?;
        column(sink, nodes.iter().map(|node| node.function.as_u32().to_le_bytes()))?;
        column(sink, nodes.iter().map(|node| node.line.to_le_bytes()))?;
        column(sink, nodes.iter().map(|node| node.lines.to_le_bytes()))?;
        column(sink, nodes.iter().map(|node| [node.flags]))?;
        column(
            sink,
            tree.leaves.iter().map(|leaf| leaf.node.map_or(NONE, NodeId::as_u32).to_le_bytes()),
        )?;
        column(sink, tree.leaves.iter().map(|leaf| leaf.line.to_le_bytes()))?;
        column(sink, tree.leaves.iter().map(|leaf| [leaf.end as u8]))?;
        let samples = &profile.samples;
        let mut before = 0;
        let deltas = samples.iter().map(|sample| {
            let now = sample.time.map_or(before, |time| (time.0 - self.origin) / self.unit);
            let now = now.max(before);
            (std::mem::replace(&mut before, now).abs_diff(now) as u32).to_le_bytes()
        });
        column(sink, deltas)?;
        column(sink, samples.iter().map(|sample| sample.thread.as_u32().to_le_bytes()))?;
        column(sink, tree.of_sample.iter().map(|leaf| leaf.as_u32().to_le_bytes()))?;
        column(sink, samples.iter().map(|sample| [sample.event.as_u32().min(255) as u8]))?;
        if self.periods {
            let periods = samples.iter().map(|sample| sample.period.unwrap_or(1) as f64);
            column(sink, periods.map(f64::to_le_bytes))?;
        }
        Ok(())
    }
}

/// Appends values with commas between them.
fn each<T>(text: &mut Vec<u8>, values: impl Iterator<Item = T>, put: impl Fn(&mut Vec<u8>, T)) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        put(text, value);
    }
}

fn column<const N: usize>(
    sink: &mut dyn io::Write,
    values: impl Iterator<Item = [u8; N]>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(FLUSH_SIZE + 8);
    let mut length = 0;
    for value in values {
        bytes.extend_from_slice(&value);
        length += N;
        if bytes.len() >= FLUSH_SIZE {
            sink.write_all(&bytes)?;
            bytes.clear();
        }
    }
    bytes.resize(bytes.len() + (8 - length % 8) % 8, 0);
    sink.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_put_together() {
        let shown: Vec<&str> = parts("a/*STYLE*/b/*SCRIPT*/c")
            .iter()
            .map(|part| match part {
                PagePart::Text(text) => text,
                PagePart::Style => "style",
                PagePart::Script => "script",
            })
            .collect();
        assert_eq!(shown, ["a", "style", "b", "script", "c"]);
        assert!(PAGE.contains("/*STYLE*/") && PAGE.contains("/*SCRIPT*/"));
        assert!(SCRIPTS.iter().all(|text| !text.contains("</script")));
        let none = SCRIPTS.iter().any(|text| text.contains("const NONE = 0xffffffff,"));
        assert!(none, "the page knows it, too");
    }
}
