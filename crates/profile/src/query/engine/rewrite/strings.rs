//! Strings that the other tables still refer to.

use address::ById as _;

use crate::id::StringId;
use crate::profile::Profile;
use crate::tables::{RecordingInfo, Strings};

impl Profile {
    /// Removes the strings that no other table refers to. Ids of strings that are stored elsewhere become invalid.
    pub fn retain_strings(&mut self) {
        let mut new: Vec<Option<StringId>> = vec![None; self.strings.len()];
        self.each_string(&mut |id| {
            if let Some(slot) = new.by_id_mut(*id) {
                *slot = Some(*id);
            }
        });
        let mut kept = Strings::default();
        for old in new.iter_mut().filter_map(Option::as_mut) {
            *old = kept.intern(self.strings.get(*old));
        }
        self.each_string(&mut |id| {
            if let Some(Some(kept)) = new.by_id(*id) {
                *id = *kept;
            }
        });
        self.strings = kept;
    }

    /// Calls `visit` with each id of a string.
    fn each_string(&mut self, visit: &mut impl FnMut(&mut StringId)) {
        let RecordingInfo {
            hostname,
            os_release,
            arch,
            perf_version,
            cpu_desc,
            cpu_id,
            command_line,
            ..
        } = &mut self.recording;
        let facts = [hostname, os_release, arch, perf_version, cpu_desc, cpu_id];
        facts.into_iter().flatten().chain(command_line).for_each(&mut *visit);
        self.events.iter_mut().for_each(|event| visit(&mut event.name));
        for module in self.modules.iter_mut() {
            visit(&mut module.path);
            module.opened.iter_mut().for_each(&mut *visit);
        }
        for row in self.inlines.iter_mut() {
            let names = [&mut row.function, &mut row.file, &mut row.declared_file];
            names.into_iter().flatten().for_each(&mut *visit);
        }
        self.fields.each_string(visit);
        for thread in self.threads.iter_mut() {
            visit(&mut thread.comm);
            visit(&mut thread.process);
            thread.cgroup.iter_mut().for_each(&mut *visit);
        }
    }
}
