//! `unwind-perf buildid-list`: which content the recorded files had.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::ControlFlow;

use address::{Avma, BuildId};
use anyhow::Context as _;
use perf_data::{
    Context, CpuMode, Findings, MmapId, Record, Sample, Session, SessionOptions, visit_records,
};

use crate::args::{BuildIdArgs, open};
use crate::terminal::{Status, status_of, tell};

/// Lists build ids to standard output, each file once, in order of first appearance.
pub(crate) fn run(args: &BuildIdArgs) -> anyhow::Result<Status> {
    let mut findings = Findings::default();
    let cannot_read = || format!("cannot read {}", args.input.display());
    let input = open(&args.input)?;
    let rows = if args.with_hits {
        with_hits(input, &mut findings).with_context(cannot_read)?
    } else {
        all(input, &mut findings).with_context(cannot_read)?
    };
    let mut text = Vec::new();
    for (id, name) in rows {
        let name = String::from_utf8_lossy(&name);
        if args.json {
            writeln!(text, "{}", serde_json::json!({ "build_id": id.to_string(), "name": name }))?;
        } else {
            writeln!(text, "{id} {name}")?;
        }
    }
    std::io::stdout().lock().write_all(&text)?;
    tell(&findings);
    Ok(status_of(&findings))
}

/// Files in order of first appearance.
#[derive(Default)]
struct Rows {
    known: BTreeMap<(BuildId, Vec<u8>), usize>,
}

impl Rows {
    fn add(&mut self, id: BuildId, name: &[u8]) {
        let next = self.known.len();
        self.known.entry((id, name.to_vec())).or_insert(next);
    }

    fn into_list(self) -> Vec<(BuildId, Vec<u8>)> {
        let mut rows: Vec<_> = self.known.into_iter().collect();
        rows.sort_by_key(|row| row.1);
        rows.into_iter().map(|row| row.0).collect()
    }
}

/// All ids: of the table, and of the map records.
fn all(
    input: perf_data::Input,
    findings: &mut Findings,
) -> Result<Vec<(BuildId, Vec<u8>)>, perf_data::Error> {
    let mut maps = Rows::default();
    let visited = visit_records(input, findings, &mut |_, record| {
        if let perf_data::RawBody::Record(Record::Mmap(map), _) = &record.body
            && let MmapId::BuildId(id) = map.id
        {
            maps.add(id, map.path);
        }
        ControlFlow::Continue(())
    })?;
    let mut rows = Rows::default();
    for entry in visited.head.features().build_ids {
        if let Some(id) = entry.build_id {
            rows.add(id, entry.name);
        }
    }
    maps.into_list().iter().for_each(|(id, name)| rows.add(*id, name));
    Ok(rows.into_list())
}

/// A process's map, by its end.
#[derive(Clone)]
struct Mapped {
    start: u64,
    id: Option<BuildId>,
    path: Vec<u8>,
}

