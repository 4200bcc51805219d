//! The lines of the short summary on modules: object, fact, share, remedy.

use address::ModuleId;
use hashbrown::{HashMap, HashSet};
use options::ShortRemedy;
use profile::{Advice, ModuleKind, Profile, StackId, Table};

use super::lines::Lines;
use super::words;
use crate::render::numbers::{counted, share};
use crate::render::text::push_line_safe;

/// Modules that have a line.
const SHOWN: usize = 3;
/// A module with less than one in this number of stacks or frames has no line beside larger ones.
const SMALL: u64 = 200;

/// The packages of installed files: by path, a command or an action such as `install libc6-dbg`.
pub type Packages<'a> = &'a dyn Fn(&[&[u8]]) -> Vec<Option<String>>;

/// A module that costs stacks or names.
struct ModuleCost<'p> {
    module: Option<ModuleId>,
    /// Stacks that end in it early.
    stacks: u64,
    /// Frames without a name.
    frames: u64,
    reason: Option<&'p str>,
    help: Option<&'p Advice>,
}

/// The modules that were shown, for findings that would repeat them.
#[derive(Default)]
pub(super) struct ShownModules<'p> {
    /// Recorded paths.
    pub(super) paths: Vec<&'p [u8]>,
    /// Whether there is code without a file among them.
    pub(super) anonymous: bool,
    /// Whether the kernel is among them.
    pub(super) kernel: bool,
    /// Whether a line has the losses of the kernel.
    pub(super) losses: bool,
}

/// Adds the lines, and returns the modules that have one.
pub(super) fn push_modules<'p>(
    profile: &'p Profile,
    packages: Packages<'_>,
    lines: &mut Lines,
) -> ShownModules<'p> {
    let total = (profile.samples.len() as u64, profile.summary.frames);
    let (shown, more) = chosen(rows(profile), total);
    let names = names(profile, &shown);
    let wants = |row: &&ModuleCost<'_>| row.help.is_some_and(|help| help.short.package);
    let paths: Vec<&[u8]> =
        shown.iter().filter(wants).map(|row| path(profile, row.module)).collect();
    let mut found = if paths.is_empty() { Vec::new() } else { packages(&paths) }.into_iter();
    let mut stated = HashSet::new();
    for (row, name) in shown.iter().zip(&names) {
        let package = wants(&row).then(|| found.next().flatten()).flatten();
        lines.plain(line(profile, row, name, total, package, &mut stated));
    }
    if more > 0 {
        lines.plain(format!("… and {}; see --verbose.", counted(more, "more module")));
    }
    let mut modules = ShownModules::default();
    for row in &shown {
        let kind = row.module.and_then(|id| profile.modules.get(id)).map(|module| module.kind);
        modules.anonymous |= matches!(kind, Some(ModuleKind::Anonymous));
        modules.kernel |= matches!(kind, Some(ModuleKind::Kernel));
        modules.paths.push(path(profile, row.module));
    }
    modules
}

/// Losses and nameless frames by module, the costliest first.
fn rows(profile: &Profile) -> Vec<ModuleCost<'_>> {
    let summary = &profile.summary;
    let mut rows: Vec<ModuleCost<'_>> = Vec::new();
    let mut at: HashMap<Option<ModuleId>, usize> = HashMap::new();
    for loss in &summary.losses {
        let index = *at.entry(loss.module).or_insert(rows.len());
        match rows.get_mut(index) {
            Some(row) => row.stacks += loss.samples,
            None => rows.push(ModuleCost {
                module: loss.module,
                stacks: loss.samples,
                frames: 0,
                reason: Some(&loss.reason),
                help: loss.help.as_ref(),
            }),
        }
    }
    for nameless in &summary.nameless {
        let index = *at.entry(nameless.module).or_insert(rows.len());
        match rows.get_mut(index) {
            Some(row) => row.frames += nameless.frames,
            None => rows.push(ModuleCost {
                module: nameless.module,
                stacks: 0,
                frames: nameless.frames,
                reason: None,
                help: nameless.help.as_ref(),
            }),
        }
    }
    let (samples, frames) = (profile.samples.len().max(1) as f64, summary.frames.max(1) as f64);
    let cost = |row: &ModuleCost<'_>| (row.stacks as f64 / samples).max(row.frames as f64 / frames);
    rows.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.module.cmp(&b.module)));
    rows
}

/// The rows that have a line, and how many have none. If less than one in a hundred frames lacks a name and no stack ends
/// early, no row has a line.
fn chosen(
    mut rows: Vec<ModuleCost<'_>>,
    (samples, frames): (u64, u64),
) -> (Vec<ModuleCost<'_>>, u64) {
    let nameless: u64 = rows.iter().map(|row| row.frames).fold(0, u64::saturating_add);
    if nameless.saturating_mul(100) < frames {
        rows.retain(|row| row.stacks > 0);
    }
    let is_small = |row: &ModuleCost<'_>| {
        row.stacks.saturating_mul(SMALL) < samples && row.frames.saturating_mul(SMALL) < frames
    };
    let large = rows.iter().filter(|row| !is_small(row)).count();
    let shown = large.clamp(rows.len().min(1), SHOWN);
    let more = rows.len() - shown;
    rows.truncate(shown);
    (rows, more as u64)
}

