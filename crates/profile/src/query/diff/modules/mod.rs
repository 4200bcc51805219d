//! Modules of a comparison: pairs of equal modules, equality of their files, and availability of inlined functions.

mod pairing;
mod stem;

use address::{BuildId, ById as _, ModuleId};
use hashbrown::{HashMap, HashSet};

use super::error::DiffError;
use super::names::{normal_function, normal_module};
use super::run::DiffInput;
use crate::id::StringId;
use crate::profile::Profile;
use crate::query::functions::functions;
use crate::tables::{ModuleKind, ModuleRow, Strings, Table};
pub use pairing::PairedBy;
use pairing::Single;

crate::row_ids! {
    /// Index of a row of [`Diff::modules`](super::Diff::modules).
    pub DiffModuleId(u32);
}

/// A module in a comparison, with or without a partner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffModule {
    /// Name without path. The whole kernel has one name, as do all memory without a file and all dumps of run-time
    /// compilers. It is the name before, if the module is mapped there.
    pub name: StringId,
    /// Name after, if it differs.
    pub other_name: Option<StringId>,
    /// Whether it has samples before, and after.
    pub sampled: [bool; 2],
    /// Reason that the modules before and after are paired; `None` for a module without a partner.
    pub paired: Option<PairedBy>,
    /// Whether all recordings have the same build; `None` without a build-id, or if only one side has samples.
    pub same_build: Option<bool>,
    /// Whether its inlined functions are omitted because only one side has inline information.
    pub without_inlines: bool,
}

/// A pair of modules from the user: names without paths, or recorded paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffPair {
    /// Module before.
    pub before: String,
    /// Module after.
    pub after: String,
}

impl std::str::FromStr for DiffPair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((before, after)) if !before.is_empty() && !after.is_empty() => {
                Ok(Self { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err("expected A=B, the names of a module before and after"),
        }
    }
}

/// Name of the kernel and its modules, which have function names.
const KERNEL: &[u8] = b"[kernel]";

/// Name of memory without a file, such as JIT code.
const ANONYMOUS: &[u8] = b"[anonymous]";

/// Name of the dumps of run-time compilers, which have process ids in their file names.
const DUMPS: &[u8] = b"[jit dump]";

/// Key of a module: the index of the user's pair, or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ModuleKey {
    Pair(usize),
    Name(StringId),
}

/// Facts of a module, before or after.
#[derive(Debug, Default, Clone)]
struct ModuleFacts {
    sampled: bool,
    builds: Vec<Option<BuildId>>,
    lines: bool,
    inlined: bool,
}

/// A module before or after, with its name.
#[derive(Debug)]
struct UnpairedModule {
    key: ModuleKey,
    name: StringId,
    facts: ModuleFacts,
}

/// Modules before or after, in the order of first appearance.
#[derive(Debug, Default)]
struct UnpairedModules {
    all: Vec<UnpairedModule>,
    index: HashMap<ModuleKey, usize>,
}

/// Modules of all recordings.
#[derive(Debug, Default)]
pub(super) struct Modules {
    pub(super) rows: Table<DiffModuleId, DiffModule>,
    index: [HashMap<ModuleKey, DiffModuleId>; 2],
    pairs: Vec<DiffPair>,
}

