//! What would help where names are missing: the words of all such advice of this crate. The places that notice what is
//! missing choose the variant.

use std::fmt;

/// What would give names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Remedy {
    /// Let the running kernel show its addresses, or name a list.
    ShowAddresses,
    /// Name a list of the kernel's symbols.
    NameList,
    /// Save the list on the recorded machine, and name it.
    SaveList,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ShowAddresses => {
                "run as root or set kernel.kptr_restrict to 0, or name a list: --kallsyms FILE"
            }
            Self::NameList => "name its symbols with --kallsyms FILE",
            Self::SaveList => {
                "on the recorded machine, before it restarts: sudo cat /proc/kallsyms > kallsyms; then here: --kallsyms \
                 kallsyms"
            }
        })
    }
}
