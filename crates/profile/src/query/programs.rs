//! Which program each process runs, as far as the profile shows it.

use address::{ModuleId, Pid};
use hashbrown::{HashMap, HashSet};

use crate::id::LayoutId;
use crate::profile::Profile;
use crate::query::each_location;
use crate::tables::{ModuleKind, ThreadRow};

/// The kernel keeps so many bytes of a program's name.
///
/// Source: `TASK_COMM_LEN` in `include/linux/sched.h`, without the byte that ends it.
const MOST_OF_NAME: usize = 15;

/// The program of each process in which a file was mapped that has the process's name. Processes that changed their
/// name, as interpreters and servers do, have none.
#[derive(Debug)]
pub struct Programs<'a> {
    of_process: HashMap<Pid, ModuleId>,
    names: HashMap<Pid, &'a [u8]>,
}

impl<'a> Programs<'a> {
    /// Looks for them where modules lay in the processes, and in stacks for those that lay where their file states it.
    #[must_use]
    pub fn new(profile: &'a Profile) -> Self {
        let by_name = files_by_name(profile);
        let mut programs = Self { of_process: HashMap::new(), names: process_names(profile) };
        let mut layouts_seen: HashSet<(Pid, LayoutId)> = HashSet::new();
        for sample in &profile.samples {
            let Some(pid) = profile.threads.get(sample.thread).map(|thread| thread.pid) else {
                continue;
            };
            if programs.of_process.contains_key(&pid) {
                continue;
            }
            let Some(files) = programs.names.get(&pid).and_then(|name| by_name.get(name)) else {
                continue;
            };
            let mut found = None;
            if layouts_seen.insert((pid, sample.layout)) {
                let layout = profile.layouts.get(sample.layout);
                let modules = layout.into_iter().flat_map(|layout| layout.biases());
                found = modules.map(|it| it.module).find(|module| files.contains(module));
            }
            if found.is_none() {
                each_location(profile, sample.stack, |id| {
                    let module = profile.locations.get(id).and_then(|location| location.module);
                    found = found.or(module.filter(|module| files.contains(module)));
                });
            }
            if let Some(module) = found {
                programs.of_process.insert(pid, module);
            }
        }
        programs
    }

    /// The program of a process.
    #[must_use]
    pub fn of(&self, pid: Pid) -> Option<ModuleId> {
        self.of_process.get(&pid).copied()
    }

    /// The name of a process: that of its first thread, or of the thread that comes first in the table. Empty for one
    /// that has no thread there.
    #[must_use]
    pub fn name(&self, pid: Pid) -> &'a [u8] {
        self.names.get(&pid).copied().unwrap_or_default()
    }
}

fn process_names(profile: &Profile) -> HashMap<Pid, &[u8]> {
    let mut names: HashMap<Pid, (&ThreadRow, &[u8])> = HashMap::new();
    for thread in &profile.threads {
        let row = (thread, profile.strings.get(thread.comm));
        let kept = names.entry(thread.pid).or_insert(row);
        let is_first = |thread: &ThreadRow| thread.tid.0 == thread.pid.0;
        if is_first(thread) && !is_first(kept.0) {
            *kept = row;
        }
    }
    names.into_iter().map(|(pid, (_, name))| (pid, name)).collect()
}

fn files_by_name(profile: &Profile) -> HashMap<&[u8], Vec<ModuleId>> {
    let mut by_name: HashMap<_, Vec<ModuleId>> = HashMap::new();
    for (id, module) in profile.modules.entries() {
        let path = profile.strings.get(module.path);
        if matches!(module.kind, ModuleKind::Elf | ModuleKind::File) && path.starts_with(b"/") {
            let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            let name = name.get(..MOST_OF_NAME).unwrap_or(name);
            by_name.entry(name).or_default().push(id);
        }
    }
    by_name
}
