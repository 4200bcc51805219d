//! Instructions for a page: those of the functions with the most samples.

use address::{BuildId, ById as _, ModuleId, Svma};
use formats::{PageCode, PageFunctionCode, PageTarget};
use hashbrown::{HashMap, HashSet};
use pipeline::{Analysis, Demangle, outside_targets};
use profile::{LocationAddress, Profile, StringId};
use rayon::prelude::*;

/// Maximum number of functions, those with the most samples.
const MOST_FUNCTIONS: usize = 400;

/// Maximum size of the code of a function, in bytes. The text of its instructions is about five times as long.
const MOST_OF_FUNCTION: u64 = 48 << 10;

/// Maximum size of the code of all functions, in bytes, so that a page stays small enough to be sent.
const MOST: u64 = 192 << 10;

/// Start addresses of functions and their sample counts, most samples first.
struct SampledFunctions {
    functions: Vec<((ModuleId, u64), u64)>,
}

/// Maximum size of the names of all targets, in bytes.
const MOST_NAMES: usize = 256 << 10;

/// Returns the instructions of the functions with the most samples, if their code can be read, and the names of the
/// functions that these jump to or call.
pub(in crate::commands) fn page_code(analysis: &Analysis, demangle: Demangle) -> PageCode {
    let mut code = PageCode::default();
    let mut left = MOST;
    let mut targets: Vec<(ModuleId, Svma)> = Vec::new();
    let sampled = SampledFunctions::new(&analysis.profile).functions;
    code.omitted += sampled.len().saturating_sub(MOST_FUNCTIONS) as u64;
    let mut reader = analysis.code();
    let mut shown = Vec::new();
    for &((module, start), _) in sampled.iter().take(MOST_FUNCTIONS) {
        let Ok(function) = reader.function(module, Svma(start)) else { continue };
        if function.size() > left.min(MOST_OF_FUNCTION) {
            code.omitted += 1;
            continue;
        }
        left -= function.size();
        shown.push((module, function));
    }
    let read =
        shown.into_par_iter().with_max_len(1).map(|(module, it)| (module, it.instructions()));
    for (module, instructions) in read.collect::<Vec<_>>() {
        let Ok(instructions) = instructions else { continue };
        let Some(start) = instructions.first().map(|first| first.address.0) else { continue };
        targets.extend(outside_targets(&instructions).into_iter().map(|(_, at)| (module, at)));
        let instructions = instructions.into_iter().map(|it| (it.len, it.text)).collect();
        code.functions.push(PageFunctionCode { module, start, instructions });
    }
    code.targets = named(analysis, &targets, demangle);
    code
}

/// Returns the names of targets, sorted. If they are too long, those of the functions with the most samples are kept.
fn named(analysis: &Analysis, targets: &[(ModuleId, Svma)], demangle: Demangle) -> Vec<PageTarget> {
    let mut seen = HashSet::new();
    let mut left = MOST_NAMES;
    let mut named = Vec::new();
    for (&place, name) in targets.iter().zip(analysis.target_names(targets, demangle)) {
        let Some(name) = name.filter(|name| name.len() <= left && seen.insert(place)) else {
            continue;
        };
        left -= name.len();
        let (module, address) = place;
        named.push(PageTarget { module, address: address.0, name });
    }
    named.sort_unstable_by_key(|target| (target.module, target.address));
    named
}

impl SampledFunctions {
    fn new(profile: &Profile) -> Self {
        let mut counts: HashMap<(ModuleId, u64), u64> = HashMap::new();
        for (stack, count) in profile.stacks.iter().zip(by_stack(profile)) {
            let frame = profile.frames.get(stack.frame).filter(|_| count > 0);
            let location = frame.and_then(|frame| profile.locations.get(frame.location));
            let place = location.and_then(|row| {
                let module = row.module?;
                let kind = profile.modules.get(module)?.kind;
                let LocationAddress::Svma(address) = row.address(Some(kind)) else { return None };
                Some((module, address.0.checked_sub(row.function_offset?)?))
            });
            if let Some(place) = place {
                *counts.entry(place).or_default() += count;
            }
        }
        let unclear = several_builds(profile, counts.keys().map(|&(module, _)| module));
        let path = |module| profile.modules.get(module).map(|row| row.path);
        let known = counts
            .into_iter()
            .filter(|&((module, _), _)| path(module).is_some_and(|path| !unclear.contains(&path)));
        let mut functions: Vec<_> = known.collect();
        functions.sort_unstable_by_key(|&(place, count)| (std::cmp::Reverse(count), place));
        Self { functions }
    }
}

