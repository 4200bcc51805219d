//! The further map records of a rewritten recording, and the build-ids of recorded ones.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use address::{BuildId, ById as _, ModuleId, Pid, Timestamp};
use hashbrown::HashMap;
use image_store::Image;
use module_map::{Mapping, Module, Timeline};
use perf_data::{Event, Mmap, MmapId, Record, RecordKind};
use pipeline::{Files, MapReplay};

use super::container::{FileLayout, build_id_union};

/// Changes to a recording.
#[derive(Debug, Default)]
pub(crate) struct Injected {
    /// Further records, each with the position before which it goes.
    pub(crate) inserted: Vec<(usize, Vec<u8>)>,
    /// Positions of records, and the build-ids that they get.
    pub(crate) build_ids: Vec<(usize, BuildId)>,
    /// ELF files of JIT code.
    pub(crate) code: CodeFiles,
}

/// Paths and contents.
type CodeFiles = Vec<(PathBuf, Vec<u8>)>;

/// Replays the maps and collects the mappings beyond the recorded ones.
/// A record goes after the one that caused its mapping, or before the first one of a later time.
pub(crate) fn collect(
    bytes: &[u8],
    maps: &mut MapReplay,
    layout: &FileLayout,
    output: &Path,
) -> Injected {
    maps.timeline.start_journal();
    let mut taken = Vec::new();
    let mut build_ids = Vec::new();
    while let Some(batch) = maps.next_batch() {
        let mut samples = batch.samples().iter().peekable();
        for record in batch.records() {
            let now = (record.time, record.position);
            while let Some(sample) = samples.next_if(|s| (s.time, s.position) < now) {
                maps.timeline.advance(sample.time);
                take(&mut maps.timeline, sample.position, sample.time, &mut taken);
            }
            maps.timeline.advance(record.time);
            take(&mut maps.timeline, record.position, record.time, &mut taken);
            maps.apply(&record);
            if let Record::Mmap(map) = &record.record
                && let Some(id) = listed_id(map, maps)
            {
                build_ids.push((record.position as usize, id));
            }
            let end =
                layout.end_of(bytes, record.position).map_or(record.position, |end| end as u64);
            take(&mut maps.timeline, end, record.time, &mut taken);
        }
        for sample in samples {
            maps.timeline.advance(sample.time);
            take(&mut maps.timeline, sample.position, sample.time, &mut taken);
        }
    }
    build_ids.sort_by_key(|&(position, _)| position);
    taken.sort_by_key(|taken| taken.position);
    let (names, code) = code_files(&maps.timeline, maps.files(), output);
    let trailer = maps.head().events().first().map(Trailer::new).unwrap_or_default();
    let row = |taken: &JournalMapping| {
        let id = taken.mapping.module;
        let module = maps.timeline.modules().by_id(id);
        let name = names.get(&id).cloned().or_else(|| Some(path_of(module?)));
        let build_id = module.and_then(|module| module.identity.build_id);
        (taken.position as usize, mmap2(taken, &name.unwrap_or_default(), build_id, &trailer))
    };
    Injected { inserted: taken.iter().map(row).collect(), build_ids, code }
}

/// A mapping that the recording does not state, and the position of its record.
struct JournalMapping {
    position: u64,
    time: Timestamp,
    pid: Pid,
    mapping: Mapping,
}

fn take(timeline: &mut Timeline, position: u64, time: Timestamp, taken: &mut Vec<JournalMapping>) {
    let rows = timeline.take_journal().into_iter();
    taken.extend(rows.map(|(pid, mapping)| JournalMapping { position, time, pid, mapping }));
}

/// Returns the listed build-id of a map if its record states none and the id can belong to the mapped file.
fn listed_id(map: &Mmap<'_>, maps: &mut MapReplay) -> Option<BuildId> {
    if !matches!(map.id, MmapId::Inode { .. }) || map.pid.0 < 0 {
        return None;
    }
    let space = maps.timeline.space(map.pid).0;
    let module = space.module(&space.lookup(map.start)?)?;
    let id = maps.files().images.deciding_build_id(module);
    id.filter(|_| *module.path == *map.path)
}

