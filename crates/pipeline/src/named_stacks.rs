//! Names of aggregated stacks, from files found by build-id.
//!
//! The modules are mapped on a timeline of their own, so that files are found, verified and searched as in a run.
//! A timeline has one kernel; stacks of several kernels are named one kernel after the other.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use address::{Avma, FileOffset, ModuleId, Pid};
use image_store::{FileFindingKind, ImageStore, LoadedImage};
use module_map::{FileIdentity, MapEvent, Module, Timeline, is_archive};
use options::Options;
use perf_data::Head;
use profile::{LocationId, LocationRow, ModuleKind, ModuleRow, Profile, RowId as _, Table};
use rayon::prelude::*;

use crate::Pipeline;
use crate::error::Error;
use crate::files::Files;
use crate::limits::check_memory;
use crate::names::{NameReport, NameScope, Sources, resolve};
use crate::observer::{Observer, Stage};
use crate::runs::account_of_files;

/// Address of the first user module. Each module has its own page.
const USER: u64 = 1 << 32;
/// Address of the first kernel module.
const KERNEL_MODULES: u64 = 1 << 40;
/// Address of the kernel's reference symbol.
const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// Length of each mapping.
const PAGE: u64 = 0x1000;
/// Process of all mappings, which no living process has.
const PROCESS: Pid = Pid(0);
/// An address that no file has.
const NOWHERE: u64 = u64::MAX;

impl Pipeline {
    /// Looks up the names of aggregated stacks. The modules of `profile` have a build-id, and its locations are file
    /// offsets, or distances from the start of a kernel module or from the symbol after the kernel's name
    /// (`[kernel.kallsyms]_text`). Locations with a function stay.
    ///
    /// Files that are not found are findings of the profile's summary. Returns true if one is missing or damaged.
    /// `recording` names the stacks.
    ///
    /// # Errors
    /// If a store or a server of the options cannot be used, a limit is reached, or the observer stops the run.
    pub fn name_stacks(
        &self,
        profile: &mut Profile,
        recording: &Path,
        options: &Options,
        observer: &Arc<dyn Observer>,
    ) -> Result<bool, Error> {
        let setting = self.setting(options, observer);
        let files = Files::of_no_recording(&setting)?;
        observer.stage(Stage::Symbolizing);
        let images = &*files.images;
        let modules = StoredModules::sort(profile);
        let first = modules.timeline(0, &files);
        first.modules().par_iter().for_each(|module| {
            if module.identity.build_id.is_some() {
                let _ = images.image(module);
            }
        });
        modules.store(profile, &first, images);
        let mut groups = modules.locations(profile, images, &first);
        let head = Head::empty();
        let mut report = NameReport::default();
        for kernel in 0..modules.kernels.len().max(1) {
            let other = (kernel > 0).then(|| modules.timeline(kernel, &files));
            let start = profile.locations.next_id();
            groups.append(kernel, profile);
            let sources = Sources {
                options: &options.names,
                scope: NameScope::Stored,
                kallsyms: options.files.kallsyms.as_deref(),
                head: &head,
                recording,
                // Files are known by the modules of the first timeline.
                timeline: other.as_ref().unwrap_or(&first),
                threads: &[],
                images,
                observer: &**observer,
                cache: setting.cache.as_deref(),
            };
            report.add(resolve(profile, start, sources, None));
            check_memory(&setting.memory)?;
            if observer.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
        groups.finish(profile);
        modules.note_missing(profile, &first, images);
        account_of_files(profile, &first, images, &report, setting.spelling);
        Ok(profile.summary.names_lost)
    }
}

/// Modules of stacks, in the order of a timeline: user modules, kernel modules, kernels.
struct StoredModules {
    rows: Vec<(ModuleRow, Box<[u8]>)>,
    /// Index of the first kernel module.
    kernel_modules: usize,
    /// Indexes of the kernels.
    kernels: std::ops::Range<usize>,
    /// New ids, by old id.
    ids: Table<ModuleId, usize>,
}

impl StoredModules {
    fn sort(profile: &Profile) -> Self {
        let rank = |row: &ModuleRow| match row.kind {
            ModuleKind::Kernel if profile.strings.get(row.path).starts_with(b"[kernel") => 2,
            ModuleKind::Kernel => 1,
            _ => 0,
        };
        let mut order: Vec<(u8, ModuleId)> =
            profile.modules.entries().map(|(id, row)| (rank(row), id)).collect();
        order.sort_unstable();
        let mut ids: Table<ModuleId, usize> = Table::from_vec(vec![0; profile.modules.len()]);
        let mut rows = Vec::new();
        for (at, &(_, id)) in order.iter().enumerate() {
            if let (Some(slot), Some(row)) = (ids.get_mut(id), profile.modules.get(id)) {
                *slot = at;
                let path = profile.strings.get(row.path);
                // In an archive, only the build-id locates a library.
                let path = path.strip_prefix(b"/").filter(|_| is_archive(path)).unwrap_or(path);
                rows.push((row.clone(), path.into()));
            }
        }
        let start_of = |rank| order.partition_point(|&(other, _)| other < rank);
        Self { rows, kernel_modules: start_of(1), kernels: start_of(2)..order.len(), ids }
    }

