//! The modules that chains ended in before their root: how many samples, why, and what would help.

use address::{ModuleId, Pid};
use module_map::{ImageStore, LoadError, Module, Timeline};
use profile::{EndReason, LocationRow, ModuleLoss, Profile, StackId};

/// Samples by the module that their chain ended in before its root, where that module is to blame.
pub(super) fn losses(
    profile: &Profile,
    timeline: &Timeline,
    images: &ImageStore,
) -> Vec<ModuleLoss> {
    let is_blamed = |end: EndReason| {
        matches!(
            end,
            EndReason::NoModule
                | EndReason::NoUnwindInfo
                | EndReason::BadUnwindInfo
                | EndReason::AnonymousMemory
        )
    };
    let blamed = profile.samples.iter().filter(|it| is_blamed(it.end));
    let mut blamed: Vec<(StackId, EndReason)> =
        blamed.filter_map(|it| Some((it.stack?, it.end))).collect();
    // Few as a rule, so that their outermost frames are looked for one by one; each distinct chain once.
    blamed.sort_unstable_by_key(|&(stack, end)| (stack, end as u8));
    let mut counts = hashbrown::HashMap::<(Option<ModuleId>, EndReason), u64>::new();
    for same in blamed.chunk_by(|a, b| a == b) {
        let Some(&(stack, end)) = same.first() else { continue };
        let location = outermost(profile, stack);
        let module = location.and_then(|location| location.module);
        *counts.entry((module, end)).or_default() += same.len() as u64;
    }
    let mut losses: Vec<ModuleLoss> = counts
        .into_iter()
        .map(|((module, end), samples)| ModuleLoss {
            module,
            samples,
            reason: reason(module, end, timeline, images),
            help: help(module, end, timeline, images),
        })
        .collect();
    losses.sort_by(|a, b| {
        b.samples.cmp(&a.samples).then(a.module.cmp(&b.module)).then(a.reason.cmp(&b.reason))
    });
    losses
}

/// Where the outermost frame of a stack is.
fn outermost(profile: &Profile, stack: StackId) -> Option<&LocationRow> {
    let mut node = profile.stacks.get(stack)?;
    // Parents stand before their children.
    while let Some(parent) = node.parent.and_then(|parent| profile.stacks.get(parent)) {
        node = parent;
    }
    profile.locations.get(profile.frames.get(node.frame)?.location)
}

fn reason(
    module: Option<ModuleId>,
    end: EndReason,
    timeline: &Timeline,
    images: &ImageStore,
) -> String {
    let module = module.and_then(|module| timeline.modules().get(module.index()));
    match (end, module.and_then(|module| images.outcome(module))) {
        (EndReason::NoModule | EndReason::AnonymousMemory, Some(Err(error))) => error.to_string(),
        (EndReason::BadUnwindInfo, _) => "its unwind information is damaged".to_owned(),
        (EndReason::NoUnwindInfo, _) if module.is_none() => {
            "code outside every segment of its file".to_owned()
        }
        (EndReason::NoUnwindInfo, _) => "no unwind information for this code".to_owned(),
        _ => "no file behind this memory".to_owned(),
    }
}

/// What would let chains go on in the module.
fn help(
    module: Option<ModuleId>,
    end: EndReason,
    timeline: &Timeline,
    images: &ImageStore,
) -> String {
    let module = module.and_then(|module| timeline.modules().get(module.index()));
    let Some(module) = module else { return memory(None) };
    match (end, images.outcome(module)) {
        (EndReason::BadUnwindInfo, _) => {
            "give a sound copy of the same build: --module FILE".to_owned()
        }
        (EndReason::NoUnwindInfo, _) => unwind_info(module),
        (_, Some(Err(LoadError::Missing(_) | LoadError::BuildId { .. }))) => file(module),
        (_, Some(Err(LoadError::Unusable(_)))) => {
            "give another copy of the file: --module FILE".to_owned()
        }
        (
            _,
            Some(Err(
                LoadError::Replaced(_)
                | LoadError::Deleted(_)
                | LoadError::Shared(_)
                | LoadError::OtherFile { .. }
                | LoadError::Ambiguous { .. },
            )),
        ) => other_file(module),
        (_, Some(Err(LoadError::NotOpened))) if module.identity.build_id.is_some() => file(module),
        _ => memory(module.owner),
    }
}

