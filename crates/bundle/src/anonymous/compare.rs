//! Comparison of an anonymous profile with its original.

use hashbrown::{HashMap, HashSet};
use profile::{FoundBy, LocationId, ModuleKind, Profile, SampleRow};

use super::Pseudonyms;
use super::files::inlines;

/// Differences between the profiles.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Number of samples with other frames, functions or threads.
    pub samples: usize,
    /// Functions with another name, as stated in their files.
    pub functions: HashSet<Vec<u8>>,
}

/// Function with its source location, in compared form: name, file, line, column.
type FunctionLocation = (Option<Vec<u8>>, Option<Vec<u8>>, u32, u32);

/// Compares all samples: addresses, functions, source files and lines of their own frames; and processes, threads,
/// times and weights. Frames from other samples are ignored. `raw` equals `shown`, except that names are as stated in
/// the files.
#[must_use]
pub fn differences(
    shown: &Profile,
    raw: &Profile,
    names: &Pseudonyms,
    anonymous: &Profile,
) -> Differences {
    let mut found = Differences::default();
    let mut known: HashMap<(LocationId, LocationId), bool> = HashMap::new();
    let other = shown.samples.len().abs_diff(anonymous.samples.len());
    found.samples = other;
    for (before, after) in shown.samples.iter().zip(anonymous.samples.iter()) {
        let (old, new) = (own_frames(shown, before), own_frames(anonymous, after));
        let mut same = facts(shown, before, Some(names)) == facts(anonymous, after, None)
            && old.len() == new.len();
        for (&(address, location), &(found_at, new_location)) in old.iter().zip(&new) {
            let same_names = *known.entry((location, new_location)).or_insert_with(|| {
                let listed = kind_of(anonymous, new_location);
                let expected = rows(shown, location, listed, Some(names));
                let same = expected == rows(anonymous, new_location, listed, None);
                if !same {
                    let row = |id| Some(inlines(raw, raw.locations.get(id)?));
                    let ids = row(location).unwrap_or_default().iter().filter_map(|it| it.function);
                    found.functions.extend(ids.map(|id| raw.strings.get(id).to_vec()));
                }
                same
            });
            same &= same_names && address == found_at;
        }
        found.samples += usize::from(!same);
    }
    found
}

/// Process, thread and its name; time, weight and processor.
type SampleFacts = (i32, i32, Vec<u8>, [Option<u64>; 3]);

/// Returns the facts of a sample other than its frames.
fn facts(profile: &Profile, sample: &SampleRow, names: Option<&Pseudonyms>) -> Option<SampleFacts> {
    let thread = profile.threads.get(sample.thread)?;
    let comm = profile.strings.get(thread.comm);
    let comm = names.map_or_else(|| comm.to_vec(), |names| names.task(comm));
    let numbers = [sample.time().map(|it| it.0), sample.period(), sample.cpu().map(u64::from)];
    Some((thread.pid.0, thread.tid.0, comm, numbers))
}

/// Returns addresses and locations of a sample's frames, without those that only other samples show.
fn own_frames(profile: &Profile, sample: &SampleRow) -> Vec<(u64, LocationId)> {
    let mut frames = Vec::new();
    let mut next = sample.stack;
    while let Some((id, row)) = next.and_then(|node| Some((node, profile.stacks.get(node)?))) {
        next = row.parent.filter(|&parent| parent < id);
        let Some(frame) = profile.frames.get(row.frame) else { break };
        if matches!(frame.found_by, FoundBy::Joined | FoundBy::Gap) {
            break;
        }
        // A bundle without code cannot show tail calls.
        if matches!(frame.found_by, FoundBy::TailCall | FoundBy::TailCalls) {
            continue;
        }
        let address = profile.frame_address(sample, row.frame);
        frames.push((address.unwrap_or_default().0, frame.location));
    }
    frames
}

/// Returns the functions of a location; if `names` is given, with the expected pseudonyms. `kind` is that of the module
/// in the bundle. For the kernel and for code without a file, the bundle lists only the outermost function's name.
fn rows(
    profile: &Profile,
    id: LocationId,
    kind: Option<ModuleKind>,
    names: Option<&Pseudonyms>,
) -> Vec<FunctionLocation> {
    let Some(location) = profile.locations.get(id) else { return Vec::new() };
    let mut all = inlines(profile, location).iter().map(|row| {
        let name = row.function.map(|id| profile.strings.get(id));
        let name = name.map(|name| match (names, kind) {
            (Some(names), Some(ModuleKind::Anonymous)) => names.script_function(name),
            (Some(names), _) => names.function(name),
            (None, _) => name.to_vec(),
        });
        let file = row.file.map(|id| profile.strings.get(id));
        let file = file.map(|it| names.map_or_else(|| it.to_vec(), |names| names.source_path(it)));
        (name, file, row.line, row.column)
    });
    if matches!(kind, Some(ModuleKind::Kernel | ModuleKind::Anonymous)) {
        let named = all.next_back().filter(|(name, ..)| name.as_deref() != Some(b"[unknown]"));
        return named.map(|(name, ..)| (name, None, 0, 0)).into_iter().collect();
    }
    all.collect()
}

fn kind_of(profile: &Profile, id: LocationId) -> Option<ModuleKind> {
    let module = profile.locations.get(id)?.module?;
    profile.modules.get(module).map(|module| module.kind)
}
