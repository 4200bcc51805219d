//! The stream that hotspot reads from its backend: strings, locations and symbols, each before its first use, and the
//! samples.
//!
//! A frame is an *address location* whose parent is a *function location*; this one's parent is the function that it was
//! inlined into, and so on. A sample names address locations only.
//!
//! The messages have the fields that hotspot 1.3.0 knows: it stops reading at a message with more. Later versions know
//! further ones at the ends of locations and symbols, for disassembly.
//!
//! Source: the stream as Debian's hotspot 1.3.0 reads it; Qt's `QDataStream` (version 19) for the encoding of values.

mod message;

use std::io;

use hashbrown::HashMap;
use unwinder::FoundBy;

use crate::format::Printer;
use crate::profile::{
    InlineRow, LocationRow, ModuleKind, ModuleRow, Profile, RecordingInfo, SampleRow, ThreadRow,
};
use crate::stack::{Biases, Walker, functions};
use crate::strings::StringId;
use message::{Kind, Stream};

/// No location, no string.
const NONE: i32 = -1;

/// The process of kernel locations.
const KERNEL: u32 = u32::MAX;

/// Samples between two messages of progress.
const PROGRESS: usize = 4096;

/// Prints the stream of hotspot's backend.
#[derive(Debug, Clone, Copy)]
pub struct Hotspot {
    /// Whether inlined functions are symbols of their own.
    pub inlines: bool,
}

impl Printer for Hotspot {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = Writer {
            profile,
            inlines: self.inlines,
            stream: Stream::new(out),
            strings: vec![NONE; profile.strings.len()],
            n_strings: 0,
            short: HashMap::new(),
            functions: HashMap::new(),
            addresses: HashMap::new(),
            n_locations: 0,
        };
        writer.features(&profile.recording);
        writer.attributes()?;
        let walker = Walker::new(profile);
        let mut biases = Biases::new();
        let mut named = vec![false; profile.threads.len()];
        let mut ids = Vec::new();
        for (index, sample) in profile.samples.iter().enumerate() {
            if let Some(named @ false) = named.get_mut(sample.thread as usize) {
                *named = true;
                writer.command(sample)?;
            }
            writer.sample(sample, &walker, &mut biases, &mut ids)?;
            if index % PROGRESS == PROGRESS - 1 {
                writer.progress((index + 1) as f64 / profile.samples.len() as f64)?;
            }
        }
        writer.lost()?;
        writer.progress(1.0)?;
        writer.stream.finish()
    }
}

/// What was defined so far.
struct Writer<'a> {
    profile: &'a Profile,
    inlines: bool,
    stream: Stream<'a>,
    /// By string of the profile: its number in the stream.
    strings: Vec<i32>,
    n_strings: i32,
    /// By path: the number of its last part.
    short: HashMap<StringId, i32>,
    /// By address in the process and location of the profile: the innermost function location.
    functions: HashMap<(u64, u32), i32>,
    /// By process, address in it and location of the profile: the address location.
    addresses: HashMap<(u32, u64, u32), i32>,
    n_locations: i32,
}

impl<'a> Writer<'a> {
    fn features(&mut self, recording: &RecordingInfo) {
        let profile = self.profile;
        let text = |id: Option<StringId>| id.map_or(&[][..], |id| profile.strings.get(id));
        let stream = &mut self.stream;
        stream.begin(Kind::Features);
        for id in [recording.hostname, recording.os_release, recording.perf_version, recording.arch]
        {
            stream.bytes(text(id));
        }
        let online = recording.cpus_online.unwrap_or(0);
        stream.u32(online);
        stream.u32(recording.cpus_available.unwrap_or(online));
        stream.bytes(text(recording.cpu_desc));
        stream.bytes(text(recording.cpu_id));
        stream.u64(recording.total_memory_kib.unwrap_or(0));
        stream.u32(recording.command_line.len() as u32);
        for &word in &recording.command_line {
            stream.bytes(profile.strings.get(word));
        }
        let with_id = profile.modules.iter().filter_map(|module| Some((module, module.build_id?)));
        stream.u32(with_id.clone().count() as u32);
        for (module, id) in with_id {
            stream.u32(u32::MAX);
            stream.bytes(id.as_bytes());
            stream.bytes(profile.strings.get(module.path));
        }
        // Topology of the processors (two lists), memory nodes, units, groups: not in the profile.
        for _ in 0..5 {
            stream.u32(0);
        }
        stream.end();
    }

