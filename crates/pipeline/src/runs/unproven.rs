//! Files that were used though no build-id was recorded for them, where they may be of another build.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use host::Origin;
use module_map::{ImageStore, LoadError, MappedKind, Module, Timeline};
use profile::FindingRow;

/// The finding for such files. A file is taken for the recorded one without a word where it still has the recorded inode
/// and was not changed since, or where the user named the folder it is in, other files from there have the recorded
/// build-ids, and none has another.
///
/// `recorded_until`: when the recording was written last, in nanoseconds since 1970, where that is known.
pub(super) fn unproven(
    timeline: &Timeline,
    images: &ImageStore,
    recorded_until: Option<i128>,
) -> Option<FindingRow> {
    let options = images.options();
    let named_by_user = !options.sysroots.is_empty() || !options.path_map.is_empty();
    let (mut proven, mut refuted) = (false, false);
    let mut without_id = Vec::new();
    for module in timeline.modules().iter().filter(|module| module.kind == MappedKind::File) {
        match (images.outcome(module), module.identity.build_id) {
            (Some(Ok(_)), Some(_)) => proven = true,
            // What nobody mapped was named by the user, or made of JIT code.
            (Some(Ok(file)), None) if module.first_mapped.is_some() => {
                without_id.push((module, file.image().path()));
            }
            (Some(Err(LoadError::BuildId { .. } | LoadError::Replaced(_))), _) => refuted = true,
            _ => {}
        }
    }
    let vouched_for = named_by_user && proven && !refuted;
    let is_same = |module: &Module, path: &Path| {
        // It was opened by its recorded path, so that nothing new is asked.
        let origin = Origin::Recording { root: Path::new("/") };
        let stamp = options.host.stat(path, origin).map(|stat| stat.stamp).ok();
        let recorded = module.identity.inode.map(|inode| inode.number);
        stamp.is_some_and(|stamp| {
            recorded == Some(stamp.inode) && recorded_until.is_none_or(|end| stamp.modified < end)
        })
    };
    without_id.retain(|(module, path)| {
        let recorded_path = !named_by_user && path.as_os_str().as_bytes() == &*module.path;
        let proven = vouched_for || (recorded_path && is_same(module, path));
        !proven
    });
    let (first, _) = without_id.first()?;
    Some(FindingRow {
        kind: "build-id-not-recorded".to_owned(),
        message: format!(
            "files may be of another build than the recorded one, and their names and stacks wrong: no build-id was \
             recorded for them, such as {}; record build-ids with perf record --buildid-mmap",
            String::from_utf8_lossy(&first.path)
        ),
        count: without_id.len() as u64,
    })
}
