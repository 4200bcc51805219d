//! Names of code in memory, looked up by address in the map that its process wrote, for any kind of memory.

use std::borrow::Cow;
use std::sync::Arc;

use address::{Avma, ById as _, ModuleId, Pid};
use hashbrown::{HashMap, HashSet};
use image_store::{FileFindingKind, LoadError, PerfMapAge, PerfMapFile};
use module_map::MappedKind;
use profile::{LocationId, LocationRow, Profile, StackId};

use super::Sources;
use super::location_names::LocationNames;

/// Addresses of code in the processes that ran it.
pub(super) type ProcessAddresses = Vec<(Pid, Avma)>;

/// Limit on the addresses stored for a location: processes that share code have it at few addresses.
const MOST_PLACES: usize = 4;
/// Limit on the number of ancestor processes with maps that are searched.
const MOST_FORKS: usize = 16;

/// The perf maps, by process.
type PerfMaps = HashMap<Pid, Arc<PerfMapFile>>;

impl Sources<'_> {
    /// Returns the addresses in processes of the locations from `first`, keyed by their index after `first`.
    /// Only locations in shared memory or in an unlinked file are included, because no verified file covers them.
    pub(super) fn addresses_in_memory(
        &self,
        profile: &Profile,
        first: LocationId,
    ) -> HashMap<usize, ProcessAddresses> {
        let mut addresses = HashMap::new();
        if !self.options.look_up {
            return addresses;
        }
        let new = profile.locations.as_slice().get(first.index()..).unwrap_or_default();
        let modules: HashSet<ModuleId> = new
            .iter()
            .filter_map(|location| location.module)
            .filter(|&module| self.is_in_memory(module))
            .collect();
        if modules.is_empty() {
            return addresses;
        }
        let place = |id: LocationId| {
            let module = profile.locations.get(id)?.module?;
            id.index().checked_sub(first.index()).filter(|_| modules.contains(&module))
        };
        let stacks = stacks_with(profile, |location| place(location).is_some());
        let is_wanted = |stack: &StackId| stacks.by_id(*stack) == Some(&true);
        let mut visited: HashSet<(Pid, StackId)> = HashSet::new();
        for sample in &profile.samples {
            let mut next = sample.stack.filter(is_wanted);
            let Some(thread) = next.and_then(|_| self.threads.by_id(sample.thread)) else {
                continue;
            };
            // The callers of a visited node were visited with it.
            while let Some(node) = next.filter(|&node| visited.insert((thread.pid, node)))
                && let Some(row) = profile.stacks.get(node)
            {
                next = row.parent.filter(|&parent| parent < node).filter(is_wanted);
                let Some(frame) = profile.frames.get(row.frame) else { continue };
                let Some(at) = place(frame.location) else { continue };
                let Some(address) = profile.frame_address(sample, row.frame) else { continue };
                let known: &mut ProcessAddresses = addresses.entry(at).or_default();
                if known.len() < MOST_PLACES && !known.contains(&(thread.pid, address)) {
                    known.push((thread.pid, address));
                }
            }
        }
        addresses
    }

    /// Returns true if code of the module is looked up by address, because no verified file covers it.
    fn is_in_memory(&self, module: ModuleId) -> bool {
        let Some(module) = self.timeline.modules().by_id(module) else { return false };
        matches!(
            (module.kind, self.images.outcome(module)),
            (MappedKind::Unopened, Some(Err(_)) | None)
                | (MappedKind::File, Some(Err(LoadError::Deleted(_) | LoadError::Missing(_))))
        )
    }

    /// Names code of just-in-time compilers by the maps of their processes. `in_memory` holds the addresses of code in
    /// shared or unlinked memory.
    pub(super) fn jit(
        &self,
        named: &mut LocationNames<'_>,
        in_memory: &HashMap<usize, ProcessAddresses>,
    ) {
        let mut pids: HashSet<Pid> = HashSet::new();
        for location in named.locations.iter() {
            pids.extend(self.owners(location));
        }
        pids.extend(in_memory.values().flatten().map(|place| place.0));
        let maps: PerfMaps =
            pids.into_iter().filter_map(|pid| Some((pid, self.perf_map(pid)?))).collect();
        if maps.is_empty() {
            return;
        }
        self.note_maps(&maps);
        let lookup = |pid: Pid, address: Avma| maps.get(&pid)?.map().lookup(address);
        named.name(|at, location, source| {
            let own = || {
                // Code from before a fork is in the map of the parent.
                self.owners(location).find_map(|pid| lookup(pid, Avma(location.relative)))
            };
            let shared = || {
                let addresses = in_memory.get(&at).filter(|_| source.is_nothing())?;
                addresses.iter().find_map(|&(pid, address)| Some((lookup(pid, address)?, address)))
            };
            if let Some(symbol) = own() {
                return Some((Cow::Borrowed(symbol.name), symbol.start.0));
            }
            let (symbol, address) = shared()?;
            let within = address.0.wrapping_sub(symbol.start.0);
            Some((Cow::Borrowed(symbol.name), location.relative.wrapping_sub(within)))
        });
    }

    /// Returns the processes with the memory of a location: its own, then those that it was forked from.
    fn owners(&self, location: &LocationRow) -> impl Iterator<Item = Pid> {
        let modules = self.timeline.modules();
        let module = location.module.and_then(|module| modules.by_id(module));
        let chain = std::iter::successors(module, move |module| {
            modules.get(module.inherited_from?.index())
        });
        chain.take(MOST_FORKS).filter_map(|module| module.owner)
    }

    /// Returns the map of a process, if the file can belong to that process.
    fn perf_map(&self, pid: Pid) -> Option<Arc<PerfMapFile>> {
        let file = self.images.perf_map(pid)?;
        let clock = self.head.features().clock_data;
        let began = clock.zip(self.timeline.began_at(pid)).map(|(clock, began)| {
            i128::from(clock.wall_ns) + i128::from(began.0) - i128::from(clock.time.0)
        });
        file.can_be_of(pid, PerfMapAge { began }, self.images).then_some(file)
    }

    fn note_maps(&self, maps: &PerfMaps) {
        for (pid, file) in maps.iter().filter(|(_, file)| file.map().omitted() > 0) {
            let lines = file.map().omitted();
            let message = format!(
                "the perf map of process {pid} has too many lines; its first {lines} were omitted"
            );
            self.images.note(FileFindingKind::PartOmitted, message);
        }
        for (pid, file) in maps.iter().filter(|(_, file)| file.map().skipped() > 0) {
            let lines = file.map().skipped();
            let message = format!(
                "the perf map of process {pid} has invalid lines ({lines}); their code has no names"
            );
            self.images.note(FileFindingKind::PerfMap, message);
        }
    }
}

/// Returns for each stack whether a frame of it, or of its callers, has a wanted location.
fn stacks_with(profile: &Profile, is_wanted: impl Fn(LocationId) -> bool) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::with_capacity(profile.stacks.len());
    for (stack, row) in profile.stacks.entries() {
        let caller = row.parent.filter(|&parent| parent < stack);
        let is_below = caller.and_then(|caller| found.by_id(caller)) == Some(&true);
        let frame = profile.frames.get(row.frame);
        found.push(is_below || frame.is_some_and(|frame| is_wanted(frame.location)));
    }
    found
}
