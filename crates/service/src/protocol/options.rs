//! Options of a run that a request may set. The operator sets all others, above all the paths for searching files.

use std::num::NonZeroUsize;

use options::{Demangle, Join, Options};
use serde::{Deserialize, Serialize};

/// Options of a run that a request may set; part of the key of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunOptions {
    /// True to look up inlined functions.
    pub(crate) inlines: bool,
    /// Spelling of names; `None` for that of the output.
    pub(crate) demangle: Option<Demangle>,
    /// How far truncated callchains are continued with frames of other samples.
    pub(crate) join: Join,
    /// Maximum number of user frames in a callchain.
    pub(crate) max_frames: NonZeroUsize,
    /// Whether off-CPU times are samples of a separate event; `None` if the recording has to show them.
    pub(crate) off_cpu: Option<bool>,
}

impl Default for RunOptions {
    fn default() -> Self {
        let Options { names, join, max_frames, .. } = Options::default();
        Self { inlines: names.inlines, demangle: names.demangle, join, max_frames, off_cpu: None }
    }
}

impl RunOptions {
    /// Returns the operator's options with these applied.
    pub(crate) fn apply(self, base: &Options) -> Options {
        let mut options = base.clone();
        options.names.inlines = self.inlines;
        options.names.demangle = self.demangle;
        options.join = self.join;
        options.max_frames = self.max_frames;
        options.off_cpu = self.off_cpu != Some(false);
        options.off_cpu_optional = self.off_cpu.is_none();
        options
    }
}
