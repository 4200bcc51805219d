//! `unwind-perf info`: description of a recording, its machine, its events and the counts of its records.

use std::io::Write as _;
use std::ops::ControlFlow;

use address::Arch;
use anyhow::Context as _;
use perf_data::{
    Endian, Event, Features, FieldColumn, Findings, Head, RecordCounts, RecordedFields,
    visit_records,
};
use serde_json::{Map, Value, json};

use crate::args::{InfoArgs, open};
use crate::terminal::{Status, print_findings, shown, shown_json, status_of, to_width};

/// Prints the description of a recording. Reads all of it, so that damage anywhere is reported.
pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<Status> {
    let mut findings = Findings::default();
    let (input, watch) = open(&args.input)?;
    let visited = visit_records(input, &mut findings, &mut |_, _| ControlFlow::Continue(()))
        .with_context(|| format!("cannot read {}", args.input.display()))?;
    watch.check()?;
    let mut info = Info::new();
    machine(&mut info, &visited.head);
    features(&mut info, &visited.head.features());
    let events = visited.head.events().iter().map(event).collect();
    info.push(("events", Value::Array(events)));
    fields(&mut info, &visited.head);
    records(&mut info, &visited.head, &visited.counts);
    let rows = findings.iter().map(|group| {
        let message = group.examples.first().map(ToString::to_string).unwrap_or_default();
        let kind = group.examples.first().map_or("", perf_data::Finding::kind);
        json!({ "kind": kind, "message": message, "count": group.count })
    });
    let rows: Vec<Value> = rows.collect();
    let mut text = Vec::new();
    if args.json {
        info.push(("findings", Value::Array(rows)));
        for (index, (key, value)) in info.iter().enumerate() {
            let value = shown_json(&value.to_string());
            writeln!(text, "{} \"{key}\": {value}", if index == 0 { '{' } else { ',' })?;
        }
        text.extend_from_slice(b"}\n");
    } else {
        print(&info, &mut text)?;
        text = to_width(&String::from_utf8_lossy(&text)).into_bytes();
    }
    std::io::stdout().lock().write_all(&text)?;
    if !args.json {
        print_findings(&findings);
    }
    Ok(status_of(&findings))
}

/// The fields of samples, which `--with-fields` selects.
fn fields(info: &mut Info, head: &Head) {
    let fields = RecordedFields::of(head);
    let field = |column: &FieldColumn| {
        let event = head.events().get(usize::from(column.event))?;
        let kind = column.kind.as_str();
        Some(json!({ "event": event.name, "field": text(&column.name), "type": kind }))
    };
    let rows: Vec<Value> = fields.columns().iter().filter_map(field).collect();
    set(info, "fields", (!rows.is_empty()).then_some(Value::Array(rows)));
    set(info, "fields_omitted", (fields.omitted() > 0).then(|| fields.omitted().into()));
}

/// Keys and values, in output order.
type Info = Vec<(&'static str, Value)>;

fn set(info: &mut Info, key: &'static str, value: Option<Value>) {
    info.extend(value.map(|value| (key, value)));
}

fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}

fn machine(info: &mut Info, head: &Head) {
    let machine = head.machine();
    let container = if head.is_pipe() { "pipe" } else { "file" };
    set(info, "container", Some(container.into()));
    let order = if head.endian() == Endian::Little { "little" } else { "big" };
    set(info, "byte_order", Some(order.into()));
    set(info, "machine", Some(machine.arch.map_or("unknown", Arch::name).into()));
    set(info, "machine_source", Some(format!("{:?}", machine.source).into()));
    set(info, "simpleperf", head.is_simpleperf().then_some(true.into()));
}

fn features(info: &mut Info, features: &Features<'_>) {
    let strings = [
        ("hostname", features.hostname),
        ("os_release", features.os_release),
        ("version", features.version),
        ("arch", features.arch),
        ("cpu_description", features.cpu_description),
        ("cpu_id", features.cpu_id),
    ];
    for (key, value) in strings {
        set(info, key, value.map(text));
    }
    if let Some(count) = features.cpu_count {
        set(info, "cpus_online", Some(count.online.into()));
        set(info, "cpus_available", Some(count.available.into()));
    }
    set(info, "total_memory_kib", features.total_memory_kib.map(Into::into));
    if !features.command_line.is_empty() {
        let words = features.command_line.iter().map(|word| text(word)).collect();
        set(info, "command_line", Some(Value::Array(words)));
    }
    if let Some((first, last)) = features.sample_time {
        set(info, "first_sample_ns", Some(first.0.into()));
        set(info, "last_sample_ns", Some(last.0.into()));
    }
    set(info, "clock_resolution_ns", features.clock_resolution_ns.map(Into::into));
    if let Some(clock) = &features.clock_data {
        let clock =
            json!({ "clockid": clock.clockid, "wall_ns": clock.wall_ns, "time_ns": clock.time.0 });
        set(info, "clock", Some(clock));
    }
    set(info, "directory_version", features.directory_version.map(Into::into));
    if let Some(it) = &features.compressed {
        let compressed = json!({ "kind": it.kind, "level": it.level, "ratio": it.ratio, "mmap_len": it.mmap_len });
        set(info, "compressed", Some(compressed));
    }
    set(info, "branch_stacks", features.branch_stack.then_some(true.into()));
    set(info, "stat", features.stat.then_some(true.into()));
    set(info, "cache_line", features.cache_line.map(Into::into));
    lists(info, features);
}