    /// Returns a timeline with all modules, and this kernel. The other kernels are memory without code.
    fn timeline(&self, kernel: usize, files: &Files) -> Timeline {
        let mut timeline = Timeline::within(&files.images.options().memory);
        for (at, (row, path)) in self.rows.iter().enumerate() {
            let is_other = self.kernels.contains(&at) && at != self.kernels.start + kernel;
            let mut other = is_other.then(|| format!("[other kernel {at}]"));
            let mut tries = 0;
            // The id of a module is its index here. Names that would give the module of another row are replaced.
            while timeline.modules().len() <= at {
                let event = self.event(at, row);
                let path = other.as_ref().map_or(&**path, String::as_bytes);
                let kernel = event.kernel && other.is_none();
                timeline.map(&MapEvent { path, kernel, ..event });
                other = Some(format!("[other module {at} {tries}]"));
                tries += 1;
            }
        }
        timeline
    }

    /// Returns the mapping of a module, without its name.
    fn event(&self, at: usize, row: &ModuleRow) -> MapEvent<'static> {
        let (start, offset) = self.start_of(at);
        MapEvent {
            pid: PROCESS,
            kernel: at >= self.kernel_modules,
            start: Avma(start),
            len: PAGE,
            offset: FileOffset(offset),
            // Code in memory would get a module of its process.
            executable: false,
            writable: false,
            path: b"",
            identity: FileIdentity { build_id: row.build_id, ..FileIdentity::default() },
        }
    }

    /// Returns address and offset of a module's mapping.
    fn start_of(&self, at: usize) -> (u64, u64) {
        let page = PAGE * at as u64;
        match at {
            _ if self.kernels.contains(&at) => (KERNEL, KERNEL),
            _ if at >= self.kernel_modules => (KERNEL_MODULES + page, 0),
            _ => (USER + page, 0),
        }
    }

    /// Replaces the modules of the profile by those of the timeline, with the files that were opened for them.
    fn store(&self, profile: &mut Profile, timeline: &Timeline, images: &ImageStore) {
        let mut table = Table::new();
        for ((row, path), module) in self.rows.iter().zip(timeline.modules()) {
            let mut row = row.clone();
            if let Some(file) = file_of(module, images) {
                let opened = file.image().path().as_os_str().as_bytes();
                (row.kind, row.opened) = (ModuleKind::Elf, Some(profile.strings.intern(opened)));
            }
            let symbol = path.iter().position(|&byte| byte == b']').map(|end| end + 1);
            if let (ModuleKind::Kernel, Some(name)) =
                (row.kind, symbol.and_then(|it| path.get(..it)))
            {
                row.path = profile.strings.intern(name);
            }
            table.push(row);
        }
        profile.modules = table;
    }

