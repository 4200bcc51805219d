//! `unwind-perf buildid-list`: the build-ids of the recorded files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use address::{Avma, BuildId, ById as _};
use anyhow::Context as _;
use perf_data::{
    CallchainContext, CpuMode, Findings, MmapId, RawBody, Record, Sample, visit_records,
};
use pipeline::{Observer, Options, Unobserved};

use crate::args::{BuildIdArgs, open, pipeline, source, with_argument};
use crate::terminal::{Status, print_findings, shown, shown_json, status_of};

/// Build-ids with names.
type List = Vec<(BuildId, Vec<u8>)>;

/// Prints build-ids to standard output, each file once, in order of first appearance.
pub(crate) fn run(args: &BuildIdArgs) -> anyhow::Result<Status> {
    let (rows, findings) = if args.with_hits { with_hits(&args.input)? } else { all(&args.input)? };
    let mut text = Vec::new();
    for (id, name) in rows {
        let name = String::from_utf8_lossy(&name);
        if args.json {
            let row = serde_json::json!({ "build_id": id.to_string(), "name": name });
            writeln!(text, "{}", shown_json(&row.to_string()))?;
        } else {
            writeln!(text, "{id} {}", shown(&name))?;
        }
    }
    std::io::stdout().lock().write_all(&text)?;
    print_findings(&findings);
    Ok(status_of(&findings))
}

/// Files in order of first appearance.
#[derive(Default)]
struct FileList {
    files: BTreeMap<(BuildId, Vec<u8>), usize>,
}

impl FileList {
    fn add(&mut self, id: BuildId, name: &[u8]) {
        let next = self.files.len();
        self.files.entry((id, name.to_vec())).or_insert(next);
    }

    fn into_list(self) -> List {
        let mut rows: Vec<_> = self.files.into_iter().collect();
        rows.sort_by_key(|row| row.1);
        rows.into_iter().map(|row| row.0).collect()
    }
}

/// Returns all ids, from the build-id table and from the map records.
fn all(input: &Path) -> anyhow::Result<(List, Findings)> {
    let mut findings = Findings::default();
    let mut maps = FileList::default();
    let (recording, watch) = open(input)?;
    let visited = visit_records(recording, &mut findings, &mut |_, record| {
        if let RawBody::Record(Record::Mmap(map), _) = &record.body
            && let MmapId::BuildId(id) = map.id
        {
            maps.add(id, map.path);
        }
        ControlFlow::Continue(())
    })
    .with_context(|| format!("cannot read {}", input.display()))?;
    watch.check()?;
    let mut rows = FileList::default();
    for entry in visited.head.features().build_ids {
        if let Some(id) = entry.build_id {
            rows.add(id, entry.name);
        }
    }
    maps.into_list().iter().for_each(|(id, name)| rows.add(*id, name));
    Ok((rows.into_list(), findings))
}

/// Returns the ids of the modules that contain the addresses of samples and of their recorded callchains.
fn with_hits(input: &Path) -> anyhow::Result<(List, Findings)> {
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let maps = pipeline().maps(source(input), &Options::default(), &observer);
    let mut maps = maps.map_err(with_argument)?;
    // Modules in the order of their first hit.
    let mut hits = Vec::new();
    let mut files = BTreeSet::new();
    while let Some(batch) = maps.next_batch() {
        let mut records = batch.records().peekable();
        for entry in batch.samples() {
            let now = (entry.time, entry.position);
            while let Some(record) = records.next_if(|it| (it.time, it.position) < now) {
                maps.apply(&record);
            }
            let Ok(sample) = batch.sample(entry) else { continue };
            for (in_kernel, address) in addresses(&sample) {
                let timeline = &mut maps.timeline;
                let space = if in_kernel { timeline.kernel() } else { timeline.space(entry.pid).0 };
                if let Some(mapping) = space.lookup(address)
                    && files.insert(mapping.module)
                {
                    hits.push(mapping.module);
                }
            }
        }
        records.for_each(|record| maps.apply(&record));
    }
    maps.check_whole()?;
    // A stream lists its ids at the end, when the maps were already replayed without them.
    let listed = &maps.head().features().build_ids;
    let listed: BTreeMap<&[u8], BuildId> =
        listed.iter().filter_map(|entry| Some((entry.name, entry.build_id?))).collect();
    let mut rows = FileList::default();
    for module in hits.iter().filter_map(|id| maps.timeline.modules().by_id(*id)) {
        let id = module.identity.build_id.or_else(|| listed.get(&*module.path).copied());
        if let Some(id) = id {
            rows.add(id, &module.path);
        }
    }
    Ok((rows.into_list(), maps.findings))
}

/// Returns the sampled address and those of the recorded callchain, each with true if it is a kernel address.
/// Addresses of guests and of the hypervisor belong to no module of the host and are omitted.
fn addresses(sample: &Sample<'_>) -> Vec<(bool, Avma)> {
    let of_sample = match sample.cpu_mode {
        CpuMode::Kernel => Some(true),
        CpuMode::User | CpuMode::Unknown => Some(false),
        CpuMode::Hypervisor | CpuMode::GuestKernel | CpuMode::GuestUser => None,
    };
    let sampled = of_sample.zip(sample.ip);
    let mut all: Vec<_> = sampled.into_iter().collect();
    let chains = sample.callchain.iter().flat_map(|chain| chain.frames());
    all.extend(chains.filter_map(|(context, address)| match context {
        CallchainContext::Unmarked => Some((of_sample?, address)),
        CallchainContext::Kernel => Some((true, address)),
        CallchainContext::User => Some((false, address)),
        _ => None,
    }));
    all.extend(
        sample.user_callchain.iter().flat_map(|chain| chain.frames()).map(|it| (false, it.1)),
    );
    all
}
