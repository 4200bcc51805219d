//! Truncated chains by the module that they ended in: number of samples, reason and remedy.

use address::{ById as _, ModuleId};
use image_store::{Image, ImageStore, LoadError, LoadedImage};
use module_map::{MappedKind, Module, Timeline};
use options::{DebugInfo, DebugProof, Remedy, Spelling, SymbolPresence};
use profile::{Advice, EndReason, LocationRow, ModuleLoss, Profile, StackId};

use super::untried::untried;

/// Returns the truncated samples by the module that their chain ended in, for end reasons that the module causes.
pub(super) fn losses(
    profile: &Profile,
    timeline: &Timeline,
    images: &ImageStore,
    spelling: Spelling,
) -> Vec<ModuleLoss> {
    let is_blamed = |end: EndReason| {
        matches!(
            end,
            EndReason::NoModule
                | EndReason::NoUnwindInfo
                | EndReason::BadUnwindInfo
                | EndReason::AnonymousMemory
                | EndReason::ReturnProbe
                | EndReason::UnprovenRoot
        )
    };
    let blamed = profile.counted_samples().filter(|it| is_blamed(it.end));
    let mut blamed: Vec<(StackId, EndReason)> =
        blamed.filter_map(|it| Some((it.stack?, it.end))).collect();
    // There are mostly few, so the outermost frame is looked up for each distinct chain.
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
            end,
            samples,
            reason: reason(module, end, timeline, images),
            help: remedy(module, end, timeline, images).map(|it| Advice::new(&it, spelling)),
        })
        .collect();
    losses.sort_by(|a, b| {
        b.samples.cmp(&a.samples).then(a.module.cmp(&b.module)).then(a.reason.cmp(&b.reason))
    });
    losses
}

/// Returns the location of the outermost frame of a stack.
fn outermost(profile: &Profile, stack: StackId) -> Option<&LocationRow> {
    let mut node = profile.stacks.get(stack)?;
    // Parents precede their children.
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
    let module = module.and_then(|module| timeline.modules().by_id(module));
    if end == EndReason::ReturnProbe {
        return "a return probe replaced the return address".to_owned();
    }
    if module.is_some_and(|module| module.kind == MappedKind::KernelPage) {
        return "the code is a page that the kernel maps".to_owned();
    }
    match (end, module.and_then(|module| images.outcome(module))) {
        (EndReason::NoModule | EndReason::AnonymousMemory, Some(Err(error))) => error.to_string(),
        (EndReason::UnprovenRoot, _) => {
            "it is not proven that a thread starts in the outermost function".to_owned()
        }
        (EndReason::BadUnwindInfo, _) => "its unwind information is damaged".to_owned(),
        (EndReason::NoUnwindInfo, _) if module.is_none() => {
            "the code is outside all segments of its file".to_owned()
        }
        (EndReason::NoUnwindInfo, _) => "the code has no unwind information".to_owned(),
        _ => "the memory has no file".to_owned(),
    }
}

/// Returns the remedy that would continue chains in the module.
fn remedy(
    module: Option<ModuleId>,
    end: EndReason,
    timeline: &Timeline,
    images: &ImageStore,
) -> Option<Remedy> {
    let module = module.and_then(|module| timeline.modules().by_id(module));
    if end == EndReason::ReturnProbe {
        return Some(Remedy::NoReturnProbes);
    }
    let Some(module) = module else { return Some(Remedy::Memory { owner: None }) };
    if module.kind == MappedKind::KernelPage {
        return None;
    }
    Some(match (end, images.outcome(module)) {
        (EndReason::BadUnwindInfo, _) => Remedy::SoundCopy,
        (EndReason::UnprovenRoot, Some(Ok(file))) if is_damaged(file) => Remedy::SoundCopy,
        (EndReason::UnprovenRoot, Some(Ok(file)))
            if file.image().section(".eh_frame").is_some() =>
        {
            return None;
        }
        (EndReason::NoUnwindInfo | EndReason::UnprovenRoot, outcome) => {
            let file = outcome.and_then(Result::ok);
            let debug = file.filter(|file| !has_debug_info(file));
            let debug = debug.map(|file| debug_info(module, file, images));
            Remedy::UnwindTables { debug }
        }
        (_, Some(Err(error))) => {
            let memory = || Remedy::Memory { owner: module.owner };
            absent_file(module, error, images).unwrap_or_else(memory)
        }
        _ => Remedy::Memory { owner: module.owner },
    })
}

/// Returns true if the file is inconsistent, or if a part of it could not be read.
fn is_damaged(file: &LoadedImage) -> bool {
    let image = file.image();
    image.has_lost_sections() || image.was_truncated()
}

/// Returns the remedy if no file was used for a module; `None` if the module has none.
pub(super) fn absent_file(
    module: &Module,
    error: &LoadError,
    images: &ImageStore,
) -> Option<Remedy> {
    match error {
        LoadError::Missing(_) => Some(file(module, images, false)),
        LoadError::BuildId { .. } => Some(file(module, images, true)),
        LoadError::Unusable(_) => Some(Remedy::ReadableCopy),
        LoadError::Replaced(_)
        | LoadError::Deleted(_)
        | LoadError::Shared(_)
        | LoadError::OtherFile { .. }
        | LoadError::Ambiguous { .. } => Some(Remedy::RecordedFile { name: file_name(module) }),
        LoadError::NotOpened if module.identity.build_id.is_some() => {
            Some(file(module, images, false))
        }
        _ => None,
    }
}

/// The recorded file is not there.
fn file(module: &Module, images: &ImageStore, other_build: bool) -> Remedy {
    let options = untried(images.options());
    let untried = if module.kind == MappedKind::File { options } else { options.by_content() };
    Remedy::File { id: module.identity.build_id, untried, other_build }
}

/// Returns true if the file, or its debug file if that was loaded, has `.debug_info`.
pub(super) fn has_debug_info(file: &LoadedImage) -> bool {
    let debug = file.debug_if_loaded().map(|debug| &**debug);
    let mut files = [Some(file.image()), debug].into_iter().flatten();
    files.any(|image| image.section(".debug_info").is_some())
}

/// Returns the ways to find the debug information of a file.
pub(super) fn debug_info(module: &Module, file: &LoadedImage, images: &ImageStore) -> DebugInfo {
    let image = file.image();
    let proof = match (image.build_id(), debug_link(image)) {
        (Some(id), _) => DebugProof::Id(id),
        (None, Some(name)) => DebugProof::Link(name),
        (None, None) => DebugProof::Nothing,
    };
    DebugInfo {
        symbols: if image.exports_functions() {
            SymbolPresence::Exported
        } else {
            SymbolPresence::Stripped
        },
        proof,
        packaged: is_packaged(&module.path),
        untried: untried(images.options()),
    }
}

/// Returns the name of a recorded file, without its folders and the suffix of a deleted file.
fn file_name(module: &Module) -> String {
    let name = module.path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    String::from_utf8_lossy(name.strip_suffix(b" (deleted)").unwrap_or(name)).into_owned()
}

/// Returns the name of the debug file that a file states.
fn debug_link(image: &Image) -> Option<String> {
    let data = image.section_data(image.section(".gnu_debuglink")?).ok()?;
    let name = data.split(|&byte| byte == 0).next().filter(|name| !name.is_empty())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Returns true if the package manager of a distribution installs files in that folder.
fn is_packaged(path: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 4] = [b"/usr/", b"/lib", b"/bin/", b"/sbin/"];
    FOLDERS.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(b"/usr/local/")
}

#[cfg(test)]
mod tests;
