//! Active hints: the hints in force in a process, and the effects of fork and exec on them.
//!
//! Hints of one scope form a layer. A process has a few layers,
//! and a map record looks up the hints in its range by address.
//! The cost of a record is therefore independent of the number of hints.

use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};
use hashbrown::{HashMap, HashSet};
use options::HintScope;

use crate::process::journal::Journal;
use crate::process::renewal::Renewal;
use crate::process::waiting::LazySpace;
use crate::space::{Mapping, Space};

/// A hint with the module of its file.
#[derive(Debug)]
struct ActiveHint {
    /// Process of the hint; `None` if it applies to every process or to a name.
    owner: Option<Pid>,
    mapping: Mapping,
    /// True if a recorded map of its own process overlapped its range.
    reached: bool,
}

/// Hints of one scope that are in force together.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// Unique among layers with different hints.
    id: u32,
    order: LayerOrder,
    /// Indexes of the hints in address order. They do not overlap, which `Hint::check` ensures.
    hints: Vec<u32>,
    is_sorted: bool,
}

/// Order of applying layers: broad ones first, then in the given order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct LayerOrder {
    /// Lower for a broader scope.
    breadth: u8,
    /// Index of the first hint of the scope.
    first_hint: u32,
}

/// Hints in force in a process, in the order of application.
pub(crate) type InForce = Vec<Arc<Layer>>;

/// The hints of one scope.
#[derive(Debug)]
struct ScopeHints {
    layer: Arc<Layer>,
    /// A space with only this layer and the broader ones, and the id of the next broader layer.
    base: Option<(u32, Arc<LazySpace>)>,
    /// Hints of a process that a recorded map of it overlapped.
    reached: Vec<u32>,
    /// Number of recorded forks that made the process.
    forks: u32,
}

/// All hints.
#[derive(Debug, Default)]
pub(crate) struct ActiveHints {
    all: Vec<ActiveHint>,
    modules: HashSet<ModuleId>,
    everywhere: Option<ScopeHints>,
    by_comm: HashMap<Box<[u8]>, ScopeHints>,
    by_pid: HashMap<Pid, ScopeHints>,
    n_layers: u32,
}

impl ActiveHints {
    pub(crate) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns true if a module is the file of a hint.
    pub(crate) fn has(&self, module: ModuleId) -> bool {
        self.modules.contains(&module)
    }

    /// Adds a hint for the addresses from `start` to `end`.
    pub(crate) fn push(
        &mut self,
        scope: &HintScope,
        start: Avma,
        end: Avma,
        offset: FileOffset,
        module: ModuleId,
    ) {
        let mapping = Mapping { start, end, offset, module, executable: true, writable: false };
        let owner = if let HintScope::Process(pid) = scope { Some(*pid) } else { None };
        let index = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(ActiveHint { owner, mapping, reached: false });
        self.modules.insert(module);
        self.n_layers += 1;
        let id = self.n_layers;
        let new = |breadth| move || ScopeHints::new(id, LayerOrder { breadth, first_hint: index });
        let scope = match scope {
            HintScope::All => self.everywhere.get_or_insert_with(new(0)),
            HintScope::Comm(name) => self.by_comm.entry(name.clone()).or_insert_with(new(1)),
            HintScope::Process(pid) => self.by_pid.entry(*pid).or_insert_with(new(2)),
        };
        scope.base = None;
        let layer = Arc::make_mut(&mut scope.layer);
        (layer.id, layer.is_sorted) = (id, false);
        layer.hints.push(index);
    }

    /// Returns the hints that apply to a process under that name, without inherited ones.
    pub(crate) fn own(&mut self, pid: Pid, comm: &[u8]) -> InForce {
        let Self { all, everywhere, by_comm, by_pid, .. } = self;
        let scopes = [everywhere.as_mut(), by_comm.get_mut(comm), by_pid.get_mut(&pid)];
        let layers = scopes.into_iter().flatten().map(|scope| scope.sorted(all).clone());
        layers.filter(|layer| !layer.hints.is_empty()).collect()
    }

    /// Returns the initial space of a process, with only the hints of [`Self::own`].
    pub(crate) fn base(&mut self, pid: Pid, comm: &[u8], empty: &Arc<LazySpace>) -> Arc<LazySpace> {
        let Self { all, everywhere, by_comm, by_pid, .. } = self;
        let scopes = [everywhere.as_mut(), by_comm.get_mut(comm), by_pid.get_mut(&pid)];
        let (mut below, mut space) = (0, empty.clone());
        for scope in scopes.into_iter().flatten() {
            space = scope.over(below, &space, all);
            below = scope.layer.id;
        }
        space
    }