/// Returns the number of samples by stack.
pub(super) fn by_stack(profile: &Profile) -> Vec<u64> {
    let mut counts = vec![0; profile.stacks.len()];
    for stack in profile.samples.iter().filter_map(|sample| sample.stack) {
        if let Some(count) = counts.by_id_mut(stack) {
            *count += 1;
        }
    }
    counts
}

/// Returns the paths with several sampled builds.
/// The page identifies modules by path alone, and would show the costs of one build at the instructions of another.
fn several_builds(profile: &Profile, modules: impl Iterator<Item = ModuleId>) -> HashSet<StringId> {
    let mut builds: HashMap<StringId, (Option<BuildId>, Option<StringId>)> = HashMap::new();
    let mut unclear = HashSet::new();
    for row in modules.filter_map(|module| profile.modules.get(module)) {
        let build = (row.build_id, row.opened);
        if *builds.entry(row.path).or_insert(build) != build {
            unclear.insert(row.path);
        }
    }
    unclear
}

#[cfg(test)]
mod tests {
    use address::{Pid, Tid};
    use profile::{
        EndReason, EventId, FoundBy, FrameRow, LayoutId, LocationRow, ModuleKind, ModuleRow,
        SampleRow, StackRow, ThreadRow,
    };

    use super::*;

    /// Returns a profile with samples at addresses, each with its offset from the start of its function.
    /// Each of `builds` is a module; all but the last have the same path.
    fn profile(builds: &[u8], rows: &[(usize, u64, Option<u64>, u64)]) -> Profile {
        let mut profile = Profile::default();
        let (shared, other) =
            (profile.strings.intern(b"/lib/one"), profile.strings.intern(b"/lib/other"));
        let comm = profile.strings.intern(b"program");
        let modules: Vec<ModuleId> = builds
            .iter()
            .enumerate()
            .map(|(at, &build)| {
                let path = if at + 1 == builds.len() { other } else { shared };
                let build_id = BuildId::new(&[build; 20]);
                let row = ModuleRow { path, opened: None, build_id, kind: ModuleKind::Elf };
                profile.modules.push(row)
            })
            .collect();
        let thread = profile.threads.push(ThreadRow {
            pid: Pid(1),
            tid: Tid(1),
            comm,
            process: comm,
            cgroup: None,
        });
        for &(module, address, offset, count) in rows {
            let unnamed = LocationRow::unnamed(Some(modules[module]), address);
            let location =
                profile.locations.push(LocationRow { function_offset: offset, ..unnamed });
            let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance: 0 };
            let frame = profile.frames.push(frame);
            let stack = profile.stacks.push(StackRow { parent: None, frame });
            let sample = SampleRow::new(
                thread,
                EventId::new(0),
                EndReason::Root,
                Some(stack),
                LayoutId::new(0),
            );
            profile.samples.extend(std::iter::repeat_n(sample, count as usize));
        }
        profile
    }

    #[test]
    fn functions_come_by_their_samples() {
        let rows = [
            (0, 0x1004, Some(4), 2),
            (0, 0x1008, Some(8), 3),
            (1, 0x2000, Some(0), 7),
            (1, 0x3000, None, 9),
        ];
        let profile = profile(&[1, 2], &rows);
        let found: Vec<(u64, u64)> = SampledFunctions::new(&profile)
            .functions
            .iter()
            .map(|&((_, start), count)| (start, count))
            .collect();
        assert_eq!(found, [(0x2000, 7), (0x1000, 5)]);
    }

    /// The page identifies modules by path, so it cannot separate two builds of one path.
    #[test]
    fn a_path_of_two_builds_has_no_code() {
        let rows = [(0, 0x1000, Some(0), 2), (1, 0x1000, Some(0), 3), (2, 0x1000, Some(0), 1)];
        let counts = |builds: &[u8]| -> Vec<u64> {
            let profile = profile(builds, &rows);
            SampledFunctions::new(&profile).functions.iter().map(|row| row.1).collect()
        };
        assert_eq!(counts(&[1, 2, 3]), [1]);
        assert_eq!(counts(&[1, 1, 3]), [3, 2, 1]);
    }
}
