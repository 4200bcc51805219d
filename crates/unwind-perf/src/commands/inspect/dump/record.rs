//! Keys and values of each type of record.

use address::{Pid, Tid};
use perf_data::{
    Aux, BpfEvent, Head, Ksymbol, Mmap, MmapId, Record, RecordedRegisters, RegsAbi, Sample,
    SimpleperfRecord, Switch, TextPoke, UserRecord,
};

use super::line::DumpLine;

/// Writes the fields of a sample. If `full`, its callchain and registers, otherwise only their counts.
pub(crate) fn sample(line: &mut DumpLine, head: &Head, sample: &Sample<'_>, full: bool) {
    if let Some(event) = head.events().get(usize::from(sample.event)) {
        line.text("event", event.name.as_bytes());
    }
    if let (Some(pid), Some(tid)) = (sample.pid, sample.tid) {
        line.signed("pid", pid.0);
        line.signed("tid", tid.0);
    }
    if let Some(cpu) = sample.cpu {
        line.number("cpu", cpu.into());
    }
    line.text("mode", format!("{:?}", sample.cpu_mode).to_lowercase().as_bytes());
    sample_words(line, sample);
    for read in sample.read.iter().flat_map(|read| read.iter()) {
        line.number("value", read.value);
        if let Some(lost) = read.lost {
            line.number("lost", lost);
        }
    }
    if let Some(chain) = sample.callchain {
        if full {
            line.list("callchain", chain.entries());
        } else {
            line.number("callchain", chain.len() as u64);
        }
    }
    if let Some(branches) = &sample.branch_stack {
        line.number("branches", branches.len() as u64);
    }
    if let Some(raw) = sample.raw {
        line.number("raw", raw.len() as u64);
    }
    registers(line, "regs", sample.user_regs, full);
    if let Some(stack) = sample.user_stack {
        line.number("stack", stack.bytes.len() as u64);
        line.number("stack_dumped", stack.dumped);
    }
    registers(line, "intr_regs", sample.intr_regs, full);
    if let Some(aux) = sample.aux {
        line.number("aux", aux.len() as u64);
    }
    if let Some(damage) = sample.damage {
        line.text("damage", format!("{damage:?}").as_bytes());
    }
}

/// Writes the fields of a sample that are one word each.
fn sample_words(line: &mut DumpLine, sample: &Sample<'_>) {
    let words = [
        ("ip", sample.ip.map(|ip| ip.0)),
        ("addr", sample.addr.map(|addr| addr.0).filter(|&addr| addr != 0)),
        ("data_src", sample.data_src),
        ("transaction", sample.transaction),
        ("phys_addr", sample.phys_addr),
        ("cgroup", sample.cgroup),
    ];
    for (key, value) in words {
        if let Some(value) = value {
            line.hex(key, value);
        }
    }
    let numbers = [("id", sample.id), ("stream_id", sample.stream_id), ("period", sample.period)];
    for (key, value) in numbers {
        if let Some(value) = value {
            line.number(key, value);
        }
    }
}

fn registers(line: &mut DumpLine, key: &str, registers: Option<RecordedRegisters<'_>>, full: bool) {
    let Some(registers) = registers else { return };
    let abi = match registers.abi() {
        RegsAbi::Bits32 => 32,
        RegsAbi::Bits64 => 64,
        RegsAbi::Unknown(other) => other,
    };
    line.number(&format!("{key}_abi"), abi);
    if full {
        line.hex(&format!("{key}_mask"), registers.mask());
        line.list(key, registers.iter().map(|(_, value)| value));
    }
}

fn map(line: &mut DumpLine, map: &Mmap<'_>) {
    task(line, map.pid, map.tid);
    line.hex("start", map.start.0);
    line.hex("len", map.len);
    line.hex("pgoff", map.pgoff.0);
    let bit = |bit: u32, letter: char| if map.prot & bit != 0 { letter } else { '-' };
    let shared = if map.flags & 1 != 0 { 's' } else { 'p' };
    let prot: String = [bit(1, 'r'), bit(2, 'w'), bit(4, 'x'), shared].into_iter().collect();
    line.text("prot", prot.as_bytes());
    match map.id {
        MmapId::None => {}
        MmapId::Inode { major, minor, inode, generation } => {
            line.text("device", format!("{major:02x}:{minor:02x}").as_bytes());
            line.number("inode", inode);
            line.number("generation", generation);
        }
        MmapId::BuildId(id) => line.bytes("build_id", id.as_bytes()),
    }
    line.text("path", map.path);
}

