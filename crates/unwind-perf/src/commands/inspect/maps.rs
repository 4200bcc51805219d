//! `unwind-perf maps`: the address space of each process at a time. Shows for each mapping its file and bias, its
//! sources of unwind rules and of names, and why a file was refused.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use address::{Bias, BuildId, ModuleId, Pid, Timestamp};
use hashbrown::HashMap;
use image_store::{FileProof, LoadedImage};
use module_map::{Mapping, Module, Space};
use perf_data::Record;
use pipeline::{Files, MapReplay, Observer, Options};
use serde_json::{Value, json};

use crate::args::{MapsArgs, pipeline, source, time_of, with_argument};
use crate::terminal::{Status, WaitLines, print_findings, shown, shown_json, status_of, to_width};

/// Prints the maps to standard output.
pub(crate) fn run(args: &MapsArgs) -> anyhow::Result<Status> {
    let at = args.at.as_deref().map(time_of).transpose()?;
    let options = Options { files: args.files.search()?, ..Options::default() };
    let observer: Arc<dyn Observer> = Arc::new(WaitLines);
    let maps = pipeline().maps(source(&args.input), &options, &observer);
    let mut maps = maps.map_err(with_argument)?;
    let mut pids = Vec::new();
    while let Some(batch) = maps.next_batch() {
        let past = |time: Timestamp| at.is_some_and(|at| time > at);
        for record in batch.records().filter(|record| !past(record.time)) {
            if let Record::Mmap(map) = &record.record {
                // The process that runs a guest does not have the guest's maps.
                pids.extend((!map.cpu_mode.is_guest()).then_some(map.pid));
            } else if let Record::Fork(task) = &record.record {
                pids.push(task.pid);
            }
            maps.apply(&record);
        }
    }
    maps.check_whole()?;
    maps.timeline.advance(at.unwrap_or(Timestamp(u64::MAX)));
    if !args.pid.is_empty() {
        pids = args.pid.iter().copied().map(Pid).collect();
    }
    pids.sort_unstable();
    pids.dedup();
    let mut text = String::new();
    for pid in pids {
        print_space(pid, &mut maps, args.json, &mut text)?;
    }
    if !args.json {
        text = to_width(&text);
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    print_findings(&maps.findings);
    Ok(status_of(&maps.findings))
}

fn print_space(
    pid: Pid,
    maps: &mut MapReplay,
    json: bool,
    text: &mut String,
) -> anyhow::Result<()> {
    let timeline = &mut maps.timeline;
    let space = if pid.0 < 0 { timeline.kernel() } else { timeline.space(pid).0 };
    if !json && !space.is_empty() {
        let comm = timeline.comm_of(pid, address::Tid(pid.0));
        let name = String::from_utf8_lossy(timeline.comm_name(comm)).into_owned();
        let name = if pid.0 < 0 { "kernel".to_owned() } else { shown(&name) };
        writeln!(text, "{pid} {name}")?;
    }
    let files = maps.files();
    let code = ExecutableMappings::of(&space);
    for recorded in space.mappings() {
        // Text that was moved before the recording started; the range remains the recorded one.
        let moved = files.images.remapped_text(&recorded, &space);
        let mapping = moved.map_or(recorded, |moved| Mapping {
            start: recorded.start,
            end: recorded.end,
            offset: moved.offset_of(recorded.start),
            ..moved
        });
        let Some(module) = space.module(&mapping) else { continue };
        let bias = code.bias(&mapping, &space, files);
        let is_inferred = moved.is_some();
        let row = MappingRow { is_inferred, ..MappingRow::new(&mapping, module, bias, files) };
        if json {
            writeln!(text, "{}", shown_json(&row.json(pid).to_string()))?;
        } else {
            row.line(text)?;
        }
    }
    Ok(())
}

/// Executable mappings of a space, by module, in address order.
struct ExecutableMappings(HashMap<ModuleId, Vec<Mapping>>);

impl ExecutableMappings {
    fn of(space: &Space) -> Self {
        let mut code = HashMap::<_, Vec<_>>::new();
        for mapping in space.mappings().filter(|mapping| mapping.executable) {
            code.entry(mapping.module).or_default().push(mapping);
        }
        Self(code)
    }

    /// Returns the bias of the module's code: that of the code mapping nearest to this one, since all mappings share it
    /// if the module is mapped once.
    fn bias(&self, mapping: &Mapping, space: &Space, files: &Files) -> Option<Bias> {
        let image = files.images.image(space.module(mapping)?).ok()?.image();
        let same = self.0.get(&mapping.module)?;
        let next = same.partition_point(|other| other.start < mapping.start);
        let around = same.get(next.saturating_sub(1)..same.len().min(next + 1))?;
        let nearest = around.iter().min_by_key(|other| other.start.0.abs_diff(mapping.start.0))?;
        image.bias(nearest.start, nearest.offset, true)
    }
}

/// A mapping and the facts about its file.
struct MappingRow<'p> {
    mapping: &'p Mapping,
    path: String,
    bias: Option<u64>,
    file: Result<&'p LoadedImage, String>,
    proof: Option<FileProof>,
    /// Build-id of the recorded file, if it is proven.
    recorded_id: Option<BuildId>,
    unwind: &'static str,
    symbols: Vec<&'static str>,
    /// True if the recording has memory without a file there.
    is_inferred: bool,
}

