//! Cases of another processor: the program runs under qemu's user emulation, gdb stops it at chosen places, and what
//! gdb sees there - registers, the top of the stack - becomes the samples of a recording. gdb's own backtraces are kept
//! beside it in `backtraces`, one line a sample.
//!
//! Needs qemu-aarch64, gdb-multiarch and aarch64-linux-gnu-gcc; tests do not.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use object::{Object as _, ObjectSegment as _};
use synth::{
    ElfBuilder, Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder,
    SampleId, Section, Segment, aarch64_reg,
};

use super::case::Case;
use super::{NEUTRAL, build, made, remove, store};
use crate::command;

/// The processor that gdb can unwind by itself: pointers are not signed.
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

/// Builds a case, runs it as that processor and stores it.
pub(super) fn make(case: &Case, cpu: &str, testdata: &Path) -> Result<()> {
    let work = Path::new(NEUTRAL).join(&case.name);
    remove(&work)?;
    std::fs::create_dir_all(&work)?;
    build::compile(case, &testdata.join("programs"), &work)?;
    let truth = stops(&case.name, &work, PLAIN)?;
    let stops = stops(&case.name, &work, cpu)?;
    if truth.len() != stops.len()
        || truth.iter().zip(&stops).any(|(a, b)| a.regs.get(32) != b.regs.get(32))
    {
        bail!("the two runs stopped at different places");
    }

    let program = work.join(&case.name);
    let trampoline = work.join("sigreturn.so");
    let page = trampoline_page(&truth);
    std::fs::write(&trampoline, trampoline_file())?;
    let data = recording(&program, page.map(|page| (page, trampoline.as_path())), &stops)?;
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
    let made = made::by_emulator(case, stops.len(), &folder)?;
    std::fs::write(folder.join("case.toml"), case.with_made(&made))?;
    println!("{}: {} samples", case.name, stops.len());
    remove(&work)
}

/// Runs the program under emulation and gdb, and reads what gdb wrote.
fn stops(program: &str, work: &Path, cpu: &str) -> Result<Vec<Stop>> {
    let mut emulator = Command::new("qemu-aarch64");
    emulator.env_clear().args(["-cpu", cpu, "-g", PORT]).arg(format!("./{program}"));
    command::announce(&emulator);
    let mut child = emulator.current_dir(work).spawn().context("qemu-aarch64")?;
    // It listens before it runs the program; a moment is enough.
    std::thread::sleep(Duration::from_secs(1));
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-q", "-batch", "-nx", "-ex", &format!("set $port=\"{PORT}\""), "-x", SCRIPT]);
    let result = command::output(gdb.arg(program).current_dir(work));
    if result.is_err() {
        child.kill()?;
    }
    child.wait()?;
    result?;
    let text = std::fs::read_to_string(work.join("dump.txt"))?;
    text.split("sample\n").skip(1).map(stop).collect()
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
    let hex = line("stack")?.trim();
    let stack = hex
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair)?, 16).context("a byte"));
    Ok(Stop {
        regs: numbers(line("regs")?)?,
        stack: stack.collect::<Result<_>>()?,
        backtrace: numbers(line("bt")?)?,
    })
}

/// The emulator puts the code that signal handlers return to on a page of its own.
fn trampoline_page(stops: &[Stop]) -> Option<u64> {
    stops
        .iter()
        .flat_map(|stop| &stop.backtrace)
        .copied()
        .find(|pc| *pc > 1 << 32)
        .map(|pc| pc & !0xfff)
}

/// What is on that page, as a file: `mov x8, #139; svc #0`.
fn trampoline_file() -> Vec<u8> {
    let code = [0xd280_1168_u32, 0xd400_0001].iter().flat_map(|word| word.to_le_bytes()).collect();
    ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x1000)],
        sections: vec![Section::text(0x1000, code)],
        ..ElfBuilder::aarch64()
    }
    .build()
}

fn recording(program: &Path, trampoline: Option<(u64, &Path)>, stops: &[Stop]) -> Result<Vec<u8>> {
    let bytes = std::fs::read(program)?;
    let file = object::File::parse(bytes.as_slice())?;
    let build_id = file.build_id()?.context("no build-id")?;
    let mut data = PerfDataBuilder::new(Endian::Little);
    let attr = EventAttr::dwarf(aarch64_reg::USUAL_MASK);
    data.event("cpu-clock:u", attr, &[]);
    data.feature(&Feature::Arch("aarch64"));
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
    let top = stops.iter().filter_map(|stop| stop.regs.get(31)).max().copied().unwrap_or_default();
    map([(top & !0xfff) - 0x2_0000, 0x4_0000, 0], 3, none(), b"[stack]");
    if let Some((page, path)) = trampoline {
        map([page, 0x1000, 0x1000], 5, none(), path.to_string_lossy().as_bytes());
    }
    for (stop, time) in stops.iter().zip(1..) {
        let pc = stop.regs.get(32).copied().unwrap_or_default();
        let sample = SampleBuilder {
            misc: 2,
            period: 1,
            ..SampleBuilder::at(pc, PROCESS, PROCESS, time * 1000)
        };
        data.sample(&sample.with_regs(&stop.regs).with_stack(&stop.stack));
    }
    Ok(data.build())
}