/// The ids of what samples' own addresses and their recorded callchains lie in.
fn with_hits(
    input: perf_data::Input,
    findings: &mut Findings,
) -> Result<Vec<(BuildId, Vec<u8>)>, perf_data::Error> {
    let mut session = Session::open(input, SessionOptions::default(), findings)?;
    // Keys are process (-1 for the kernel) and last address, so that the first at or behind an address is its map.
    let mut maps: BTreeMap<(i32, u64), Mapped> = BTreeMap::new();
    let mut hits = BTreeMap::<(Vec<u8>, Option<BuildId>), usize>::new();
    while let Some(window) = session.next_window(findings) {
        let mut records = window.records().peekable();
        for entry in window.samples() {
            let now = (entry.time, entry.position);
            while let Some(record) = records.next_if(|it| (it.time, it.position) < now) {
                apply(&mut maps, &record.record);
            }
            let Ok(sample) = window.sample(entry) else { continue };
            for (kernel, address) in addresses(&sample) {
                let space = if kernel { -1 } else { entry.pid.0 };
                let found = maps.range((space, address.0)..=(space, u64::MAX)).next();
                if let Some((_, map)) = found.filter(|(_, map)| map.start <= address.0) {
                    let next = hits.len();
                    hits.entry((map.path.clone(), map.id)).or_insert(next);
                }
            }
        }
        records.for_each(|record| apply(&mut maps, &record.record));
    }
    let head = session.head();
    let listed: BTreeMap<Vec<u8>, BuildId> = head
        .features()
        .build_ids
        .iter()
        .filter_map(|entry| Some((entry.name.to_vec(), entry.build_id?)))
        .collect();
    let mut hits: Vec<_> = hits.into_iter().collect();
    hits.sort_by_key(|hit| hit.1);
    let mut rows = Rows::default();
    for ((path, id), _) in hits {
        // The map of the kernel is named `[kernel.kallsyms]_text`, its id `[kernel.kallsyms]`.
        let end = if path.starts_with(b"[kernel.kallsyms]") { 17 } else { path.len() };
        if let Some(id) = id.or_else(|| listed.get(&path[..end]).copied()) {
            rows.add(id, &path[..end]);
        }
    }
    Ok(rows.into_list())
}

/// Moves the maps over one record. A later map wins the addresses that it covers.
fn apply(maps: &mut BTreeMap<(i32, u64), Mapped>, record: &Record<'_>) {
    match record {
        Record::Mmap(map) if map.len > 0 => {
            let kernel = matches!(map.cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel);
            let space = if kernel { -1 } else { map.pid.0 };
            let (start, end) = (map.start.0, map.start.0.saturating_add(map.len - 1));
            let id = if let MmapId::BuildId(id) = map.id { Some(id) } else { None };
            cut(maps, space, start, end);
            maps.insert((space, end), Mapped { start, id, path: map.path.to_vec() });
        }
        Record::Fork(task) if task.pid != task.ppid && !task.synthesized => {
            drop_all(maps, task.pid.0);
            let parent = (task.ppid.0, 0)..=(task.ppid.0, u64::MAX);
            let copy: Vec<_> =
                maps.range(parent).map(|(key, map)| ((task.pid.0, key.1), map.clone())).collect();
            maps.extend(copy);
        }
        Record::Comm(comm) if comm.exec => drop_all(maps, comm.pid.0),
        _ => {}
    }
}

fn cut(maps: &mut BTreeMap<(i32, u64), Mapped>, space: i32, start: u64, end: u64) {
    let over = maps.range((space, start)..=(space, u64::MAX));
    let keys: Vec<_> = over.take_while(|(_, map)| map.start <= end).map(|(key, _)| *key).collect();
    for key in keys {
        let Some(old) = maps.remove(&key) else { continue };
        if key.1 > end {
            maps.insert(key, Mapped { start: end + 1, ..old.clone() });
        }
        if old.start < start {
            maps.insert((space, start - 1), old);
        }
    }
}

fn drop_all(maps: &mut BTreeMap<(i32, u64), Mapped>, space: i32) {
    let keys: Vec<_> = maps.range((space, 0)..=(space, u64::MAX)).map(|(key, _)| *key).collect();
    keys.iter().for_each(|key| drop(maps.remove(key)));
}

/// The sampled address and those of the recorded callchain, each with whether it is the kernel's.
fn addresses(sample: &Sample<'_>) -> Vec<(bool, Avma)> {
    let in_kernel = sample.cpu_mode == CpuMode::Kernel;
    let mut all: Vec<_> = sample.ip.map(|ip| (in_kernel, ip)).into_iter().collect();
    let chains = sample.callchain.iter().flat_map(|chain| chain.frames());
    all.extend(chains.map(|(context, address)| match context {
        Context::Unmarked => (in_kernel, address),
        context => (context == Context::Kernel, address),
    }));
    all.extend(
        sample.user_callchain.iter().flat_map(|chain| chain.frames()).map(|it| (false, it.1)),
    );
    all
}