/// Returns the ELF files of JIT code, and the names under which their modules are recorded.
fn code_files(
    timeline: &Timeline,
    files: &Files,
    output: &Path,
) -> (HashMap<ModuleId, Vec<u8>>, CodeFiles) {
    let mut names = HashMap::new();
    let mut code = Vec::new();
    for (id, number) in timeline.jit_modules().zip(0..) {
        let module = timeline.modules().by_id(id);
        let Some(Ok(file)) = module.map(|module| files.images.image(module)) else { continue };
        let mut name = output.as_os_str().to_owned();
        name.push(format!(".jit-{number}.so"));
        names.insert(id, name.as_bytes().to_vec());
        code.push((PathBuf::from(name), without_table(file.image())));
    }
    (names, code)
}

/// Returns an image with an empty `.eh_frame_hdr` table. perf would look for the table in the memory of the process,
/// find none, and stop there; with an empty table it continues by the frame pointer. Tools that read call
/// frame
/// information from the file do not need the table.
///
/// Source: LSB, "`.eh_frame_hdr`": the count is at offset 8 in the encodings that are written here.
fn without_table(image: &Image) -> Vec<u8> {
    let mut bytes = image.bytes().to_vec();
    let header = image.section(".eh_frame_hdr").map_or(0, |section| section.offset().0);
    if let Some(count) = usize::try_from(header)
        .ok()
        .filter(|&at| at > 0)
        .and_then(|at| bytes.get_mut(at.checked_add(8)?..at.checked_add(12)?))
    {
        count.fill(0);
    }
    bytes
}

/// Returns the absolute path of a module.
fn path_of(module: &Module) -> Vec<u8> {
    let path = Path::new(std::ffi::OsStr::from_bytes(&module.path));
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.as_os_str().as_bytes().to_vec()
}

/// Sample identity that follows the body of each record other than samples.
///
/// Source: `struct sample_id` in `include/uapi/linux/perf_event.h`.
#[derive(Default)]
struct Trailer {
    fields: u64,
    id: u64,
}

impl Trailer {
    fn new(event: &Event) -> Self {
        let all = event.attr.flags.sample_id_all();
        let fields = if all { event.attr.sample_type.0 } else { 0 };
        Self { fields, id: event.ids.first().copied().unwrap_or(0) }
    }

    fn write(&self, pid: Pid, time: Timestamp, record: &mut Vec<u8>) {
        const TID: u64 = 1 << 1;
        const TIME: u64 = 1 << 2;
        const ID: u64 = 1 << 6;
        const CPU: u64 = 1 << 7;
        const STREAM_ID: u64 = 1 << 9;
        const IDENTIFIER: u64 = 1 << 16;
        for (bit, value) in [
            (TID, u64::from(pid.0 as u32) << 32 | u64::from(pid.0 as u32)),
            (TIME, time.0),
            (ID, self.id),
            (STREAM_ID, self.id),
            (CPU, 0),
            (IDENTIFIER, self.id),
        ] {
            if self.fields & bit != 0 {
                record.extend(value.to_le_bytes());
            }
        }
    }
}

/// An `MMAP2` record of a readable and executable private mapping.
fn mmap2(taken: &JournalMapping, name: &[u8], id: Option<BuildId>, trailer: &Trailer) -> Vec<u8> {
    const USER: u16 = 2;
    const BUILD_ID: u16 = 1 << 14;
    let JournalMapping { pid, mapping, time, .. } = taken;
    let mut record = RecordKind::MMAP2.0.to_le_bytes().to_vec();
    record.extend((if id.is_some() { USER | BUILD_ID } else { USER }).to_le_bytes());
    record.extend([0; 2]);
    record.extend((pid.0 as u32).to_le_bytes());
    record.extend((pid.0 as u32).to_le_bytes());
    for word in [mapping.start.0, mapping.end.since(mapping.start), mapping.offset.0] {
        record.extend(word.to_le_bytes());
    }
    record.extend(id.map_or([0; 24], build_id_union));
    record.extend(5_u32.to_le_bytes()); // PROT_READ | PROT_EXEC
    record.extend(2_u32.to_le_bytes()); // MAP_PRIVATE
    record.extend(name);
    record.push(0);
    record.resize(record.len().next_multiple_of(8), 0);
    trailer.write(*pid, *time, &mut record);
    let size = record.len() as u16;
    if let Some(field) = record.get_mut(6..8) {
        field.copy_from_slice(&size.to_le_bytes());
    }
    record
}
