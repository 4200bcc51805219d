//! Keys of finished profiles: the recording, the options and the program.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cache::CacheKey;
use host::{Content, FileKind, FileStamp, Host, Origin};
use options::{Limits, OptionName, Options};

use crate::Pipeline;

/// Minimum age of the last change of a recording: another change soon after it could have the same time.
const NEAR: Duration = Duration::from_secs(2);
/// Number of blocks of a recording that are hashed, apart from its first and last ones.
const BLOCKS: usize = 64;
/// Size of a block, in bytes.
const BLOCK: usize = 4 << 10;
/// Size of the ends that are hashed, in bytes. The header is at the begin, the feature sections are at the end.
const END: usize = 64 << 10;

/// A recording that is not being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RecordingStamp {
    stamp: FileStamp,
    /// `st_ctime`, which [`FileStamp`] does not compare.
    changed: i128,
}

impl RecordingStamp {
    /// Returns the stamp of a file; `None` if it is none, or was just changed.
    pub(super) fn of(host: &dyn Host, path: &Path) -> Option<Self> {
        let stat = host.stat(path, Origin::User).ok()?;
        let stamp = Some(stat.stamp).filter(|_| stat.kind == FileKind::Regular)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let old = i128::try_from(now.saturating_sub(NEAR).as_nanos()).ok()?;
        let changed = stamp.changed;
        (stamp.modified.max(changed) < old).then_some(Self { stamp, changed })
    }
}

/// Returns the key of a run on a recording; `None` if the program or the recording cannot be read.
pub(super) fn key(
    pipeline: &Pipeline,
    path: &Path,
    recording: RecordingStamp,
    options: &Options,
) -> Option<CacheKey> {
    let host = &**pipeline.host();
    // A new build may print something else, whatever its version.
    let program = std::env::current_exe().ok()?;
    let build = host.stat(&program, Origin::System).ok()?.stamp;
    let content = host.open(path, Origin::User).ok()?.content;
    let numbers = |stamp: &FileStamp| format!("{stamp:?}").into_bytes();
    // Relative paths of options begin in the current folder.
    let folder = std::env::current_dir().ok()?;
    let options = Options { cache: None, limits: Limits::default(), ..options.clone() };
    // Advice in the profile names options as this user writes them.
    let spelled = OptionName::ALL.iter().map(|&option| pipeline.spelling.with(option, ""));
    let spelling: String = spelled.collect();
    Some(CacheKey::of_profile(&[
        env!("CARGO_PKG_VERSION").as_bytes(),
        &numbers(&build),
        program.as_os_str().as_encoded_bytes(),
        &numbers(&recording.stamp),
        folder.as_os_str().as_encoded_bytes(),
        path.as_os_str().as_encoded_bytes(),
        &sampled_bytes(&content),
        options.to_json().as_bytes(),
        spelling.as_bytes(),
    ]))
}

/// Returns the first and last bytes of a recording, and blocks in between at equal distances.
fn sampled_bytes(content: &Content) -> Vec<u8> {
    let len = content.len();
    let mut bytes = Vec::with_capacity(2 * END + BLOCKS * BLOCK);
    let mut add = |start: usize, size: usize| {
        bytes.extend_from_slice(content.get(start..len.min(start + size)).unwrap_or_default());
    };
    add(0, END);
    for block in 1..=BLOCKS {
        add(len / (BLOCKS + 1) * block, BLOCK);
    }
    add(len.saturating_sub(END), END);
    bytes
}

/// Returns the path of a recording that is named by it.
pub(super) fn path_of(source: &crate::Source) -> Option<PathBuf> {
    match source {
        crate::Source::Path(path) => Some(path.clone()),
        crate::Source::Stream { .. } => None,
    }
}