/// Writes the fields of a record that is not a sample. Each type is listed: a new one does not compile without its fields.
pub(crate) fn record(line: &mut DumpLine, record: &Record<'_>) {
    match record {
        Record::Mmap(it) => map(line, it),
        Record::Comm(it) => {
            task(line, it.pid, it.tid);
            line.text("comm", it.comm);
            line.flag("exec", it.exec);
        }
        Record::Fork(it) | Record::Exit(it) => {
            task(line, it.pid, it.tid);
            line.signed("ppid", it.ppid.0);
            line.signed("ptid", it.ptid.0);
        }
        Record::Lost(it) | Record::LostSamples(it) => {
            line.number("id", it.id);
            line.number("lost", it.lost);
        }
        Record::Throttle(it) | Record::Unthrottle(it) => {
            line.number("id", it.id);
            line.number("stream_id", it.stream_id);
        }
        Record::Read { pid, tid, values } => {
            task(line, *pid, *tid);
            for value in values.iter() {
                line.number("value", value.value);
            }
        }
        Record::Switch(it) => switch(line, *it),
        Record::Namespaces(it) => {
            task(line, it.pid, it.tid);
            let inodes = (0..it.len()).filter_map(|index| it.get(index));
            line.list("inodes", inodes.map(|namespace| namespace.inode));
        }
        Record::Ksymbol(it) => ksymbol(line, it),
        Record::BpfEvent(it) => bpf_event(line, it),
        Record::Cgroup(it) => {
            line.number("id", it.id);
            line.text("path", it.path);
        }
        Record::TextPoke(it) => text_poke(line, it),
        Record::Aux(it) => aux(line, *it),
        Record::ItraceStart { pid, tid } => task(line, *pid, *tid),
        Record::AuxOutputHwId(id) => line.hex("hw_id", *id),
        Record::CallchainDeferred(it) => {
            line.hex("cookie", it.cookie);
            line.list("callchain", it.chain.entries());
        }
        Record::User(it) => user(line, it),
        Record::Simpleperf(it) => simpleperf(line, it),
        Record::Unknown { .. } => {}
    }
}

fn task(line: &mut DumpLine, pid: Pid, tid: Tid) {
    line.signed("pid", pid.0);
    line.signed("tid", tid.0);
}

fn switch(line: &mut DumpLine, switch: Switch) {
    line.flag("out", switch.out);
    line.flag("preempted", switch.preempted);
    if let Some((pid, tid)) = switch.other {
        line.signed("other_pid", pid.0);
        line.signed("other_tid", tid.0);
    }
}

fn ksymbol(line: &mut DumpLine, symbol: &Ksymbol<'_>) {
    line.hex("addr", symbol.addr.0);
    line.hex("len", symbol.len.into());
    line.number("kind", symbol.kind.into());
    line.flag("unregister", symbol.unregister);
    line.text("name", symbol.name);
}

fn bpf_event(line: &mut DumpLine, event: &BpfEvent) {
    line.number("kind", event.kind.into());
    line.number("id", event.id.into());
    line.bytes("tag", &event.tag);
}

fn text_poke(line: &mut DumpLine, poke: &TextPoke<'_>) {
    line.hex("addr", poke.addr.0);
    line.bytes("old", poke.old);
    line.bytes("new", poke.new);
}

fn aux(line: &mut DumpLine, area: Aux) {
    line.hex("aux_offset", area.offset);
    line.hex("aux_size", area.size);
    line.hex("flags", area.flags);
}

