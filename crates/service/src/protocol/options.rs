//! Choices of a request about a run. The rest, above all where files are searched for, is the operator's choice.

use std::num::NonZeroUsize;

use options::{Demangle, Join, Options};
use serde::{Deserialize, Serialize};

/// Choices of a request about a run; part of the key of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunOptions {
    /// Whether inlined functions are looked up.
    pub(crate) inlines: bool,
    /// Spelling of names.
    pub(crate) demangle: Demangle,
    /// How far truncated callchains are continued with frames of other samples.
    pub(crate) join: Join,
    /// Most user frames of a callchain.
    pub(crate) max_frames: NonZeroUsize,
    /// Whether times off the processor are wanted, as samples of an event of their own.
    pub(crate) off_cpu: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        let Options { names, join, max_frames, off_cpu, .. } = Options::default();
        Self { inlines: names.inlines, demangle: names.demangle, join, max_frames, off_cpu }
    }
}

impl RunOptions {
    /// These choices on top of the operator's.
    pub(crate) fn apply(self, base: &Options) -> Options {
        let mut options = base.clone();
        options.names.inlines = self.inlines;
        options.names.demangle = self.demangle;
        options.join = self.join;
        options.max_frames = self.max_frames;
        options.off_cpu = self.off_cpu;
        options
    }
}
