//! The modules of a comparison: which of them are of one name, whether their file is the same, and whether inlined
//! functions are known on both sides.

use address::{BuildId, ModuleId};
use hashbrown::HashMap;

use super::names::normal_module;
use super::run::DiffInput;
use crate::id::StringId;
use crate::profile::Profile;
use crate::query::functions::functions;
use crate::tables::{ModuleKind, Strings, Table};

crate::row_ids! {
    /// A row of [`Diff::modules`](super::Diff::modules).
    pub DiffModuleId(u32);
}

/// The modules of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffModule {
    /// The name without its path; one for the whole kernel, one for all memory without a file.
    pub name: StringId,
    /// Whether it has samples before, and after.
    pub seen: [bool; 2],
    /// Whether all recordings have the same build of it; `None` where it has no build-id, or is on one side only.
    pub same_file: Option<bool>,
    /// Whether its inlined functions are left out, since only one side knows them.
    pub without_inlines: bool,
}

/// The kernel and its modules, whose functions are known by name.
const KERNEL: &[u8] = b"[kernel]";

/// Memory without a file, such as that of JIT code.
const ANONYMOUS: &[u8] = b"[anonymous]";

/// What is known of the modules of a name on one side.
#[derive(Debug, Default, Clone)]
struct SideFacts {
    seen: bool,
    builds: Vec<Option<BuildId>>,
    lines: bool,
    inlined: bool,
}

/// All modules of all recordings, by name.
#[derive(Debug, Default)]
pub(super) struct Modules {
    pub(super) rows: Table<DiffModuleId, DiffModule>,
    index: HashMap<StringId, DiffModuleId>,
    facts: Table<DiffModuleId, [SideFacts; 2]>,
}

impl Modules {
    /// The modules of the recordings of both sides. Only those in which a stack has a frame are looked at.
    pub(super) fn new(sides: [&[DiffInput<'_>]; 2], strings: &mut Strings) -> Self {
        let mut modules = Self::default();
        for (side, inputs) in sides.into_iter().enumerate() {
            for input in inputs {
                modules.add(side, input.profile, strings);
            }
        }
        let Self { rows, facts, .. } = &mut modules;
        for (row, [before, after]) in rows.iter_mut().zip(facts.iter()) {
            row.seen = [before.seen, after.seen];
            row.same_file = same_file(before, after);
            let knows = before.lines || before.inlined;
            let is_one_sided = knows != (after.lines || after.inlined);
            let matters = before.inlined || after.inlined;
            row.without_inlines = before.seen && after.seen && is_one_sided && matters;
        }
        modules
    }

    fn add(&mut self, side: usize, profile: &Profile, strings: &mut Strings) {
        let ids = self.ids(profile, strings);
        for location in &profile.locations {
            let Some(module) = location.module else { continue };
            let Some(id) = ids.get(module).copied().flatten() else { continue };
            let facts = self.facts.get_mut(id).and_then(|sides| sides.get_mut(side));
            let (Some(facts), Some(module)) = (facts, profile.modules.get(module)) else {
                continue;
            };
            facts.seen = true;
            if !facts.builds.contains(&module.build_id) {
                facts.builds.push(module.build_id);
            }
            for row in functions(profile, location, true) {
                facts.lines |= row.line != 0;
                facts.inlined |= row.inlined;
            }
        }
    }

    /// By module of a recording: which row it is; `None` where no stack has a frame in it.
    pub(super) fn ids(
        &mut self,
        profile: &Profile,
        strings: &mut Strings,
    ) -> Table<ModuleId, Option<DiffModuleId>> {
        let mut seen = vec![false; profile.modules.len()];
        for module in profile.locations.iter().filter_map(|location| location.module) {
            if let Some(seen) = seen.get_mut(module.index()) {
                *seen = true;
            }
        }
        let name = |path: StringId, kind| match kind {
            ModuleKind::Kernel => KERNEL,
            ModuleKind::Anonymous => ANONYMOUS,
            ModuleKind::Elf | ModuleKind::File => normal_module(profile.strings.get(path)),
        };
        let rows = profile.modules.iter().zip(seen);
        rows.map(|(row, seen)| seen.then(|| self.row(strings.intern(name(row.path, row.kind)))))
            .collect()
    }

    fn row(&mut self, name: StringId) -> DiffModuleId {
        *self.index.entry(name).or_insert_with(|| {
            self.facts.push(<[SideFacts; 2]>::default());
            let row =
                DiffModule { name, seen: [false; 2], same_file: None, without_inlines: false };
            self.rows.push(row)
        })
    }
}

fn same_file(before: &SideFacts, after: &SideFacts) -> Option<bool> {
    let first = before.builds.first().copied().flatten()?;
    let mut all = before.builds.iter().chain(&after.builds);
    if !before.seen || !after.seen || all.clone().any(Option::is_none) {
        return None;
    }
    Some(all.all(|&build| build == Some(first)))
}