fn user(line: &mut DumpLine, record: &UserRecord<'_>) {
    match record {
        UserRecord::HeaderAttr { attr, ids } => {
            line.number("attr_size", attr.len() as u64);
            line.list("ids", ids.iter());
        }
        UserRecord::EventType { config, name } => {
            line.hex("config", *config);
            line.text("name", name);
        }
        UserRecord::TracingData { size, .. } => line.number("payload", (*size).into()),
        UserRecord::BuildId(it) => {
            line.signed("pid", it.pid.0);
            line.bytes("build_id", it.build_id.as_ref().map_or(&[], |id| id.as_bytes()));
            line.text("name", it.name);
        }
        UserRecord::IdIndex(words) => line.number("entries", words.len() as u64 / 4),
        UserRecord::AuxtraceInfo { kind, .. } => line.number("kind", (*kind).into()),
        UserRecord::Auxtrace(it) => {
            line.hex("payload", it.size);
            line.hex("aux_offset", it.offset);
            line.signed("tid", it.tid);
        }
        UserRecord::ThreadMap(_) => {
            line.list("tids", record.threads().map(|thread| thread.tid));
        }
        UserRecord::StatRound { kind, time } => {
            line.number("kind", *kind);
            line.number("time", *time);
        }
        UserRecord::EventUpdate(it) => {
            line.number("kind", it.kind);
            line.number("id", it.id);
            if matches!(it.kind, 0 | 2) {
                line.text("text", it.payload);
            }
        }
        UserRecord::TimeConv(it) => {
            line.number("shift", it.shift);
            line.number("mult", it.mult);
            line.number("zero", it.zero);
        }
        UserRecord::Feature { bit, payload } => {
            line.number("feature", *bit);
            line.number("payload", payload.len() as u64);
        }
        UserRecord::Compressed(data) | UserRecord::CpuMap(data) | UserRecord::Schedstat(data) => {
            line.number("payload", data.len() as u64);
        }
        UserRecord::BpfMetadata(data) => bpf_metadata(line, data),
        UserRecord::FinishedRound
        | UserRecord::FinishedInit
        | UserRecord::AuxtraceError(_)
        | UserRecord::StatConfig(_)
        | UserRecord::Stat(_) => {}
    }
}

/// Writes the program's name and its name-value pairs, which have fields of fixed lengths.
///
/// Source: `tools/lib/perf/include/perf/event.h`, `struct perf_record_bpf_metadata`.
fn bpf_metadata(line: &mut DumpLine, data: &[u8]) {
    const PROGRAM: usize = 512;
    const COUNT: usize = 8;
    const KEY: usize = 64;
    const PAIR: usize = KEY + 256;
    line.text("program", text_in(data.get(..PROGRAM).unwrap_or(data)));
    let pairs = data.get(PROGRAM + COUNT..).unwrap_or_default().chunks_exact(PAIR);
    let pairs = pairs.map(|pair| pair.split_at(KEY));
    let pairs: Vec<_> =
        pairs.map(|(key, value)| [text_in(key), b"=", text_in(value)].concat()).collect();
    line.text("metadata", &pairs.join(&b','));
}

fn simpleperf(line: &mut DumpLine, record: &SimpleperfRecord<'_>) {
    match record {
        SimpleperfRecord::Dso { id, min_vaddr, name, .. } => {
            line.number("id", *id);
            line.hex("min_vaddr", *min_vaddr);
            line.text("name", name);
        }
        SimpleperfRecord::Symbol { addr, len, dso, name } => {
            line.hex("addr", *addr);
            line.hex("len", *len);
            line.number("dso", *dso);
            line.text("name", name);
        }
        SimpleperfRecord::EventIds(words) => line.number("entries", words.len() as u64 / 2),
        SimpleperfRecord::Callchain(it) => {
            line.signed("pid", it.pid.0);
            line.signed("tid", it.tid.0);
            line.number("kind", it.kind);
            line.number("sample_time_ns", it.time.0);
            line.list("callchain", it.chain.entries());
        }
        SimpleperfRecord::Debug { text, .. } => line.text("text", text),
        SimpleperfRecord::KernelSymbols(data)
        | SimpleperfRecord::Split(data)
        | SimpleperfRecord::TracingData(data)
        | SimpleperfRecord::UnwindingResult(data) => line.number("payload", data.len() as u64),
        SimpleperfRecord::SplitEnd => {}
    }
}

fn text_in(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}
