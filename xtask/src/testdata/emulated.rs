//! Cases of another processor: the program runs under qemu's user emulation, and gdb stops it at chosen places.
//! Registers and the top of the stack at each stop become the samples of a recording. gdb's own backtraces are stored
//! beside it in `backtraces`, one line per sample.
//!
//! If a program is built a second time, as `CASE.debug`, gdb takes its symbols from there. gdb then unwinds by debug
//! information that the stored program does not have.
//!
//! Needs qemu's user emulation, gdb-multiarch and the cross compilers of the cases; tests do not.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use object::{Object as _, ObjectSegment as _};
use synth::{
    ElfBuilder, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    Section, Segment,
};

use super::case::Case;
use super::processor::Processor;
use super::{NEUTRAL, build, made, remove, store};
use crate::command;

/// aarch64 processor model that gdb can unwind by itself: pointers are not signed.
const PLAIN: &str = "max,sve=off,pauth=off";
const SCRIPT: &str = "chain_gdb.py";
const PORT: &str = "4711";
const PROCESS: u32 = 1000;

/// A stop of the program.
struct Stop {
    regs: Vec<u64>,
    stack: Vec<u8>,
    backtrace: Vec<u64>,
}

/// gdb's results of a run.
struct Run {
    stops: Vec<Stop>,
    /// Page of the emulator with the code that signal handlers return to: its address and its contents.
    page: Option<(u64, Vec<u8>)>,
}

/// An emulated processor.
#[derive(Clone, Copy)]
pub(super) struct Emulated<'a> {
    pub(super) processor: &'a Processor,
    /// Model of it, by qemu's name.
    pub(super) cpu: &'a str,
}

/// Builds a case, runs it on that processor model and stores it.
pub(super) fn make(case: &Case, emulated: Emulated<'_>, testdata: &Path) -> Result<()> {
    let Emulated { processor, cpu } = emulated;
    let work = Path::new(NEUTRAL).join(&case.name);
    remove(&work)?;
    std::fs::create_dir_all(&work)?;
    build::compile(case, &testdata.join("programs"), &work)?;
    let plain = if processor.name == "aarch64" { PLAIN } else { cpu };
    let Run { stops: truth, page } = run(&case.name, &work, Emulated { cpu: plain, ..emulated })?;
    let Run { stops, .. } = run(&case.name, &work, emulated)?;
    let pc = processor.position("pc");
    if truth.len() != stops.len()
        || truth.iter().zip(&stops).any(|(a, b)| a.regs.get(pc) != b.regs.get(pc))
    {
        bail!("the two runs stopped at different places");
    }

    let program = work.join(&case.name);
    let trampoline = work.join("sigreturn.so");
    let (page, code) = page.unzip();
    std::fs::write(&trampoline, trampoline_file(processor, code.unwrap_or_default()))?;
    let page = page.map(|page| (page, trampoline.as_path()));
    let data = recording(processor, &program, page, &stops)?;
    let folder = testdata.join("cases").join(&case.name);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("perf.data"), data)?;
    let mut lines = String::new();
    for stop in &truth {
        let pcs: Vec<String> = stop.backtrace.iter().map(|pc| format!("{pc:x}")).collect();
        writeln!(lines, "{}", pcs.join(" "))?;
    }
    std::fs::write(folder.join("backtraces"), lines)?;
    let sysroot = testdata.join("sysroot");
    store(&program, &sysroot)?;
    store(&trampoline, &sysroot)?;
    let made = made::by_emulator(case, processor.name, stops.len(), &folder)?;
    std::fs::write(folder.join("case.toml"), case.with_made(&made))?;
    println!("{}: {} samples", case.name, stops.len());
    remove(&work)
}

/// Runs the program under emulation and gdb, and reads gdb's output.
fn run(program: &str, work: &Path, emulated: Emulated<'_>) -> Result<Run> {
    let Emulated { processor, cpu } = emulated;
    let emulator = format!("qemu-{}", processor.name);
    let mut emulator = Command::new(emulator);
    emulator.env_clear().args(["-cpu", cpu, "-g", PORT]).arg(format!("./{program}"));
    command::announce(&emulator);
    let mut child = emulator.current_dir(work).spawn().context("qemu")?;
    // It listens before it runs the program; a moment is enough.
    std::thread::sleep(Duration::from_secs(1));
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-q", "-batch", "-nx", "-ex", &format!("set $port=\"{PORT}\"")]);
    gdb.args(["-ex", &format!("set $registers=\"{}\"", processor.registers)]);
    gdb.args(["-ex", &format!("set $stack={}", processor.stack)]);
    if let Some(steps) = processor.steps {
        gdb.args(["-ex", &format!("set $steps={steps}")]);
    }
    let debug = format!("{program}.debug");
    let symbols = if work.join(&debug).is_file() { &debug } else { program };
    gdb.args(["-x", SCRIPT]);
    let result = command::output(gdb.arg(symbols).current_dir(work));
    if result.is_err() {
        child.kill()?;
    }
    child.wait()?;
    result?;
    let text = std::fs::read_to_string(work.join("dump.txt"))?;
    let stops = text.split("sample\n").skip(1).map(stop).collect::<Result<_>>()?;
    let page = text.lines().find_map(|line| line.strip_prefix("page ")?.split_once(' '));
    let page = match page {
        Some((page, code)) => Some((u64::from_str_radix(page, 16)?, bytes(code)?)),
        None => None,
    };
    Ok(Run { stops, page })
}

