//! Tables of a growing recording: they have the same contents as the page's, for any division into steps.

use std::collections::BTreeMap;
use std::ops::Range;

use address::{Pid, Tid, Timestamp};
use formats::{LivePage, LiveStep};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LocationId, LocationRow,
    Profile, RowId as _, SampleRow, StackRow, ThreadId, ThreadRow,
};
use serde_json::Value;

use crate::page::{columns, tables};
use crate::support::sample_profile::one_of_everything;

/// Number that means "none".
const NONE: f64 = u32::MAX as f64;

/// Flag of a node that most of its stacks have from other samples; the page computes it itself.
const JOINED: u64 = 16;

type Columns = BTreeMap<String, Vec<f64>>;

/// A reader of the tables.
struct Client {
    head: Value,
    columns: Columns,
}

/// Splits the bytes into a head and its columns.
fn read(bytes: &[u8]) -> (Value, Columns) {
    let length = u64::from_le_bytes(*bytes.first_chunk().expect("a length")) as usize;
    let head: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("valid JSON");
    let columns = columns(&head, &bytes[8 + length.next_multiple_of(8)..]);
    (head, columns)
}

impl Client {
    fn begin(page: &LivePage) -> Self {
        let (head, columns) = read(&page.tables(3).expect("something came"));
        assert_eq!(head["live"], 3);
        let mut client = Self { head, columns };
        client.add_up();
        client
    }

    fn add_up(&mut self) {
        let mut sum = 0.0;
        for time in self.columns.get_mut("time").expect("times") {
            sum += *time;
            *time = sum;
        }
    }

    fn rows(&self, name: &str) -> usize {
        self.columns[name].len()
    }

    /// Applies a step.
    fn step(&mut self, bytes: &[u8]) {
        let (head, mut rows) = read(bytes);
        let forgotten = head["forgotten"].as_u64().expect("a number") as usize;
        let functions = self.head["functions"].as_array().expect("functions").len();
        let had = [
            self.rows("parent"),
            self.rows("leafNode"),
            self.rows("placeLow"),
            functions,
            self.rows("time") - forgotten,
        ];
        assert_eq!(head["first"], serde_json::json!(had));
        for name in ["time", "thread", "leaf", "event", "period"] {
            if let Some(column) = self.columns.get_mut(name) {
                column.drain(..forgotten);
            }
        }
        let moved = rows.remove("movedLeaf").expect("leaves");
        let nodes = rows.remove("movedNode").expect("nodes");
        for (leaf, node) in moved.into_iter().zip(nodes) {
            self.columns.get_mut("leafNode").expect("leaves")[leaf as usize] = node;
        }
        for (name, more) in rows {
            self.columns.get_mut(&name).expect("a column").extend(more);
        }
        for name in ["functions", "names"] {
            let more = head[name].as_array().expect("rows").clone();
            self.head[name].as_array_mut().expect("rows").extend(more);
        }
        for name in ["modules", "threads"] {
            for row in head[name].as_array().expect("rows") {
                let at = row[0].as_u64().expect("a row") as usize;
                let all = self.head[name].as_array_mut().expect("rows");
                if at == all.len() {
                    all.push(row[1].clone());
                } else {
                    all[at] = row[1].clone();
                }
            }
        }
    }

    fn samples(&self) -> Vec<String> {
        samples(&self.head, &self.columns)
    }
}

/// Describes each sample: time, thread, end reason, and its stack with names, lines and flags.
fn samples(head: &Value, columns: &Columns) -> Vec<String> {
    let at = |name: &str, row: f64| columns[name][row as usize];
    let frame = |node: f64| {
        let row = &head["functions"][at("func", node) as usize];
        let name = |number: &Value| match number.as_i64().expect("a number") {
            -1 => "?".to_owned(),
            number => head["names"][number as usize].to_string(),
        };
        let module = match row[2].as_i64().expect("a number") {
            -1 => "?".to_owned(),
            number => head["modules"][number as usize]["path"].to_string(),
        };
        let flags = at("flags", node) as u64 & !JOINED;
        format!("{} {} {module} {} {flags}", name(&row[0]), name(&row[1]), at("line", node))
    };
    let mut all = Vec::new();
    for (row, &leaf) in columns["leaf"].iter().enumerate() {
        let mut node = at("leafNode", leaf);
        let mut stack = Vec::new();
        while node != NONE {
            stack.push(frame(node));
            node = at("parent", node);
        }
        let place = match at("leafPlace", leaf) {
            NONE => "nowhere".to_owned(),
            place => format!("{:?}", (at("placeLow", place), at("placeHigh", place))),
        };
        let thread = &head["threads"][columns["thread"][row] as usize];
        let thread = format!("{} {} {}", thread[0], thread[1], thread[2]);
        let event = columns["event"][row];
        let end = at("leafEnd", leaf);
        all.push(format!("{thread} {event} {end} {place}: {stack:?}"));
    }
    all
}

