//! What a request may choose about a run. The rest, above all where files are looked for, is the operator's choice.

use std::num::NonZeroU32;

use pipeline::{Demangle, Join};
use serde::{Deserialize, Serialize};

/// What a request may choose about a run; part of the key of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunOptions {
    /// Whether inlined functions are looked for.
    pub(crate) inlines: bool,
    /// How names are written.
    pub(crate) demangle: DemangleChoice,
    /// Whether callchains that the copy of the stack cut off go on with frames of other samples.
    pub(crate) join: JoinChoice,
    /// The most user frames of a callchain.
    pub(crate) max_frames: NonZeroU32,
    /// Whether times off the processor are wanted, as samples of an event of their own.
    pub(crate) off_cpu: bool,
}

/// The most frames of a callchain where nothing is chosen, as for the command.
const MAX_FRAMES: NonZeroU32 = NonZeroU32::new(1024).unwrap();

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            inlines: true,
            demangle: DemangleChoice::Full,
            join: JoinChoice::Gaps,
            max_frames: MAX_FRAMES,
            off_cpu: false,
        }
    }
}

impl RunOptions {
    /// These choices on top of the operator's.
    pub(crate) fn apply(self, base: &pipeline::Options) -> pipeline::Options {
        let mut options = base.clone();
        options.names.inlines = self.inlines;
        options.names.demangle = self.demangle.into();
        options.join = match self.join {
            JoinChoice::Gaps => Join::default(),
            JoinChoice::Exact => Join::Exact,
            JoinChoice::Off => Join::Off,
        };
        options.max_frames = self.max_frames.get() as usize;
        options.off_cpu = self.off_cpu;
        options
    }
}

/// How names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DemangleChoice {
    /// With parameters and template arguments.
    #[default]
    Full,
    /// Without.
    Short,
    /// As the symbol table has them.
    None,
}

impl From<DemangleChoice> for Demangle {
    fn from(choice: DemangleChoice) -> Self {
        match choice {
            DemangleChoice::Full => Self::Full,
            DemangleChoice::Short => Self::Short,
            DemangleChoice::None => Self::None,
        }
    }
}

/// How chains that were cut off go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JoinChoice {
    /// With frames of other samples, also across a gap.
    Gaps,
    /// With frames of other samples that join without a gap.
    Exact,
    /// They end.
    Off,
}
