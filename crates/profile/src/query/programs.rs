//! The program that each process runs, if the profile shows it.

use address::ModuleId;
use hashbrown::{HashMap, HashSet};

use crate::id::LayoutId;
use crate::profile::Profile;
use crate::query::each_location;
use crate::tables::{ModuleKind, ProcessKey, ThreadRow};

/// Number of bytes of a program's name that the kernel stores.
///
/// Source: `TASK_COMM_LEN` in `include/linux/sched.h`, without the byte that ends it.
const MOST_OF_NAME: usize = 15;

/// The program of each process: a file mapped in it that has the process's name. A process may have none if only thread
/// names were recorded.
#[derive(Debug)]
pub struct Programs {
    of_process: HashMap<ProcessKey, ModuleId>,
}

impl Programs {
    /// Searches the layouts of the processes, and the stacks for modules without a bias, which layouts do not list.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let by_name = files_by_name(profile);
        let mut programs = Self { of_process: HashMap::new() };
        let mut layouts_seen: HashSet<(ProcessKey, LayoutId)> = HashSet::new();
        for sample in &profile.samples {
            let Some(process) = profile.threads.get(sample.thread).map(ThreadRow::process_key)
            else {
                continue;
            };
            if programs.of_process.contains_key(&process) {
                continue;
            }
            let Some(files) = by_name.get(profile.strings.get(process.name)) else {
                continue;
            };
            let mut found = None;
            if layouts_seen.insert((process, sample.layout)) {
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
                programs.of_process.insert(process, module);
            }
        }
        programs
    }

    /// Returns the program of a process with one name.
    #[must_use]
    pub fn of(&self, process: ProcessKey) -> Option<ModuleId> {
        self.of_process.get(&process).copied()
    }
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
