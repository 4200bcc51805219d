//! speedscope's file format: stacks of frame indexes with weights, in one profile per thread and event.
//!
//! A browser cannot hold millions of stacks. Above [`MERGE_ABOVE`] samples, only the profile of all threads is written,
//! with equal stacks merged.
//!
//! Source: <https://www.speedscope.app/file-format-schema.json>.

use std::io;

use hashbrown::HashMap;

use crate::facts::{FormatFacts, ShownWeights};
use crate::options::StackWeight;
use crate::printer::Printer;
use crate::render::escaped::Escaped;
use crate::render::text::{push_json, push_module_label, push_number};
use crate::render::truncation::in_table;
use profile::query::{
    FunctionId, FunctionLine, FunctionMarks, Functions, event_name, group, period_units,
};
use profile::{
    EventId, LONGEST_IN_TABLE, Profile, RowId as _, SampleRow, StackId, StringId, Table, ThreadId,
};

/// Number of samples above which only merged stacks are written.
pub(crate) const MERGE_ABOVE: usize = 100_000;

/// Bytes to collect before a write.
const FLUSH_SIZE: usize = 1 << 18;

/// Prints a speedscope document.
#[derive(Debug, Clone, Copy)]
pub struct Speedscope {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
    /// Whether stacks without their root are shown unchanged, instead of under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Weight of a sample.
    pub weight: StackWeight,
}

struct WeighedStack {
    stack: Option<StackId>,
    /// Frame outside all others.
    comm: Option<FunctionId>,
    truncated: bool,
    weight: u64,
}

impl Speedscope {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts {
        weights: ShownWeights::PerSample,
        ..FormatFacts::text(
            "speedscope",
            "speedscope's JSON",
            &[".speedscope.json"],
            "application/json",
        )
    };
}

impl Printer for Speedscope {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let functions = Functions::new(profile, self.inlines);
        let mut document =
            SpeedscopeDocument { profile, functions: &functions, text: Vec::new(), out };
        document.head()?;
        let mut keys: Vec<(ThreadId, EventId)> = Vec::new();
        let groups = group(profile, |sample| (sample.thread, sample.event));
        let mut sorted: Vec<_> = groups.iter().collect();
        // Off-CPU times first, if they were requested; then the busiest thread; ties in order of appearance.
        let off_cpu = |event: EventId| profile.off_cpu == Some(event);
        sorted.sort_by_key(|group| {
            let weight = self.weight(group.count, group.period);
            std::cmp::Reverse((off_cpu(group.key.1), weight))
        });
        keys.extend(sorted.iter().map(|group| group.key));
        let merge = profile.samples.len() > MERGE_ABOVE;
        let mut first = true;
        let mut events: Vec<EventId> = keys.iter().map(|&(_, event)| event).collect();
        events.sort_unstable_by_key(|&event| (!off_cpu(event), event));
        events.dedup();
        if merge || keys.len() > events.len() {
            for &event in &events {
                let name = self.name("all threads", profile, event, events.len());
                document.profile(
                    &name,
                    self.unit(profile, event),
                    &self.merged(profile, event, &functions),
                    &mut first,
                )?;
            }
        }
        if !merge {
            let mut of_key: HashMap<(ThreadId, EventId), Vec<WeighedStack>> = HashMap::new();
            for sample in &profile.samples {
                of_key.entry((sample.thread, sample.event)).or_default().push(WeighedStack {
                    stack: sample.stack,
                    comm: None,
                    truncated: self.truncated(sample),
                    weight: self.weight(1, sample.period().unwrap_or(1)),
                });
            }
            for key in keys {
                let name = self.name(&thread_name(profile, key.0), profile, key.1, events.len());
                let stacks = of_key.get(&key).map_or(&[][..], |stacks| stacks);
                document.profile(&name, self.unit(profile, key.1), stacks, &mut first)?;
            }
        }
        document.end(first)
    }
}

impl Speedscope {
    const fn weight(&self, count: u64, period: u64) -> u64 {
        match self.weight {
            StackWeight::Samples => count,
            StackWeight::Period | StackWeight::OffCpu => period,
        }
    }

    const fn truncated(&self, sample: &SampleRow) -> bool {
        !self.keep_unrooted && !sample.end.is_rooted()
    }

    fn unit(&self, profile: &Profile, event: EventId) -> &'static str {
        let unit = period_units(profile).get(event).copied().flatten();
        match (self.weight, unit) {
            (StackWeight::Period | StackWeight::OffCpu, Some("nanoseconds")) => "nanoseconds",
            _ => "none",
        }
    }

    fn name(&self, what: &str, profile: &Profile, event: EventId, events: usize) -> String {
        if events < 2 {
            return what.to_owned();
        }
        format!("{what}, {}", String::from_utf8_lossy(event_name(profile, event)))
    }

    /// Returns the samples of an event with equal stacks merged, below frames for the thread names.
    fn merged(
        &self,
        profile: &Profile,
        event: EventId,
        functions: &Functions,
    ) -> Vec<WeighedStack> {
        // Threads of the same name share a frame. These frames follow the functions.
        let comms = comms(profile);
        let rows = group(profile, |sample| {
            let comm = comms.1.get(sample.thread).copied().unwrap_or(0);
            (sample.event, comm, sample.stack, self.truncated(sample))
        });
        let first_comm = functions.rows.len() + 1;
        rows.iter()
            .filter(|row| row.key.0 == event)
            .map(|row| WeighedStack {
                stack: row.key.2,
                comm: Some(FunctionId::from_index(first_comm + row.key.1 as usize)),
                truncated: row.key.3,
                weight: self.weight(row.count, row.period),
            })
            .collect()
    }
}

