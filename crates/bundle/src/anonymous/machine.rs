//! Host without names: it provides the substitutes of a recording's files, and nothing else.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use address::{Avma, ById as _};
use hashbrown::HashSet;
use host::{MemoryHost, RecordedFile};
use image_store::Image;
use profile::Profile;

use super::Pseudonyms;
use super::files::{Profiles, StandIn, StandIns};

/// Path of the recording on that host.
pub const RECORDING: &str = "perf.data";
/// Path of the list of kernel symbols.
pub const KERNEL_LIST: &str = "/kallsyms";

/// Inputs of an anonymous host.
#[derive(Clone, Copy, Debug)]
pub struct AnonymousMachine<'p> {
    /// Profile with names as displayed.
    pub shown: &'p Profile,
    /// Profile with names as stated in the files.
    pub raw: &'p Profile,
    /// Pseudonyms used in the written recording.
    pub names: &'p Pseudonyms,
    /// Raw names that must be written in their displayed form.
    pub as_shown: &'p HashSet<Vec<u8>>,
    /// Kernel symbol and its address, which state the kernel's load address in the recording.
    pub kernel_reference: Option<(&'p [u8], Avma)>,
    /// The recorded identity of the file of each module, if there is one.
    pub identities: &'p [Option<RecordedFile>],
    /// Time of the recording, in nanoseconds since 1970.
    pub written: Option<i128>,
}

impl AnonymousMachine<'_> {
    /// Returns the host, with the recording at [`RECORDING`], and whether it has a list of kernel symbols at
    /// [`KERNEL_LIST`]. `open` opens a file of the real host.
    #[must_use]
    pub fn host(
        &self,
        recording: &[u8],
        open: &dyn Fn(&[u8]) -> Option<Image>,
    ) -> (MemoryHost, bool) {
        let Self { shown, raw, names, as_shown, .. } = *self;
        let made = StandIns::new(Profiles { shown, raw, names, as_shown }, open);
        let host = MemoryHost::new();
        let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
        for StandIn { path: at, bytes, module } in made.files {
            let at = path(at);
            host.insert(&at, bytes);
            let identity = self.identities.by_id(module).copied().flatten();
            identity.into_iter().for_each(|identity| host.set_recorded(&at, identity));
        }
        for (pid, text) in made.scripts.texts() {
            // Must not be older than its process.
            let written = self.written.unwrap_or(i64::MAX.into());
            host.insert_written(format!("/tmp/perf-{pid}.map"), text, written);
        }
        let facts = [
            ("/proc/sys/kernel/hostname", shown.recording.hostname),
            ("/proc/sys/kernel/osrelease", shown.recording.os_release),
        ];
        for (at, fact) in facts {
            let Some(fact) = fact else { continue };
            let mut line = names.word(shown.strings.get(fact));
            line.push(b'\n');
            host.insert(at, line);
        }
        if let Some(vdso) = made.vdso {
            host.set_vdso(vdso);
        }
        let list = made.kernel.text(self.kernel_reference);
        let has_list = list.is_some();
        list.into_iter().for_each(|text| host.insert(KERNEL_LIST, text));
        host.insert_written(RECORDING, recording, self.written.unwrap_or_default());
        (host, has_list)
    }
}