    fn attributes(&mut self) -> io::Result<()> {
        let profile = self.profile;
        for (id, event) in (0_i32..).zip(&profile.events) {
            let name = self.string(event.name)?;
            let stream = &mut self.stream;
            stream.begin(Kind::Attributes);
            stream.i32(id);
            stream.u32(event.kind);
            stream.u64(event.config);
            stream.i32(name);
            stream.bool(event.frequency);
            stream.u64(event.rate);
            stream.end();
        }
        Ok(())
    }

    /// Defines a thread's name, at its first sample under it.
    fn command(&mut self, sample: &SampleRow) -> io::Result<()> {
        let Some(&thread) = self.profile.threads.get(sample.thread as usize) else { return Ok(()) };
        let comm = self.string(thread.comm)?;
        self.stream.begin(Kind::Command);
        self.record(&thread, sample);
        self.stream.i32(comm);
        self.stream.end();
        Ok(())
    }

    fn sample(
        &mut self,
        sample: &SampleRow,
        walker: &Walker<'a>,
        biases: &mut Biases<'a>,
        ids: &mut Vec<(u32, u64)>,
    ) -> io::Result<()> {
        let profile = self.profile;
        let thread = profile.threads.get(sample.thread as usize).copied().unwrap_or(ThreadRow {
            pid: address::Pid(-1),
            tid: address::Tid(-1),
            comm: StringId(u32::MAX),
        });
        ids.clear();
        walker.walk(sample, biases, |frame, addr| ids.push((frame, addr)));
        let mut guessed = 0_u32;
        let mut locations = Vec::with_capacity(ids.len());
        for &(frame, addr) in ids.iter() {
            let Some(row) = profile.frames.get(frame as usize) else { continue };
            // Everything outside of a frame that is not proven stands on it.
            if guessed > 0 || is_guess(row.found_by) {
                guessed += 1;
            }
            // Recorded callchains are passed on as they are, with return addresses.
            let addr = addr.wrapping_add(u64::from(row.found_by == FoundBy::Callchain));
            let pid = if row.kernel { KERNEL } else { thread.pid.0 as u32 };
            locations.push(self.address(pid, addr, row.location, row.kernel)?);
        }
        self.stream.begin(Kind::Sample);
        self.record(&thread, sample);
        self.stream.u32(locations.len() as u32);
        locations.iter().for_each(|&id| self.stream.i32(id));
        self.stream.u8(guessed.min(u32::from(u8::MAX)) as u8);
        self.stream.u32(1);
        self.stream.i32(sample.event.into());
        self.stream.u64(sample.period.unwrap_or(1));
        self.stream.end();
        self.stream.flush()
    }

    /// What was lost, at the end: the profile has no times for it.
    fn lost(&mut self) -> io::Result<()> {
        let lost = self.profile.summary.lost_samples;
        let Some(last) = self.profile.samples.last().filter(|_| lost > 0) else { return Ok(()) };
        let Some(&thread) = self.profile.threads.get(last.thread as usize) else { return Ok(()) };
        self.stream.begin(Kind::Lost);
        self.record(&thread, last);
        self.stream.u64(lost);
        self.stream.end();
        self.stream.flush()
    }

    fn progress(&mut self, part: f64) -> io::Result<()> {
        self.stream.begin(Kind::Progress);
        self.stream.u64(part.to_bits());
        self.stream.end();
        self.stream.flush()
    }

    fn record(&mut self, thread: &ThreadRow, sample: &SampleRow) {
        self.stream.i32(thread.pid.0);
        self.stream.i32(thread.tid.0);
        self.stream.u64(sample.time.map_or(0, |time| time.0));
        self.stream.u32(sample.cpu.unwrap_or(0));
    }

    /// The address location, defined at its first use.
    fn address(&mut self, pid: u32, addr: u64, at: u32, kernel: bool) -> io::Result<i32> {
        if let Some(&id) = self.addresses.get(&(pid, addr, at)) {
            return Ok(id);
        }
        let parent = self.function(addr, at, kernel)?;
        let profile = self.profile;
        let location = profile.locations.get(at as usize);
        let innermost =
            location.and_then(|location| functions(profile, location, self.inlines).first());
        let id = self.location(addr, innermost, pid, parent)?;
        self.addresses.insert((pid, addr, at), id);
        Ok(id)
    }