fn step(profile: &Profile, forgotten: u64, named: Range<u32>) -> LiveStep<'_> {
    let [start, end] = [named.start, named.end].map(|at| LocationId::from_index(at as usize));
    LiveStep { profile, forgotten, named: start..end }
}

/// Truncates a profile to its first `samples` samples.
fn part(mut profile: Profile, samples: usize) -> Profile {
    profile.samples.truncate(samples);
    profile
}

fn locations(profile: &Profile) -> u32 {
    profile.locations.len() as u32
}

#[test]
fn they_say_what_the_page_says() {
    let profile = one_of_everything();
    let mut live = LivePage::new(true);
    assert!(live.tables(1).is_none());
    assert!(live.grow(&step(&profile, 0, 0..locations(&profile))).is_none());
    let (head, bytes) = tables(&profile);
    let page = columns(&head, &bytes);
    assert_eq!(Client::begin(&live).samples(), samples(&head, &page));
    assert_eq!(live.samples(), profile.samples.len());
    live.end(&profile);
    let (ended, _) = read(&live.tables(9).unwrap());
    for key in ["title", "summary", "recording", "events", "ends", "rooted", "complete", "losses"] {
        assert_eq!(ended[key], head[key], "{key}");
    }
}

#[test]
fn steps_lead_to_the_same() {
    let profile = one_of_everything();
    let mut whole = LivePage::new(true);
    whole.grow(&step(&profile, 0, 0..0));
    let expected = Client::begin(&whole).samples();
    for first in 1..profile.samples.len() {
        let mut live = LivePage::new(true);
        live.grow(&step(&part(one_of_everything(), first), 0, 0..0));
        let mut client = Client::begin(&live);
        // A statement about all samples of an event may be true only of the first ones. Then all tables are sent again.
        match live.grow(&step(&profile, 0, 0..0)) {
            Some(rows) => client.step(&rows),
            None => client = Client::begin(&live),
        }
        assert_eq!(client.samples(), expected, "{first}");
        // A step without changes is short.
        let nothing = live.grow(&step(&profile, 0, 0..0)).expect("no change");
        client.step(&nothing);
        assert_eq!(client.samples(), expected);
    }
}

#[test]
fn names_that_come_later_move_what_was_there() {
    let profile = one_of_everything();
    let mut unnamed = one_of_everything();
    for location in unnamed.locations.iter_mut() {
        location.n_inlines = 0;
    }
    let mut live = LivePage::new(true);
    live.grow(&step(&unnamed, 0, 0..0));
    let mut client = Client::begin(&live);
    assert!(client.samples().iter().all(|sample| !sample.contains("main")));
    let rows = live.grow(&step(&profile, 0, 0..locations(&profile))).expect("rows");
    client.step(&rows);
    let mut whole = LivePage::new(true);
    whole.grow(&step(&profile, 0, 0..0));
    assert_eq!(client.samples(), Client::begin(&whole).samples());
    assert_eq!(Client::begin(&live).samples(), client.samples());
}

#[test]
fn what_is_forgotten_goes_from_the_front() {
    let profile = one_of_everything();
    let all = profile.samples.len();
    let mut live = LivePage::new(false);
    live.grow(&step(&profile, 0, 0..0));
    let mut client = Client::begin(&live);
    let expected = client.samples();
    let mut rest = one_of_everything();
    rest.samples.drop_first(2);
    client.step(&live.grow(&step(&rest, 2, 0..0)).expect("rows"));
    assert_eq!(client.samples(), expected[2..]);
    assert_eq!(live.samples(), all - 2);
    // Samples that were never sent can be forgotten, too.
    let mut others = one_of_everything();
    others.samples = std::iter::once(profile.samples.as_slice()[0]).collect();
    client.step(&live.grow(&step(&others, 100, 0..0)).expect("rows"));
    assert_eq!(client.samples(), expected[..1]);
}

