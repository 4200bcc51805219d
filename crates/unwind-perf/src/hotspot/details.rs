//! Details from the header of a recording besides its events: machine, event groups and tracepoints.

use address::Pid;
use formats::{Details, GroupRow, MemoryNodeRow, TracepointRow};
use hashbrown::HashSet;
use perf_data::{Head, TracingData};
use profile::Strings;

/// Adds the tracepoints that are still missing: in a stream they may come late.
pub(super) fn learn_tracepoints(head: &Head, details: &mut Details, strings: &mut Strings) {
    let Some(data) = head.features().tracing_data.and_then(TracingData::parse) else { return };
    let recorded = head.events().iter().filter(|event| is_tracepoint(event));
    let mut wanted: HashSet<u64> = recorded.map(|event| event.attr.config).collect();
    details.tracepoints.iter().for_each(|row| {
        wanted.remove(&row.id);
    });
    let new = data.formats().filter(|(id, _)| wanted.contains(id));
    let rows: Vec<TracepointRow> = new
        .map(|(id, format)| TracepointRow {
            id,
            system: strings.intern(format.system),
            name: strings.intern(format.name),
        })
        .collect();
    details.tracepoints.extend(rows);
}

/// Returns true if an event is a tracepoint; its `config` is then the id.
pub(super) const fn is_tracepoint(event: &perf_data::Event) -> bool {
    /// Source: `include/uapi/linux/perf_event.h`, `PERF_TYPE_TRACEPOINT`.
    const TRACEPOINT: u32 = 2;
    event.attr.kind == TRACEPOINT
}

/// Returns the header's details about the machine.
pub(super) fn machine_details(head: &Head, strings: &mut Strings) -> Details {
    let features = head.features();
    let mut details = Details::default();
    for entry in &features.build_ids {
        if let Some(id) = entry.build_id {
            let pid = if entry.pid.0 == 0 { Pid(-1) } else { entry.pid };
            details.build_ids.push((pid, id, strings.intern(entry.name)));
        }
    }
    if let Some(topology) = &features.cpu_topology {
        details.core_sets = topology.cores.iter().map(|set| strings.intern(set)).collect();
        details.thread_sets = topology.threads.iter().map(|set| strings.intern(set)).collect();
    }
    let nodes = features.numa_nodes.iter().map(|node| MemoryNodeRow {
        node: node.node,
        total_kib: node.total_kib,
        free_kib: node.free_kib,
        cpus: strings.intern(node.cpus),
    });
    details.memory_nodes = nodes.collect();
    let units = features.pmu_mappings.iter().map(|pmu| (pmu.kind, strings.intern(pmu.name)));
    details.units = units.collect();
    let groups = features.groups.iter().map(|group| GroupRow {
        name: strings.intern(group.name),
        leader: group.leader,
        members: group.members,
    });
    details.groups = groups.collect();
    details
}