    /// The innermost function location of a location of the profile; all of them are defined at the first use.
    fn function(&mut self, addr: u64, at: u32, kernel: bool) -> io::Result<i32> {
        if let Some(&id) = self.functions.get(&(addr, at)) {
            return Ok(id);
        }
        let profile = self.profile;
        let Some(location) = profile.locations.get(at as usize) else { return Ok(NONE) };
        let rows = functions(profile, location, self.inlines);
        let mut parent = NONE;
        for row in rows.iter().rev() {
            parent = self.symbol(location, addr, Some(row), kernel, parent)?;
        }
        if rows.is_empty() {
            parent = self.symbol(location, addr, None, kernel, NONE)?;
        }
        self.functions.insert((addr, at), parent);
        Ok(parent)
    }

    /// Defines a function location and its symbol.
    fn symbol(
        &mut self,
        location: &LocationRow,
        addr: u64,
        row: Option<&InlineRow>,
        kernel: bool,
        parent: i32,
    ) -> io::Result<i32> {
        let profile = self.profile;
        let module = location.module.and_then(|id| profile.modules.get(id.index()));
        let name = match row.and_then(|row| row.function) {
            Some(name) => self.string(name)?,
            None => NONE,
        };
        let (binary, path) = match module {
            Some(module) => self.module(module)?,
            None => (NONE, NONE),
        };
        let pid = if kernel { KERNEL } else { 0 };
        let id = self.location(addr, row, pid, parent)?;
        let stream = &mut self.stream;
        stream.begin(Kind::Symbol);
        stream.i32(id);
        stream.i32(name);
        stream.i32(binary);
        stream.i32(path);
        stream.bool(kernel);
        stream.end();
        Ok(id)
    }

    fn location(
        &mut self,
        address: u64,
        row: Option<&InlineRow>,
        pid: u32,
        parent: i32,
    ) -> io::Result<i32> {
        let file = match row.and_then(|row| row.file) {
            Some(file) => self.string(file)?,
            None => NONE,
        };
        let id = self.n_locations;
        self.n_locations += 1;
        let stream = &mut self.stream;
        stream.begin(Kind::Location);
        stream.i32(id);
        stream.u64(address);
        stream.i32(file);
        stream.u32(pid);
        // Both unknown as -1.
        stream.i32(row.map_or(-1, |row| if row.line == 0 { -1 } else { row.line as i32 }));
        stream.i32(row.map_or(-1, |row| if row.column == 0 { -1 } else { row.column as i32 }));
        stream.i32(parent);
        stream.end();
        Ok(id)
    }

    /// A module's name without folders, and its recorded path.
    fn module(&mut self, module: &ModuleRow) -> io::Result<(i32, i32)> {
        let path = self.string(module.path)?;
        if let Some(&short) = self.short.get(&module.path) {
            return Ok((short, path));
        }
        let name = self.profile.strings.get(module.path);
        let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
        let in_brackets = module.kind == ModuleKind::Kernel || last.is_empty();
        let short = if in_brackets { path } else { self.define(last) };
        self.short.insert(module.path, short);
        Ok((short, path))
    }

    /// The number of a string, defined at its first use.
    fn string(&mut self, id: StringId) -> io::Result<i32> {
        let text = self.profile.strings.get(id);
        if text.is_empty() {
            return Ok(NONE);
        }
        if let Some(&known) = self.strings.get(id.0 as usize)
            && known != NONE
        {
            return Ok(known);
        }
        let number = self.define(text);
        if let Some(slot) = self.strings.get_mut(id.0 as usize) {
            *slot = number;
        }
        self.stream.flush()?;
        Ok(number)
    }

    fn define(&mut self, text: &[u8]) -> i32 {
        let number = self.n_strings;
        self.n_strings += 1;
        self.stream.begin(Kind::String);
        self.stream.i32(number);
        self.stream.bytes(text);
        self.stream.end();
        number
    }
}

/// Whether a frame found so is not proven by unwind information.
const fn is_guess(found_by: FoundBy) -> bool {
    matches!(found_by, FoundBy::FramePointer | FoundBy::Joined | FoundBy::Guess)
}
