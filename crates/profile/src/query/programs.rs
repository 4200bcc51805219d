//! Which program each process runs, as far as the profile shows it.

use address::ModuleId;
use hashbrown::{HashMap, HashSet};

use crate::id::LayoutId;
use crate::profile::Profile;
use crate::query::each_location;
use crate::tables::{ModuleKind, ProcessKey, ThreadRow};

/// The kernel keeps so many bytes of a program's name.
///
/// Source: `TASK_COMM_LEN` in `include/linux/sched.h`, without the byte that ends it.
const MOST_OF_NAME: usize = 15;

/// The program of each process in which a file was mapped that has the process's name. Processes of which only the names
/// of threads were recorded may have none.
#[derive(Debug)]
pub struct Programs {
    of_process: HashMap<ProcessKey, ModuleId>,
}

impl Programs {
    /// Looks for them where modules lay in the processes, and in stacks for those that lay where their file states it.
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

    /// The program of a process under one name.
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