impl Modules {
    /// Collects and pairs the modules of all recordings. Mapped modules without frames in a stack can be partners, but
    /// get no row of their own.
    pub(super) fn new(
        sides: [&[DiffInput<'_>]; 2],
        pairs: &[DiffPair],
        strings: &mut Strings,
    ) -> Result<Self, DiffError> {
        let mut modules = Self { pairs: pairs.to_vec(), ..Self::default() };
        let mut found: [UnpairedModules; 2] = Default::default();
        for (side, (inputs, found)) in sides.into_iter().zip(&mut found).enumerate() {
            for input in inputs {
                modules.add(side, input.profile, strings, found);
            }
        }
        modules.check_pairs(&found, strings)?;
        let [before, after] = &found;
        let mut partners: Vec<Option<(usize, PairedBy)>> = vec![None; before.all.len()];
        for (partner, UnpairedModule { key, .. }) in partners.iter_mut().zip(&before.all) {
            let by =
                if matches!(key, ModuleKey::Pair(_)) { PairedBy::Option } else { PairedBy::Name };
            *partner = after.index.get(key).map(|&at| (at, by));
        }
        let unpaired: [Vec<usize>; 2] = [
            (0..before.all.len())
                .filter(|&at| partners.get(at).is_some_and(Option::is_none))
                .collect(),
            (0..after.all.len())
                .filter(|&at| {
                    after.all.get(at).is_some_and(|row| !before.index.contains_key(&row.key))
                })
                .collect(),
        ];
        let mut singles = [0, 1].map(|side| found[side].singles(&unpaired[side], strings));
        if singles.iter().all(|side| side.iter().any(|single| single.sampled)) {
            for side in [0, 1] {
                for input in sides[side] {
                    modules.names(
                        side,
                        input.profile,
                        strings,
                        &found[side],
                        &unpaired[side],
                        &mut singles[side],
                    );
                }
            }
        }
        for (one, other, by) in pairing::pairs(&singles[0], &singles[1]) {
            let pair = unpaired[0].get(one).zip(unpaired[1].get(other));
            if let Some((&one, &other)) = pair
                && let Some(partner) = partners.get_mut(one)
            {
                *partner = Some((other, by));
            }
        }
        modules.fill(&found, &partners);
        Ok(modules)
    }

    /// Adds the modules of a recording.
    fn add(
        &self,
        side: usize,
        profile: &Profile,
        strings: &mut Strings,
        found: &mut UnpairedModules,
    ) {
        let rows: Vec<usize> = profile
            .modules
            .iter()
            .map(|row| {
                let name = strings.intern(name(profile, row));
                found.at(self.key(side, profile, row, name), name)
            })
            .collect();
        for location in &profile.locations {
            let Some(id) = location.module else { continue };
            let facts = rows.by_id(id).and_then(|&at| found.all.get_mut(at));
            let (Some(UnpairedModule { facts, .. }), Some(module)) =
                (facts, profile.modules.get(id))
            else {
                continue;
            };
            facts.sampled = true;
            if !facts.builds.contains(&module.build_id) {
                facts.builds.push(module.build_id);
            }
            for row in functions(profile, location, true) {
                facts.lines |= row.line != 0;
                facts.inlined |= row.inlined;
            }
        }
    }

    /// Returns the key of a recording's module. `name`: its name in the strings of the comparison.
    fn key(&self, side: usize, profile: &Profile, row: &ModuleRow, name: StringId) -> ModuleKey {
        let path = profile.strings.get(row.path);
        let last = self::name(profile, row);
        let is_meant = |pair: &DiffPair| {
            let text = if side == 0 { &pair.before } else { &pair.after }.as_bytes();
            text == path || text == last || Some(text) == path.strip_suffix(b" (deleted)")
        };
        self.pairs.iter().position(is_meant).map_or(ModuleKey::Name(name), ModuleKey::Pair)
    }

    /// Checks that each pair of the user names mapped modules before and after.
    fn check_pairs(
        &self,
        found: &[UnpairedModules; 2],
        strings: &Strings,
    ) -> Result<(), DiffError> {
        for (at, pair) in self.pairs.iter().enumerate() {
            let names = [&pair.before, &pair.after];
            for ((side, found), name) in ["before", "after"].into_iter().zip(found).zip(names) {
                if found.index.contains_key(&ModuleKey::Pair(at)) {
                    continue;
                }
                let sampled = found.all.iter().filter(|row| row.facts.sampled);
                let text = |row: &UnpairedModule| {
                    String::from_utf8_lossy(strings.get(row.name)).into_owned()
                };
                let candidates = sampled.map(text).collect();
                return Err(DiffError::NoSuchModule { name: name.clone(), side, candidates });
            }
        }
        Ok(())
    }

    /// Counts the functions of a recording's modules without a partner.
    fn names(
        &self,
        side: usize,
        profile: &Profile,
        strings: &mut Strings,
        found: &UnpairedModules,
        unpaired: &[usize],
        singles: &mut [Single],
    ) {
        let of_row = |row: &ModuleRow, strings: &mut Strings| {
            let key = self.key(side, profile, row, strings.intern(name(profile, row)));
            let at = found.index.get(&key)?;
            unpaired.iter().position(|unpaired| unpaired == at)
        };
        let rows: Vec<Option<usize>> =
            profile.modules.iter().map(|row| of_row(row, strings)).collect();
        for location in &profile.locations {
            let single = location.module.and_then(|id| *rows.by_id(id)?);
            let Some(single) = single.and_then(|at| singles.get_mut(at)) else { continue };
            let outermost = functions(profile, location, false).first();
            if let Some(function) = outermost.and_then(|row| row.function) {
                let name = normal_function(profile.strings.get(function));
                *single.functions.entry(name).or_default() += 1;
            }
        }
    }

    /// Builds the rows of modules with samples; those before come first.
    fn fill(&mut self, found: &[UnpairedModules; 2], partners: &[Option<(usize, PairedBy)>]) {
        let [before, after] = found;
        let mut taken = HashSet::new();
        for (here, partner) in before.all.iter().zip(partners) {
            let other = partner.and_then(|(at, by)| Some((after.all.get(at)?, by)));
            taken.extend(partner.map(|(at, _)| at));
            self.row([Some(here), other.map(|(there, _)| there)], other.map(|(_, by)| by));
        }
        for (at, there) in after.all.iter().enumerate() {
            if !taken.contains(&at) {
                self.row([None, Some(there)], None);
            }
        }
    }

    fn row(&mut self, sides: [Option<&UnpairedModule>; 2], paired: Option<PairedBy>) {
        let none = ModuleFacts::default();
        let [before, after] = sides.map(|side| side.map_or(&none, |row| &row.facts));
        let sampled = [before.sampled, after.sampled];
        let mut names = sides.into_iter().flatten().map(|row| row.name);
        let Some(name) = names.next().filter(|_| sampled != [false, false]) else { return };
        let knows = before.lines || before.inlined;
        let is_one_sided = knows != (after.lines || after.inlined);
        let matters = before.inlined || after.inlined;
        let id = self.rows.push(DiffModule {
            name,
            other_name: names.next().filter(|&other| other != name),
            sampled,
            paired,
            same_build: same_build(before, after),
            without_inlines: sampled == [true, true] && is_one_sided && matters,
        });
        for (index, side) in self.index.iter_mut().zip(sides) {
            index.extend(side.map(|row| (row.key, id)));
        }
    }

    /// Returns the row of each module of a recording; `None` if it has no row.
    pub(super) fn ids(
        &self,
        side: usize,
        profile: &Profile,
        strings: &mut Strings,
    ) -> Table<ModuleId, Option<DiffModuleId>> {
        let rows = profile.modules.iter().map(|row| {
            let key = self.key(side, profile, row, strings.intern(name(profile, row)));
            self.index.get(side)?.get(&key).copied()
        });
        rows.collect()
    }
}

/// Returns, by thread name after, the name before, if both are names of a renamed program. The kernel names a thread
/// after the first 15 bytes of its program's name.
pub(super) fn renamed_threads(modules: &Modules, strings: &Strings) -> HashMap<Vec<u8>, Vec<u8>> {
    const LENGTH: usize = 15;
    let comm = |name: StringId| {
        let name = strings.get(name);
        name.get(..LENGTH).unwrap_or(name).to_vec()
    };
    let pairs = modules.rows.iter().filter_map(|row| Some((row.other_name?, row.name)));
    pairs.map(|(after, before)| (comm(after), comm(before))).collect()
}

impl UnpairedModules {
    /// Returns the index of a module, adding it if necessary.
    fn at(&mut self, key: ModuleKey, name: StringId) -> usize {
        *self.index.entry(key).or_insert_with(|| {
            self.all.push(UnpairedModule { key, name, facts: ModuleFacts::default() });
            self.all.len() - 1
        })
    }

    /// Returns the modules without a partner, with empty function counts.
    fn singles(&self, unpaired: &[usize], strings: &Strings) -> Vec<Single> {
        let rows = unpaired.iter().filter_map(|&at| self.all.get(at));
        let single = |row: &UnpairedModule| Single {
            name: strings.get(row.name).to_vec(),
            sampled: row.facts.sampled,
            functions: HashMap::new(),
        };
        rows.map(single).collect()
    }
}

/// Returns the name of a module to compare.
fn name<'a>(profile: &'a Profile, row: &ModuleRow) -> &'a [u8] {
    match row.kind {
        ModuleKind::Kernel => KERNEL,
        ModuleKind::Anonymous => ANONYMOUS,
        ModuleKind::Elf | ModuleKind::File => {
            let name = normal_module(profile.strings.get(row.path));
            if is_dump(name) { DUMPS } else { name }
        }
    }
}

/// Returns true for a dump of a run-time compiler, or a part of one: `jit-PID.dump`, `jitted-PID-N.so`.
/// Source: tools/perf/Documentation/jitdump-specification.txt; `perf inject --jit` writes the parts.
fn is_dump(name: &[u8]) -> bool {
    let between = |start: &[u8], end: &[u8]| {
        let inside = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        inside.is_some_and(|inside| {
            !inside.is_empty() && inside.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        })
    };
    between(b"jit-", b".dump") || between(b"jitted-", b".so")
}

fn same_build(before: &ModuleFacts, after: &ModuleFacts) -> Option<bool> {
    let first = before.builds.first().copied().flatten()?;
    let mut all = before.builds.iter().chain(&after.builds);
    if !before.sampled || !after.sampled || all.clone().any(Option::is_none) {
        return None;
    }
    Some(all.all(|&build| build == Some(first)))
}