/// The name of each module: the file's name, or its path if two of them have one name.
fn names(profile: &Profile, rows: &[ModuleCost<'_>]) -> Vec<Vec<u8>> {
    let of = |row: &ModuleCost<'_>| path(profile, row.module);
    rows.iter()
        .map(|row| {
            let (full, short) = (of(row), file_name(of(row)));
            let is_shared = rows
                .iter()
                .any(|other| other.module != row.module && file_name(of(other)) == short);
            let mut name = Vec::new();
            push_line_safe(&mut name, if is_shared { full } else { short });
            name
        })
        .collect()
}

fn line(
    profile: &Profile,
    row: &ModuleCost<'_>,
    name: &[u8],
    (samples, frames): (u64, u64),
    package: Option<String>,
    stated: &mut HashSet<String>,
) -> Vec<u8> {
    let jit = row.help.filter(|help| help.short.jit).map(|_| process(profile, row.module));
    let mut text = match &jit {
        Some(Some(process)) => process.clone(),
        _ => name.to_vec(),
    };
    // Without a module, the reason says more.
    let help = row.help.filter(|_| row.module.is_some() || row.reason.is_none());
    let fact = help.map_or("", |help| &help.short.fact);
    match (fact.is_empty(), row.reason) {
        (false, _) => text.extend_from_slice(format!(" {fact}").as_bytes()),
        (true, Some(reason)) => {
            text.extend_from_slice(b": ");
            push_line_safe(&mut text, reason.as_bytes());
        }
        (true, None) => text.extend_from_slice(b" has code without symbols"),
    }
    let stacks =
        (row.stacks > 0).then(|| format!("{} of stacks end there", share(row.stacks, samples)));
    let nameless = (row.frames > 0).then(|| format!("{} of frames", share(row.frames, frames)));
    let shares: Vec<String> = match (stacks, nameless) {
        (Some(_), Some(_)) if share(row.stacks, samples) == share(row.frames, frames) => {
            vec![format!("{} of stacks and frames", share(row.frames, frames))]
        }
        (stacks, nameless) => stacks.into_iter().chain(nameless).collect(),
    };
    text.extend_from_slice(format!(" ({}).", shares.join(", ")).as_bytes());
    let runtime = jit.flatten().and_then(|process| words::runtime(&process));
    let action = match (runtime, row.help) {
        (Some(runtime), _) => stated.insert(runtime.clone()).then_some(runtime),
        (None, Some(help)) => action(&help.short, package, stated),
        (None, None) => None,
    };
    if let Some(action) = action {
        text.push(b' ');
        push_line_safe(&mut text, capitalized(&action).as_bytes());
        text.push(b'.');
    }
    text
}

/// The action, without the parts that an earlier line has.
fn action(
    short: &ShortRemedy,
    package: Option<String>,
    stated: &mut HashSet<String>,
) -> Option<String> {
    let install = match (short.package, package) {
        (true, Some(package)) => Some(package),
        (true, None) => Some("install its debug package".to_owned()),
        (false, _) => None,
    };
    let install = install.filter(|it| stated.insert(it.clone()));
    let other = Some(&short.action).filter(|it| !it.is_empty() && stated.insert((*it).clone()));
    match (install, other) {
        (Some(install), Some(other)) => Some(format!("{install}, or {other}")),
        (Some(install), None) => Some(install),
        (None, other) => other.cloned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

/// The name of the process with most samples in a module of its own memory, safe for a line; `None` if it has none.
fn process(profile: &Profile, module: Option<ModuleId>) -> Option<Vec<u8>> {
    let module = module?;
    let is_in = |frame| {
        let frame = profile.frames.get(frame)?;
        let location = profile.locations.get(frame.location)?;
        Some(location.module == Some(module))
    };
    // Parents stand before their children.
    let mut has = Table::<StackId, bool>::new();
    for row in &profile.stacks {
        let outside = row.parent.and_then(|parent| has.get(parent)).copied();
        has.push(outside == Some(true) || is_in(row.frame) == Some(true));
    }
    let mut counts: HashMap<_, u64> = HashMap::new();
    for sample in &profile.samples {
        let has = sample.stack.and_then(|stack| has.get(stack)).copied();
        if has == Some(true)
            && let Some(thread) = profile.threads.get(sample.thread)
        {
            *counts.entry(thread.process).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|&(name, count)| (count, std::cmp::Reverse(name)))?;
    let name = profile.strings.get(most.0);
    let mut text = Vec::new();
    push_line_safe(&mut text, name);
    Some(text).filter(|text| !text.is_empty())
}

fn path(profile: &Profile, module: Option<ModuleId>) -> &[u8] {
    match module.and_then(|id| profile.modules.get(id)) {
        Some(module) => profile.strings.get(module.path),
        None => b"No module",
    }
}

/// The name without folders; names in brackets stay.
fn file_name(path: &[u8]) -> &[u8] {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    if path.starts_with(b"/") && !name.is_empty() { name } else { path }
}