    /// Records that a process was forked. The first record is its birth;
    /// another one means a new process with the same id.
    /// A hint with memory that was already mapped by then was not meant for the new one.
    pub(crate) fn forked(&mut self, pid: Pid) {
        if let Some(scope) = self.by_pid.get_mut(&pid) {
            scope.forks += 1;
            if scope.forks > 1 {
                self.end_reached(pid);
            }
        }
    }

    /// Records that a process executed another program.
    /// A hint was meant for the program that mapped its range; hints that were not overlapped yet remain.
    pub(crate) fn executed(&mut self, pid: Pid) {
        self.end_reached(pid);
    }

    fn end_reached(&mut self, pid: Pid) {
        let Self { all, by_pid, n_layers, .. } = self;
        let Some(scope) = by_pid.get_mut(&pid).filter(|scope| !scope.reached.is_empty()) else {
            return;
        };
        scope.reached.clear();
        scope.base = None;
        *n_layers += 1;
        let layer = Arc::make_mut(&mut scope.layer);
        layer.id = *n_layers;
        layer.hints.retain(|&index| all.get(index as usize).is_some_and(|hint| !hint.reached));
    }

    /// Applies the hints in force to a space again, after a map of `pid` from `start` to `end` covered them there.
    pub(crate) fn apply(
        &mut self,
        in_force: &[Arc<Layer>],
        space: &mut Space,
        pid: Pid,
        start: Avma,
        end: Avma,
        journal: &mut Journal,
    ) {
        for layer in in_force {
            for &index in layer.between(&self.all, start, end) {
                let Some(hint) = self.all.get_mut(index as usize) else { continue };
                put(hint, start, end, space, pid, journal);
                if hint.owner == Some(pid) && !std::mem::replace(&mut hint.reached, true) {
                    let scope = self.by_pid.get_mut(&pid);
                    scope.into_iter().for_each(|scope| scope.reached.push(index));
                }
            }
        }
    }

    /// Applies one of the layers in force to a space that has the others.
    pub(crate) fn begin(
        &self,
        layer: &Layer,
        in_force: &[Arc<Layer>],
        space: &mut Space,
        pid: Pid,
        journal: &mut Journal,
    ) {
        let last = in_force.last().is_some_and(|last| last.id == layer.id);
        for hint in layer.hints.iter().filter_map(|&index| self.all.get(index as usize)) {
            let Mapping { start, end, .. } = hint.mapping;
            put(hint, start, end, space, pid, journal);
            let above = in_force.iter().filter(|above| !last && above.order > layer.order);
            for above in above {
                for &index in above.between(&self.all, start, end) {
                    let hint = self.all.get(index as usize);
                    hint.into_iter().for_each(|hint| put(hint, start, end, space, pid, journal));
                }
            }
        }
    }

    /// Gives all hints the modules of a renewed timeline.
    pub(crate) fn renew(&mut self, renewal: &mut Renewal<'_>) {
        let Self { all, modules, everywhere, by_comm, by_pid, n_layers: _ } = self;
        for hint in all {
            hint.mapping.module = renewal.module(hint.mapping.module);
        }
        *modules = modules.iter().map(|id| renewal.module(*id)).collect();
        let scopes = everywhere.iter_mut().chain(by_comm.values_mut()).chain(by_pid.values_mut());
        scopes.for_each(|scope| scope.base = None);
    }

    /// Adds the initial hints of a process to the journal, in the given order.
    pub(crate) fn note(&self, in_force: &[Arc<Layer>], pid: Pid, journal: &mut Journal) {
        if !journal.on {
            return;
        }
        for layer in in_force {
            let mut given = layer.hints.clone();
            given.sort_unstable();
            let hints = given.into_iter().filter_map(|index| self.all.get(index as usize));
            hints.for_each(|hint| journal.add(pid, &hint.mapping));
        }
    }
}

/// Applies the part of a hint between two addresses.
fn put(
    hint: &ActiveHint,
    start: Avma,
    end: Avma,
    space: &mut Space,
    pid: Pid,
    journal: &mut Journal,
) {
    let part = hint.mapping.part(hint.mapping.start.max(start), hint.mapping.end.min(end));
    space.map(part);
    journal.add(pid, &part);
}

/// Adds layers to those in force, each once. Returns the new ones.
pub(crate) fn add_layers(in_force: &mut InForce, own: InForce) -> InForce {
    let is_new = |layer: &Arc<Layer>| in_force.iter().all(|known| known.id != layer.id);
    let new: InForce = own.into_iter().filter(is_new).collect();
    in_force.extend(new.iter().cloned());
    in_force.sort_by_key(|layer| layer.order);
    new
}

impl ScopeHints {
    fn new(id: u32, order: LayerOrder) -> Self {
        let layer = Arc::new(Layer { id, order, hints: Vec::new(), is_sorted: true });
        Self { layer, base: None, reached: Vec::new(), forks: 0 }
    }

