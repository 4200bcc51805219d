//! The modules of a recalled profile, from which their files are found again.

use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, ModuleId, Pid};
use module_map::{FileIdentity, Inode, MappedKind, Module, PathUse, TimelineId};
use serde::{Deserialize, Serialize};

use crate::analysis_sources::AnalysisSources;

/// A module whose file a run opened, as JSON. Kinds without a file are not stored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredModule {
    id: u32,
    path: Vec<u8>,
    kind: StoredKind,
    build_id: Option<String>,
    is_listed: bool,
    inode: Option<(u32, u32, u64, u64)>,
    path_use: StoredPathUse,
    owner: Option<i32>,
    inherited_from: Option<u32>,
    part: Option<u64>,
    first_mapped: Option<(i32, u64)>,
}

/// Kinds of modules that can have a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum StoredKind {
    File,
    Unopened,
    Vdso,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum StoredPathUse {
    Only,
    Last,
    Earlier,
    Shared,
}

/// Returns the modules whose file a run opened. `None` if one of the files has no path to open again, as code of JIT
/// compilers.
pub(super) fn stored_modules(sources: &AnalysisSources) -> Option<Vec<StoredModule>> {
    let opened = sources.modules().iter().filter(|module| sources.file(module).is_some());
    opened
        .map(|module| {
            let is_provided = sources.images()?.is_provided(module);
            StoredModule::of(module).filter(|_| !is_provided)
        })
        .collect()
}

/// Returns the modules as on a timeline of their own.
pub(super) fn restored_modules(stored: &[StoredModule]) -> Vec<Arc<Module>> {
    let timeline = TimelineId::default();
    stored.iter().map(|module| Arc::new(module.restored(timeline))).collect()
}

impl StoredModule {
    fn of(module: &Module) -> Option<Self> {
        let Module { id, path, kind, identity, owner, inherited_from, part, first_mapped, .. } =
            module;
        let FileIdentity { build_id, is_listed, inode, path_use } = *identity;
        let kind = match kind {
            MappedKind::File => StoredKind::File,
            MappedKind::Unopened => StoredKind::Unopened,
            MappedKind::Vdso => StoredKind::Vdso,
            _ => return None,
        };
        let path_use = match path_use {
            PathUse::Only => StoredPathUse::Only,
            PathUse::Last => StoredPathUse::Last,
            PathUse::Earlier => StoredPathUse::Earlier,
            PathUse::Shared => StoredPathUse::Shared,
        };
        Some(Self {
            id: id.0,
            path: path.to_vec(),
            kind,
            build_id: build_id.map(|id| id.to_string()),
            is_listed,
            inode: inode.map(|it| (it.major, it.minor, it.number, it.generation)),
            path_use,
            owner: owner.map(|pid| pid.0),
            inherited_from: inherited_from.map(|id| id.0),
            part: part.map(|offset| offset.0),
            first_mapped: first_mapped.map(|(pid, address)| (pid.0, address.0)),
        })
    }

    fn restored(&self, timeline: TimelineId) -> Module {
        let kind = match self.kind {
            StoredKind::File => MappedKind::File,
            StoredKind::Unopened => MappedKind::Unopened,
            StoredKind::Vdso => MappedKind::Vdso,
        };
        let path_use = match self.path_use {
            StoredPathUse::Only => PathUse::Only,
            StoredPathUse::Last => PathUse::Last,
            StoredPathUse::Earlier => PathUse::Earlier,
            StoredPathUse::Shared => PathUse::Shared,
        };
        let inode = |(major, minor, number, generation)| Inode { major, minor, number, generation };
        let identity = FileIdentity {
            build_id: self.build_id.as_deref().and_then(BuildId::from_hex),
            is_listed: self.is_listed,
            inode: self.inode.map(inode),
            path_use,
        };
        Module {
            id: ModuleId(self.id),
            path: self.path.as_slice().into(),
            kind,
            identity,
            owner: self.owner.map(Pid),
            inherited_from: self.inherited_from.map(ModuleId),
            part: self.part.map(FileOffset),
            first_mapped: self.first_mapped.map(|(pid, address)| (Pid(pid), Avma(address))),
            timeline,
        }
    }
}