fn lists(info: &mut Info, features: &Features<'_>) {
    let pmus = features.pmu_mappings.iter();
    let pmus: Map<_, _> =
        pmus.map(|pmu| (String::from_utf8_lossy(pmu.name).into_owned(), pmu.kind.into())).collect();
    set(info, "pmus", (!pmus.is_empty()).then_some(Value::Object(pmus)));
    let groups: Vec<_> = features.groups.iter().map(|group| json!({ "name": text(group.name), "leader": group.leader, "members": group.members })).collect();
    set(info, "groups", (!groups.is_empty()).then_some(Value::Array(groups)));
    if let Some(topology) = &features.cpu_topology {
        let list = |names: &[&[u8]]| names.iter().map(|name| text(name)).collect::<Vec<_>>();
        let topology = json!({ "cores": list(&topology.cores), "threads": list(&topology.threads), "dies": list(&topology.dies) });
        set(info, "cpu_topology", Some(topology));
    }
    let nodes = features.numa_nodes.iter().map(|node| {
        json!({ "node": node.node, "total_kib": node.total_kib, "free_kib": node.free_kib, "cpus": text(node.cpus) })
    });
    let nodes: Vec<_> = nodes.collect();
    set(info, "numa_nodes", (!nodes.is_empty()).then_some(Value::Array(nodes)));
    let caches = features.caches.iter().map(|cache| {
        json!({ "level": cache.level, "kind": text(cache.kind), "size": text(cache.size), "line": cache.line_size, "cpus": text(cache.cpus) })
    });
    let caches: Vec<_> = caches.collect();
    set(info, "caches", (!caches.is_empty()).then_some(Value::Array(caches)));
    let caps = features.cpu_pmu_caps.iter();
    let caps: Map<_, _> =
        caps.map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), text(value))).collect();
    set(info, "cpu_pmu_caps", (!caps.is_empty()).then_some(Value::Object(caps)));
    let meta = features.simpleperf_meta.iter();
    let meta: Map<_, _> =
        meta.map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), text(value))).collect();
    set(info, "simpleperf_meta", (!meta.is_empty()).then_some(Value::Object(meta)));
    set(info, "build_ids", Some(features.build_ids.len().into()));
    set(info, "bpf_programs", Some(features.bpf_programs.len().into()).filter(|n| *n != json!(0)));
    set(info, "features", Some(features.bits().collect::<Vec<_>>().into()));
}

fn event(event: &Event) -> Value {
    let attr = &event.attr;
    let period = if attr.flags.freq() { "sample_freq" } else { "sample_period" };
    json!({
        "name": event.name,
        "type": attr.kind,
        "size": attr.size,
        "config": format!("{:#x}", attr.config),
        period: attr.sample_period,
        "sample_type": format!("{:#x}", attr.sample_type.0),
        "read_format": format!("{:#x}", attr.read_format.0),
        "flags": format!("{:#x}", attr.flags.0),
        "precise_ip": attr.flags.precise_ip(),
        "branch_sample_type": format!("{:#x}", attr.branch_sample_type),
        "sample_regs_user": format!("{:#x}", attr.sample_regs_user),
        "sample_stack_user": attr.sample_stack_user,
        "clockid": if attr.flags.use_clockid() { Value::from(attr.clockid) } else { Value::Null },
        "ids": event.ids.len(),
    })
}

fn records(info: &mut Info, head: &Head, counts: &RecordCounts) {
    let by_type = counts.iter().map(|(kind, count)| {
        (
            kind.to_string(),
            json!({ "type": kind.0, "records": count.records, "bytes": count.bytes }),
        )
    });
    info.push(("records", Value::Object(by_type.collect())));
    let losses = head
        .events()
        .iter()
        .zip(counts.losses.by_event())
        .filter(|(_, losses)| **losses != perf_data::EventLosses::default());
    let losses: Vec<_> = losses.map(|(event, it)| json!({ "event": event.name, "lost_records": it.records, "lost_samples": it.samples, "counted": it.counted })).collect();
    set(info, "losses", (!losses.is_empty()).then_some(Value::Array(losses)));
    set(info, "skipped_bytes", Some(counts.skipped_bytes.into()));
}

/// Prints `key: value` lines; lists and objects get an indented line for each entry.
fn print(info: &Info, out: &mut Vec<u8>) -> std::io::Result<()> {
    for (key, value) in info {
        let key = key.replace('_', " ");
        match value {
            Value::Array(values) if values.iter().any(Value::is_object) => {
                writeln!(out, "{key}:")?;
                values.iter().try_for_each(|value| writeln!(out, "  {}", shown(&plain(value))))?;
            }
            Value::Object(entries) => {
                writeln!(out, "{key}:")?;
                entries.iter().try_for_each(|(key, value)| {
                    writeln!(out, "  {}: {}", shown(key), shown(&plain(value)))
                })?;
            }
            value => writeln!(out, "{key}: {}", shown(&plain(value)))?,
        }
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            entries
                .map(|(key, value)| format!("{key} {}", plain(value)))
                .collect::<Vec<_>>()
                .join(", ")
        }
        value => value.to_string(),
    }
}