    /// Returns the layer with its hints in address order.
    fn sorted(&mut self, all: &[ActiveHint]) -> &Arc<Layer> {
        if !self.layer.is_sorted {
            let layer = Arc::make_mut(&mut self.layer);
            layer.hints.sort_by_key(|&index| all.get(index as usize).map(|it| it.mapping.start));
            layer.is_sorted = true;
        }
        &self.layer
    }

    /// Returns the layer over a space with the layer `below` on top. It is made once.
    fn over(&mut self, below: u32, space: &Arc<LazySpace>, all: &[ActiveHint]) -> Arc<LazySpace> {
        let layer = self.sorted(all).clone();
        if let Some((_, base)) = self.base.as_ref().filter(|(id, _)| *id == below) {
            return base.clone();
        }
        let mut space = space.clone();
        LazySpace::change(&mut space, |made| {
            let hints = layer.hints.iter().filter_map(|&index| all.get(index as usize));
            hints.for_each(|hint| made.space_mut().map(hint.mapping));
        });
        self.base = Some((below, space.clone()));
        space
    }
}

impl Layer {
    /// Returns the hints that overlap a range.
    fn between(&self, all: &[ActiveHint], start: Avma, end: Avma) -> &[u32] {
        let mapping = |&index: &u32| all.get(index as usize).map(|hint| hint.mapping);
        let first = self.hints.partition_point(|at| mapping(at).is_some_and(|it| it.end <= start));
        let last = self.hints.partition_point(|at| mapping(at).is_some_and(|it| it.start < end));
        self.hints.get(first..last).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(count: u64, scope: &HintScope) -> ActiveHints {
        let mut hints = ActiveHints::default();
        for at in (0..count).rev() {
            let start = Avma(0x1000 * at);
            hints.push(scope, start, start.add(0x800), FileOffset(0), ModuleId(7));
        }
        hints
    }

    /// The cost of a map depends only on the hints in its range.
    #[test]
    fn a_map_looks_at_the_hints_in_its_range() {
        let mut hints = hints(100_000, &HintScope::Process(Pid(1)));
        let in_force = hints.own(Pid(1), b"");
        let mut journal = Journal { on: true, ..Journal::default() };
        for (start, end, expected) in [
            (0x0, 0x1, 1),
            (0x5700, 0x7001, 3),
            (0x5800, 0x6000, 0),
            (0x1869_f000, u64::MAX, 1),
            (0x186a_0000, u64::MAX, 0),
        ] {
            let (from, to) = (Avma(start), Avma(end));
            hints.apply(&in_force, &mut Space::default(), Pid(1), from, to, &mut journal);
            let rows = std::mem::take(&mut journal.rows);
            assert_eq!(rows.len(), expected, "{start:#x}");
            assert!(rows.iter().all(|(_, it)| it.start.0 >= start && it.end.0 <= end));
        }
        let mut reached = hints.by_pid[&Pid(1)].reached.clone();
        reached.sort_unstable();
        assert_eq!(reached, [0, 99_992, 99_993, 99_994, 99_999]);
        hints.executed(Pid(1));
        assert_eq!(hints.own(Pid(1), b"")[0].hints.len(), 99_995);
    }

    /// Processes with the same initial hints share a space.
    #[test]
    fn a_space_of_hints_is_made_once() {
        let mut hints = hints(1_000, &HintScope::All);
        let (start, end) = (Avma(0x200), Avma(0x300));
        let named = HintScope::Comm(b"app"[..].into());
        hints.push(&named, start, end, FileOffset(0), ModuleId(8));
        hints.push(&HintScope::Process(Pid(2)), start, end, FileOffset(0), ModuleId(9));
        let empty = Arc::new(LazySpace::of(crate::process::waiting::BuiltSpace::default()));
        let mut version = |pid, comm| hints.base(Pid(pid), comm, &empty).space().version();
        let plain = version(1, b"");
        assert_eq!(version(3, b"other"), plain);
        let app = version(1, b"app");
        assert_eq!((version(4, b"app"), version(5, b"")), (app, plain));
        let process = version(2, b"");
        assert_eq!(version(2, b""), process);
        let mut narrower = |pid, comm: &[u8]| {
            let base = hints.base(Pid(pid), comm, &empty);
            let modules = base.space().mappings().map(|mapping| mapping.module.0);
            modules.filter(|&module| module != 7).collect::<Vec<_>>()
        };
        assert_eq!((narrower(1, b""), narrower(1, b"app")), (vec![], vec![8]));
        assert_eq!((narrower(2, b"app"), narrower(2, b"")), (vec![9], vec![9]));
    }
}
