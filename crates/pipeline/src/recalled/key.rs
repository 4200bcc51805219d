//! Keys of finished profiles: the recording, the options and the program.

use std::path::Path;

use cache::CacheKey;
use host::{Content, FileKind, FileStat, Host, Origin, is_near};
use options::{Limits, OptionName, Options};

use crate::Pipeline;

/// Number of blocks of a recording that are hashed, apart from its first and last ones.
const BLOCKS: usize = 64;
/// Size of a block, in bytes.
const BLOCK: usize = 4 << 10;
/// Size of the ends that are hashed, in bytes. They have the header and the feature sections.
const END: usize = 64 << 10;

/// Returns the stamp of a recording, as bytes; `None` if it is not a file, or was just changed.
pub(super) fn settled_stamp(host: &dyn Host, path: &Path) -> Option<[u8; 56]> {
    let FileStat { kind, stamp } = host.stat(path, Origin::User).ok()?;
    let is_settled = kind == FileKind::Regular && !is_near(stamp.modified.max(stamp.changed));
    is_settled.then(|| stamp.to_bytes())
}

/// The keys of a run.
#[derive(Debug)]
pub(super) struct RunKeys {
    pub(super) own: CacheKey,
    /// The key of the same run without times off the processor, if they are optional. It has the same result on a
    /// recording that has none.
    pub(super) without_off_cpu: Option<CacheKey>,
}

impl RunKeys {
    /// Returns the keys of a run on a recording; `None` if the program or the recording cannot be read.
    pub(super) fn of(
        pipeline: &Pipeline,
        path: &Path,
        recording: &[u8],
        options: &Options,
    ) -> Option<Self> {
        let own = key(pipeline, path, recording, options)?;
        let without_off_cpu = if options.off_cpu && options.off_cpu_optional {
            let plain = Options { off_cpu: false, off_cpu_optional: false, ..options.clone() };
            Some(key(pipeline, path, recording, &plain)?)
        } else {
            None
        };
        Some(Self { own, without_off_cpu })
    }
}

fn key(pipeline: &Pipeline, path: &Path, recording: &[u8], options: &Options) -> Option<CacheKey> {
    let host = &**pipeline.host();
    // A new build may print something else, whatever its version.
    let program = std::env::current_exe().ok()?;
    let build = host.stat(&program, Origin::System).ok()?.stamp;
    let content = host.open(path, Origin::User).ok()?.content;
    // Relative paths of options begin in the current folder.
    let folder = std::env::current_dir().ok()?;
    let options = Options { cache: None, limits: Limits::default(), ..options.clone() };
    // Advice in the profile names options as this user writes them.
    let spelled = OptionName::ALL.iter().map(|&option| pipeline.spelling.with(option, ""));
    let spelling: String = spelled.collect();
    let (options, build) = (options.to_json(), build.to_bytes());
    let parts = [
        env!("CARGO_PKG_VERSION").as_bytes(),
        &build,
        program.as_os_str().as_encoded_bytes(),
        recording,
        folder.as_os_str().as_encoded_bytes(),
        path.as_os_str().as_encoded_bytes(),
        options.as_bytes(),
        spelling.as_bytes(),
    ];
    Some(CacheKey::of_profile(&parts, &sampled(&content)))
}

/// Returns the first and last bytes of a recording, and blocks in between at equal distances.
fn sampled(content: &Content) -> Vec<&[u8]> {
    let len = content.len();
    let part = |start: usize, size: usize| content.get(start..len.min(start + size));
    let blocks = (1..=BLOCKS).map(|block| part(len / (BLOCKS + 1) * block, BLOCK));
    let ends = [part(0, END), part(len.saturating_sub(END), END)];
    ends.into_iter().chain(blocks).flatten().collect()
}