/// Returns the distinct thread names, and by thread the index of its name.
fn comms(profile: &Profile) -> (Vec<StringId>, Table<ThreadId, u32>) {
    let mut names = Vec::new();
    let mut index = HashMap::new();
    let of_thread = profile.threads.iter().map(|thread| {
        *index.entry(thread.comm).or_insert_with(|| {
            names.push(thread.comm);
            names.len() as u32 - 1
        })
    });
    let of_thread = of_thread.collect();
    (names, of_thread)
}

fn thread_name(profile: &Profile, thread: ThreadId) -> String {
    profile.threads.get(thread).map_or_else(String::new, |thread| {
        let comm = String::from_utf8_lossy(profile.strings.get(thread.comm));
        format!("{comm} {}/{}", thread.pid, thread.tid)
    })
}

/// Writer of the document. Frames are the functions, `[truncated]`, and the thread names.
struct SpeedscopeDocument<'a> {
    profile: &'a Profile,
    functions: &'a Functions,
    text: Vec<u8>,
    out: &'a mut dyn io::Write,
}

impl SpeedscopeDocument<'_> {
    fn flush(&mut self, at_least: usize) -> io::Result<()> {
        if self.text.len() >= at_least {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    fn head(&mut self) -> io::Result<()> {
        let strings = Escaped::new(&self.profile.strings, LONGEST_IN_TABLE, push_json);
        let marks = FunctionMarks::new(self.profile, &self.functions.rows);
        self.text.extend_from_slice(
            b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"unwind-perf ",
        );
        self.text.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
        self.text.extend_from_slice(b"\",\n\"shared\":{\"frames\":[");
        for function in &self.functions.rows {
            self.text.extend_from_slice(b"\n{\"name\":\"");
            match (function.name, function.module) {
                (None, Some(module)) => {
                    let mut label = Vec::new();
                    push_module_label(&mut label, &in_table(self.profile.strings.get(module)));
                    push_json(&mut self.text, &label);
                }
                (name, _) => {
                    let name = name.map_or(&b""[..], |name| strings.get(name));
                    self.text.extend_from_slice(if name.is_empty() { b"[unknown]" } else { name });
                }
            }
            if let Some(mark) = marks.of(function) {
                push_json(&mut self.text, format!(" ({mark})").as_bytes());
            }
            self.text.push(b'"');
            // Code without a known source file shows its module there, which keeps unknown functions apart.
            if let Some(file) = function.file.or(function.module) {
                self.text.extend_from_slice(b",\"file\":\"");
                self.text.extend_from_slice(strings.get(file));
                self.text.push(b'"');
            }
            if function.line != 0 {
                self.text.extend_from_slice(b",\"line\":");
                push_number(&mut self.text, function.line);
            }
            self.text.extend_from_slice(b"},");
            self.flush(FLUSH_SIZE)?;
        }
        self.text.extend_from_slice(b"\n{\"name\":\"[truncated]\"}");
        for &comm in &comms(self.profile).0 {
            let name = strings.get(comm);
            self.text.extend_from_slice(b",\n{\"name\":\"");
            self.text.extend_from_slice(if name.is_empty() { b"[unknown]" } else { name });
            self.text.extend_from_slice(b"\"}");
        }
        self.text.extend_from_slice(b"]},\n\"profiles\":[");
        Ok(())
    }

    fn profile(
        &mut self,
        name: &str,
        unit: &str,
        stacks: &[WeighedStack],
        first: &mut bool,
    ) -> io::Result<()> {
        self.text.extend_from_slice(if *first { b"\n" } else { b",\n" });
        *first = false;
        self.text.extend_from_slice(b"{\"type\":\"sampled\",\"name\":\"");
        push_json(&mut self.text, name.as_bytes());
        self.text.extend_from_slice(b"\",\"unit\":\"");
        self.text.extend_from_slice(unit.as_bytes());
        self.text.extend_from_slice(b"\",\"startValue\":0,\"endValue\":");
        let end = stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.weight));
        push_number(&mut self.text, end);
        self.text.extend_from_slice(b",\n\"samples\":[");
        let truncated = self.functions.rows.next_id();
        let mut path: Vec<FunctionLine> = Vec::new();
        for (index, stack) in stacks.iter().enumerate() {
            self.text.extend_from_slice(if index == 0 { b"[" } else { b",[" });
            self.functions.path(self.profile, stack.stack, &mut path);
            let outside = stack.comm.into_iter().chain(stack.truncated.then_some(truncated));
            for frame in outside.chain(path.iter().rev().map(|at| at.function)) {
                push_number(&mut self.text, frame.as_u32());
                self.text.push(b',');
            }
            if self.text.last() == Some(&b',') {
                self.text.pop();
            }
            self.text.push(b']');
            self.flush(FLUSH_SIZE)?;
        }
        self.text.extend_from_slice(b"],\n\"weights\":[");
        for (index, stack) in stacks.iter().enumerate() {
            if index > 0 {
                self.text.push(b',');
            }
            push_number(&mut self.text, stack.weight);
        }
        self.text.extend_from_slice(b"]}");
        self.flush(FLUSH_SIZE)
    }

    fn end(&mut self, empty: bool) -> io::Result<()> {
        if empty {
            // Readers require at least one profile.
            self.profile("no samples", "none", &[], &mut true)?;
        }
        self.text.extend_from_slice(b"],\n\"activeProfileIndex\":0}\n");
        self.flush(0)
    }
}