impl<'p> MappingRow<'p> {
    fn new(
        mapping: &'p Mapping,
        module: &'p Module,
        code_bias: Option<Bias>,
        files: &'p Files,
    ) -> Self {
        let path = String::from_utf8_lossy(&module.path).into_owned();
        let file = if module.kind.is_without_file() {
            Err(String::new())
        } else {
            files.images.image(module).map(|file| &**file).map_err(ToString::to_string)
        };
        let image = file.as_ref().ok().map(|file| file.image());
        let bias = image.and_then(|image| {
            let mut possible = image.possible_biases(mapping.start, mapping.offset);
            let by_code = possible.find(|bias| Some(*bias) == code_bias);
            by_code.or_else(|| image.bias(mapping.start, mapping.offset, mapping.executable))
        });
        let (mut unwind, mut symbols) = ("", Vec::new());
        if let Ok(file) = &file {
            unwind = unwind_source(file, files);
            symbols = symbol_sources(file, files);
        }
        let bias = bias.map(|bias| bias.0);
        let proof = files.images.proof(module);
        let recorded_id = files.images.proven_build_id(module);
        let is_inferred = false;
        Self { mapping, path, bias, file, proof, recorded_id, unwind, symbols, is_inferred }
    }

    /// Writes a line in the form of `/proc/PID/maps`, followed by the facts about the file.
    fn line(&self, text: &mut String) -> std::fmt::Result {
        let Mapping { start, end, offset, executable, writable, .. } = self.mapping;
        let protection = [if *writable { 'w' } else { '-' }, if *executable { 'x' } else { '-' }];
        write!(
            text,
            "  {:x}-{:x} r{}{}p {:08x} {}",
            start.0,
            end.0,
            protection[0],
            protection[1],
            offset.0,
            shown(&self.path)
        )?;
        match &self.file {
            Ok(file) => {
                let image = file.image();
                if image.path().to_string_lossy() != self.path {
                    write!(text, " file={}", shown(&image.path().to_string_lossy()))?;
                }
                let id = image.build_id().map_or_else(|| "none".to_owned(), |id| id.to_string());
                write!(text, " build-id={id}")?;
                match self.bias {
                    Some(bias) => write!(text, " bias={bias:#x}")?,
                    None => text.push_str(" bias=none"),
                }
                write!(text, " unwind={} symbols={}", self.unwind, self.symbols.join("+"))?;
                let mark = if self.proof == Some(FileProof::None) { " unverified" } else { "" };
                let inferred = if self.is_inferred { " inferred" } else { "" };
                writeln!(text, "{mark}{inferred}")
            }
            Err(error) if error.is_empty() => writeln!(text),
            Err(error) => writeln!(text, " refused: {}", shown(error)),
        }
    }

    fn json(&self, pid: Pid) -> Value {
        let Mapping { start, end, offset, executable, writable, .. } = *self.mapping;
        let hex = |value: u64| format!("{value:#x}");
        let mut row = json!({
            "pid": pid.0,
            "start": hex(start.0),
            "end": hex(end.0),
            "offset": hex(offset.0),
            "executable": executable,
            "writable": writable,
            "path": self.path,
        });
        let Some(fields) = row.as_object_mut() else { return row };
        if self.is_inferred {
            fields.insert("inferred".to_owned(), true.into());
        }
        if let Some(id) = self.recorded_id {
            fields.insert("recorded_build_id".to_owned(), id.to_string().into());
        }
        match &self.file {
            Ok(file) => {
                let image = file.image();
                fields.insert("file".to_owned(), image.path().to_string_lossy().into());
                if let Some(id) = image.build_id() {
                    fields.insert("build_id".to_owned(), id.to_string().into());
                }
                if let Some(bias) = self.bias {
                    fields.insert("bias".to_owned(), hex(bias).into());
                }
                let proof = self.proof.map(FileProof::as_str);
                fields.insert("proof".to_owned(), proof.into());
                fields.insert("unwind".to_owned(), self.unwind.into());
                fields.insert("symbols".to_owned(), json!(self.symbols));
            }
            Err(error) if error.is_empty() => {}
            Err(error) => {
                fields.insert("refused".to_owned(), error.clone().into());
            }
        }
        row
    }
}

fn unwind_source(file: &LoadedImage, files: &Files) -> &'static str {
    let has = |name| file.image().section(name).is_some();
    if has(".eh_frame") {
        "eh_frame"
    } else if has(".debug_frame") {
        "debug_frame"
    } else if file.debug(&files.images).is_some_and(|debug| debug.section(".debug_frame").is_some())
    {
        "debug_frame of the debug file"
    } else if file.mini(&files.images).is_some_and(|mini| mini.section(".debug_frame").is_some()) {
        "debug_frame of .gnu_debugdata"
    } else {
        "none"
    }
}

fn symbol_sources(file: &LoadedImage, files: &Files) -> Vec<&'static str> {
    let image = file.image();
    let debug = file.debug(&files.images).map(|debug| &**debug);
    let in_debug = |name| debug.is_some_and(|debug| debug.section(name).is_some());
    let sources = [
        ("symtab", image.section(".symtab").is_some()),
        ("dynsym", image.section(".dynsym").is_some()),
        ("dwarf", image.section(".debug_info").is_some()),
        ("debug-file-symtab", in_debug(".symtab")),
        ("debug-file-dwarf", in_debug(".debug_info")),
        ("dwz", file.alt(&files.images).is_some()),
        ("gnu_debugdata", file.mini(&files.images).is_some()),
    ];
    sources.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}