/// The file is not there.
fn file(module: &Module) -> String {
    match module.identity.build_id {
        Some(id) => format!(
            "give the file of build-id {id}: --module FILE, --extra-dir DIR, --sysroot DIR, or --debuginfod"
        ),
        None => "give the file: --module FILE, --extra-dir DIR or --sysroot DIR".to_owned(),
    }
}

/// The file at the path is another one.
fn other_file(module: &Module) -> String {
    let name = module.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name =
        String::from_utf8_lossy(name.strip_suffix(b" (deleted)").unwrap_or(name)).into_owned();
    format!(
        "give the recorded file: --module {name}=FILE; record with perf record --buildid-mmap to have it found by its \
         build-id"
    )
}

/// The file is there, but not what is needed of it.
fn unwind_info(module: &Module) -> String {
    let found = match module.identity.build_id {
        Some(id) => format!("of build-id {id}: --debug-dir DIR or --debuginfod"),
        None => "--module FILE or --debug-dir DIR".to_owned(),
    };
    format!(
        "give its debug information, {found}; or build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"
    )
}

/// There is no file.
fn memory(owner: Option<Pid>) -> String {
    let pid = owner.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
    format!(
        "JIT code goes on where its compiler keeps frame pointers or writes a jitdump (perf record -k mono); if it is a \
         copy of a file's code, say so: --map OBJECT@{pid},START,LEN,OFFSET"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use address::{Avma, BuildId, FileOffset};
    use module_map::{FileIdentity, FileOptions, MapEvent};

    /// Two files that are not there, one with a build-id, and memory without a file.
    fn mapped() -> Timeline {
        let mut timeline = Timeline::new();
        let names: [(&[u8], Option<&str>); 3] =
            [(b"/nowhere/a", Some("d587e5ae")), (b"/nowhere/b", None), (b"//anon", None)];
        for (index, (path, build_id)) in (0..).zip(names) {
            timeline.map(&MapEvent {
                pid: Pid(7),
                kernel: false,
                start: Avma(0x1000 * (index + 1)),
                len: 0x1000,
                offset: FileOffset(0),
                executable: true,
                writable: false,
                path,
                identity: FileIdentity {
                    build_id: build_id.and_then(BuildId::from_hex),
                    ..FileIdentity::default()
                },
            });
        }
        timeline
    }

    /// What helps where a chain ended so in a file that is not there, or in memory without a file.
    #[test]
    fn what_helps() {
        let timeline = mapped();
        let images = ImageStore::new(FileOptions::default());
        for module in timeline.modules() {
            let _missing = images.image(module);
        }
        let help = |module: Option<u32>, end| help(module.map(ModuleId), end, &timeline, &images);
        let cases = [
            (
                help(Some(0), EndReason::NoModule),
                "give the file of build-id d587e5ae: --module FILE, --extra-dir DIR, --sysroot DIR, or --debuginfod",
            ),
            (
                help(Some(1), EndReason::NoModule),
                "give the file: --module FILE, --extra-dir DIR or --sysroot DIR",
            ),
            (
                help(Some(0), EndReason::NoUnwindInfo),
                "give its debug information, of build-id d587e5ae: --debug-dir DIR or --debuginfod; or build it with \
                 -fasynchronous-unwind-tables or -fno-omit-frame-pointer",
            ),
            (
                help(Some(1), EndReason::NoUnwindInfo),
                "give its debug information, --module FILE or --debug-dir DIR; or build it with \
                 -fasynchronous-unwind-tables or -fno-omit-frame-pointer",
            ),
            (
                help(Some(1), EndReason::BadUnwindInfo),
                "give a sound copy of the same build: --module FILE",
            ),
            (
                help(Some(2), EndReason::AnonymousMemory),
                "JIT code goes on where its compiler keeps frame pointers or writes a jitdump (perf record -k mono); if \
                 it is a copy of a file's code, say so: --map OBJECT@7,START,LEN,OFFSET",
            ),
            (
                help(None, EndReason::AnonymousMemory),
                "JIT code goes on where its compiler keeps frame pointers or writes a jitdump (perf record -k mono); if \
                 it is a copy of a file's code, say so: --map OBJECT@PID,START,LEN,OFFSET",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }
}