    /// Takes the locations out of the profile except those that are not looked up, and numbers them again.
    fn locations(
        &self,
        profile: &mut Profile,
        images: &ImageStore,
        timeline: &Timeline,
    ) -> LocationGroups {
        let old = std::mem::take(&mut profile.locations);
        let mut fixed = Vec::new();
        let mut groups: Vec<Vec<(LocationId, LocationRow)>> =
            vec![Vec::new(); self.kernels.len().max(1)];
        for (id, row) in old.entries() {
            let at = row.module.and_then(|module| self.ids.get(module)).copied();
            let module = at.map(ModuleId::from_index);
            let mut row = LocationRow { module, ..*row };
            let (Some(at), Some(offset), 0) = (at, row.offset, row.n_inlines) else {
                fixed.push((id, row));
                continue;
            };
            let module = timeline.modules().get(at);
            row.relative = match module.and_then(|module| file_of(module, images)) {
                Some(file) => address_in(file, offset),
                None if at >= self.kernel_modules => self.start_of(at).0.wrapping_add(offset),
                None => offset,
            };
            let kernel = at.saturating_sub(self.kernels.start);
            if let Some(group) = groups.get_mut(kernel) {
                group.push((id, row));
            }
        }
        let mut ids: Table<LocationId, LocationId> = old.ids().collect();
        let all = fixed.iter().chain(groups.iter().flatten());
        for (at, (id, _)) in all.enumerate() {
            if let Some(slot) = ids.get_mut(*id) {
                *slot = LocationId::from_index(at);
            }
        }
        for frame in profile.frames.as_mut_slice() {
            frame.location = ids.get(frame.location).copied().unwrap_or(frame.location);
        }
        profile.locations.extend(fixed.into_iter().map(|(_, row)| row));
        LocationGroups { groups, offsets: Vec::new() }
    }

    /// Notes each build-id without a file that would name a location.
    fn note_missing(&self, profile: &Profile, timeline: &Timeline, images: &ImageStore) {
        let mut nameless = vec![false; self.rows.len()];
        for location in profile.locations.iter().filter(|location| location.n_inlines == 0) {
            let slot = location.module.and_then(|module| nameless.get_mut(module.index()));
            slot.into_iter().for_each(|slot| *slot = true);
        }
        for (at, ((row, path), module)) in self.rows.iter().zip(timeline.modules()).enumerate() {
            let is_nameless = nameless.get(at).is_some_and(|it| *it);
            let Some(id) = row.build_id.filter(|_| is_nameless) else { continue };
            let is_found = match at {
                _ if at >= self.kernel_modules => images.kernel_file(&module.path, id).is_ok(),
                _ => file_of(module, images).is_some(),
            };
            if !is_found {
                let name = String::from_utf8_lossy(path);
                let message = format!("no store has the file of build-id {id}: {name}");
                images.note(FileFindingKind::NotInStore, message);
            }
        }
    }
}

/// Returns the file of a user module.
fn file_of<'i>(module: &Module, images: &'i ImageStore) -> Option<&'i Arc<LoadedImage>> {
    images.outcome(module).and_then(Result::ok)
}

/// Returns the file's own address of an offset; an address that no file has if the offset is not mapped.
fn address_in(file: &LoadedImage, offset: u64) -> u64 {
    let (image, offset) = (file.image(), FileOffset(offset));
    let address = image.svma_of_offset(offset, true);
    address.or_else(|| image.svma_of_offset(offset, false)).map_or(NOWHERE, |address| address.0)
}

/// Locations to look up, by kernel; those of user code are with the first kernel.
struct LocationGroups {
    groups: Vec<Vec<(LocationId, LocationRow)>>,
    /// The offsets that the stacks state, by location.
    offsets: Vec<(LocationId, Option<u64>)>,
}

impl LocationGroups {
    /// Appends a group to the locations of the profile.
    fn append(&mut self, kernel: usize, profile: &mut Profile) {
        for (_, row) in self.groups.get(kernel).into_iter().flatten() {
            self.offsets.push((profile.locations.push(*row), row.offset));
        }
    }

    /// Restores the offsets, after all names are looked up.
    fn finish(self, profile: &mut Profile) {
        for (id, offset) in self.offsets {
            if let Some(row) = profile.locations.get_mut(id) {
                row.offset = offset;
            }
        }
    }
}