fn bytes(hex: &str) -> Result<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair)?, 16).context("a byte");
    hex.as_bytes().chunks(2).map(byte).collect()
}

fn stop(text: &str) -> Result<Stop> {
    let line = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))
    };
    let numbers = |line: &str| {
        line.split_whitespace()
            .map(|word| u64::from_str_radix(word, 16))
            .collect::<Result<Vec<u64>, _>>()
    };
    Ok(Stop {
        regs: numbers(line("regs")?)?,
        stack: bytes(line("stack")?.trim())?,
        backtrace: numbers(line("bt")?)?,
    })
}

/// Returns the page that signal handlers return to, as an ELF file.
fn trampoline_file(processor: &Processor, code: Vec<u8>) -> Vec<u8> {
    ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x1000)],
        sections: vec![Section::text(0x1000, code)],
        ..processor.elf()
    }
    .build()
}

fn recording(
    processor: &Processor,
    program: &Path,
    trampoline: Option<(u64, &Path)>,
    stops: &[Stop],
) -> Result<Vec<u8>> {
    let bytes = std::fs::read(program)?;
    let file = object::File::parse(bytes.as_slice())?;
    let build_id = file.build_id()?.context("no build-id")?;
    let mut data = PerfDataBuilder::new(processor.endian);
    let attr = EventAttr::dwarf(processor.mask);
    data.event("cpu-clock:u", attr, &[]);
    data.feature(&Feature::Arch(processor.uname));
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let comm = Record::Comm { pid: PROCESS, tid: PROCESS, comm: name.as_bytes(), exec: true };
    data.record_at(&comm, SampleId::at(PROCESS, PROCESS, 1));
    let mut map = |[addr, len, pgoff]: [u64; 3], prot, file, path: &[u8]| {
        let record = Record::Mmap2 {
            pid: PROCESS,
            tid: PROCESS,
            addr,
            len,
            pgoff,
            file,
            prot,
            flags: 2,
            name: path,
        };
        data.record_at(&record, SampleId::at(PROCESS, PROCESS, 2));
    };
    for segment in file.segments() {
        let (offset, size) = segment.file_range();
        let prot = match segment.flags() {
            // PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4; PF_X 1, PF_W 2, PF_R 4.
            object::SegmentFlags::Elf { p_flags, .. } if p_flags.0 & 1 != 0 => 5,
            _ => 3,
        };
        let start = segment.address() & !0xfff;
        let len = (segment.address() + size - start + 0xfff) & !0xfff;
        let path = program.to_string_lossy();
        map([start, len, offset & !0xfff], prot, MmapFile::BuildId(build_id), path.as_bytes());
    }
    let none = || MmapFile::Inode { major: 0, minor: 0, inode: 0, generation: 0 };
    // Before the emulator's page, which may lie within it.
    let top = stops
        .iter()
        .filter_map(|stop| stop.regs.get(processor.position(processor.sp())))
        .max()
        .copied()
        .unwrap_or_default();
    map([(top & !0xfff) - 0x2_0000, 0x4_0000, 0], 3, none(), b"[stack]");
    if let Some((page, path)) = trampoline {
        map([page, 0x1000, 0x1000], 5, none(), path.to_string_lossy().as_bytes());
    }
    for (stop, time) in stops.iter().zip(1..) {
        data.sample(&sample(processor, stop, time * 1000));
    }
    Ok(data.build())
}

/// Converts a stop to a sample.
fn sample(processor: &Processor, stop: &Stop, time: u64) -> SampleBuilder {
    let pc = stop.regs.get(processor.position("pc")).copied().unwrap_or_default();
    let at = SampleBuilder::at(pc, PROCESS, PROCESS, time);
    let sample = SampleBuilder { misc: 2, period: 1, ..at };
    let sample = if processor.is_wide() {
        sample.with_regs(&stop.regs)
    } else {
        sample.with_regs_of_32_bits(&stop.regs)
    };
    sample.with_stack(&stop.stack)
}
