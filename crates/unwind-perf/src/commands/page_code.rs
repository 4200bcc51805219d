//! The instructions for a page: of the machine code in which most samples were taken.

use address::{BuildId, ModuleId, Svma};
use formats::{PageCode, PageFunctionCode};
use hashbrown::{HashMap, HashSet};
use pipeline::Analysis;
use profile::{LocationAddress, Profile, StringId};

/// Functions whose code is looked at, those of most samples.
const MOST_FUNCTIONS: usize = 400;

/// Bytes of text of a function's instructions that are taken at most.
const MOST_OF_FUNCTION: usize = 256 << 10;

/// Bytes of text of all functions that are taken at most; a page is to stay one that can be sent.
const MOST: usize = 1 << 20;

/// Where functions begin, and the samples that were taken in each, those of most samples first.
struct Sampled {
    functions: Vec<((ModuleId, u64), u64)>,
}

/// The instructions of the functions in which most samples were taken, as far as they can be had.
pub(super) fn page_code(analysis: &Analysis) -> PageCode {
    let mut reader = analysis.code();
    let mut code = PageCode::default();
    let mut left = MOST;
    for (at, &((module, start), _)) in Sampled::new(&analysis.profile).functions.iter().enumerate()
    {
        if at >= MOST_FUNCTIONS {
            code.left_out += 1;
            continue;
        }
        let Ok(instructions) = reader.instructions(module, Svma(start)) else { continue };
        let Some(first) = instructions.first() else { continue };
        let start = first.address.0;
        let size: usize = instructions.iter().map(|it| it.text.len() + 4).sum();
        if size > MOST_OF_FUNCTION || size > left {
            code.left_out += 1;
            continue;
        }
        left -= size;
        let instructions = instructions.into_iter().map(|it| (it.len, it.text)).collect();
        code.functions.push(PageFunctionCode { module, start, instructions });
    }
    code
}

impl Sampled {
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

/// By stack: how many samples have it.
fn by_stack(profile: &Profile) -> Vec<u64> {
    let mut counts = vec![0; profile.stacks.len()];
    for stack in profile.samples.iter().filter_map(|sample| sample.stack) {
        if let Some(count) = counts.get_mut(stack.index()) {
            *count += 1;
        }
    }
    counts
}

/// The paths of which more than one build was sampled: the page knows modules by their paths only, and would show the
/// costs of one build at the instructions of another.
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
