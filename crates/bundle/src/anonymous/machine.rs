//! A machine without names: it has what stands for the files of a recording, and nothing else.

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

/// What the recording is called there.
pub const RECORDING: &str = "perf.data";
/// Where the list of kernel symbols is.
pub const KERNEL_LIST: &str = "/kallsyms";

/// What an anonymous machine is made of.
#[derive(Clone, Copy, Debug)]
pub struct AnonymousMachine<'p> {
    /// The profile with names as they are shown.
    pub shown: &'p Profile,
    /// The same with names as they are in the files.
    pub raw: &'p Profile,
    /// The pseudonyms that the recording was written with.
    pub names: &'p Pseudonyms,
    /// Names as they are in the files that are to be written as they are shown.
    pub as_shown: &'p HashSet<Vec<u8>>,
    /// A symbol of the kernel and its address, by which the recording says where it lay.
    pub kernel_reference: Option<(&'p [u8], Avma)>,
    /// The recorded identity of the file of each module, if there is one.
    pub identities: &'p [Option<RecordedFile>],
    /// When the recording was written, in nanoseconds since 1970.
    pub written: Option<i128>,
}

impl AnonymousMachine<'_> {
    /// The machine, with the recording at [`RECORDING`], and whether it has a list of kernel symbols at [`KERNEL_LIST`].
    /// `open` opens a file of the real machine.
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
            // Not older than its process.
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