/// Returns a profile with a distinct stack of two functions for each sample.
fn ever_new(samples: u32) -> Profile {
    let mut profile = Profile::default();
    let name = profile.strings.intern(b"cycles");
    profile.events.push(EventRow { name, kind: 0, config: 0, frequency: false, rate: 1 });
    let (pid, tid) = (Pid(1), Tid(1));
    profile.threads.push(ThreadRow { pid, tid, comm: name, process: name, cgroup: None });
    for number in 0..samples {
        let function = profile.strings.intern(format!("f{}", number % 2).as_bytes());
        let row = InlineRow { line: number, ..InlineRow::with_name(function) };
        let first_inline = profile.inlines.push(row);
        let place = LocationRow::unnamed(None, number.into());
        let location = profile.locations.push(LocationRow { first_inline, n_inlines: 1, ..place });
        let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance: 0 };
        let frame = profile.frames.push(frame);
        let stack = Some(profile.stacks.push(StackRow { parent: None, frame }));
        let time = Timestamp(u64::from(number) * 1_000_000);
        let (thread, event) = (ThreadId::new(0), EventId::new(0));
        let row = SampleRow::new(thread, event, EndReason::Root, stack, LayoutId::new(0));
        profile.samples.push(row.with_time(Some(time)));
    }
    profile
}

#[test]
fn nodes_that_no_sample_needs_go_and_functions_keep_their_numbers() {
    let mut live = LivePage::new(true);
    let all = |samples| ever_new(samples);
    live.grow(&step(&all(19_999), 0, 0..0));
    let mut profile = all(20_000);
    assert!(live.grow(&step(&profile, 0, 0..0)).is_some());
    let before = Client::begin(&live);
    // All nodes are needed, so the check removes none.
    assert!(live.grow(&step(&profile, 0, 0..0)).is_some());
    assert_eq!(live.nodes(), 20_000);
    profile = all(41_000);
    profile.samples.drop_first(20_500);
    assert!(live.grow(&step(&profile, 20_500, 0..0)).is_some());
    assert_eq!(live.nodes(), 40_500);
    // Now most nodes belong to forgotten samples.
    profile = all(41_001);
    profile.samples.drop_first(40_991);
    assert!(live.grow(&step(&profile, 40_991, 0..0)).is_none());
    assert_eq!(live.nodes(), 10);
    let after = Client::begin(&live);
    assert_eq!(after.samples().len(), 10);
    for key in ["functions", "names"] {
        assert_eq!(after.head[key], before.head[key]);
    }
    assert_eq!(after.head["origin"], before.head["origin"]);
}

#[test]
fn what_was_stated_and_is_no_longer_so_is_told_anew() {
    let regular = || {
        let mut profile = one_of_everything();
        profile.samples.iter_mut().for_each(|sample| *sample = sample.with_period(Some(7)));
        profile
    };
    let mut profile = regular();
    let mut live = LivePage::new(true);
    live.grow(&step(&part(regular(), 1), 0, 0..0));
    let (head, _) = read(&live.tables(1).unwrap());
    let event = profile.samples.as_slice()[0].event.index();
    assert_eq!(head["events"][event]["period"], 7);
    let last = profile.samples.len() - 1;
    let row = &mut profile.samples.as_mut_slice()[last];
    *row = row.with_period(Some(8));
    assert!(live.grow(&step(&profile, 0, 0..0)).is_none());
    let (head, columns) = read(&live.tables(2).unwrap());
    assert_eq!(head["events"][event]["period"], Value::Null);
    assert_eq!(columns["period"].last(), Some(&8.0));
    // A time that exceeds its column leads to a larger unit.
    let time = profile.samples.as_slice()[0].time().expect("a time");
    let row = &mut profile.samples.as_mut_slice()[last];
    *row = row.with_time(Some(address::Timestamp(time.0 + (1 << 60))));
    let mut live = LivePage::new(true);
    live.grow(&step(&part(regular(), last), 0, 0..0));
    assert!(live.grow(&step(&profile, 0, 0..0)).is_none());
    let (head, columns) = read(&live.tables(3).unwrap());
    let unit = head["unit"].as_u64().expect("a unit");
    let sum: f64 = columns["time"].iter().sum();
    assert!((sum * unit as f64 - (1_u64 << 60) as f64).abs() <= unit as f64, "{sum} × {unit}");
}
