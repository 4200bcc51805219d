//! Build-id table: the identity of the files hit by samples.
//!
//! Source: `tools/perf/util/build-id.c`, `write_buildid`; `tools/perf/util/header.c`, `__perf_session__read_build_ids`,
//! `perf_header__read_build_ids_abi_quirk`.

use address::{BuildId, Pid};

use crate::bytes::{Endian, FieldReader, until_nul};
use crate::record_header::CpuMode;

/// `MISC_BUILD_ID_SIZE`: the entry states the length of the id.
const HAS_SIZE: u16 = 1 << 15;

/// A file and its build-id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildIdEntry<'d> {
    /// -1 for the host's kernel and processes, 0 for the default guest.
    pub pid: Pid,
    /// Kernel for the kernel and its modules, user for all else.
    pub cpu_mode: CpuMode,
    /// Build-id; `None` if it is all zero.
    pub build_id: Option<BuildId>,
    /// True if the length of the id is recorded. Otherwise the id has 20 bytes, and trailing zeros may be padding.
    pub exact: bool,
    /// Path as observed by the process, or `[kernel.kallsyms]`, `[vdso]`, `[module]`.
    pub name: &'d [u8],
}

/// Returns the entries of a table up to the first damaged one. Entry headers have type 0, so the type is not checked.
pub(crate) fn read_build_ids(section: &[u8], endian: Endian) -> Vec<BuildIdEntry<'_>> {
    let entries = read_all(section, endian, true);
    // Writers of one era omitted the pid, which shifts the name by four bytes.
    if entries.iter().any(|entry| entry.name.starts_with(b"nel.kallsyms]")) {
        return read_all(section, endian, false);
    }
    entries
}

fn read_all(section: &[u8], endian: Endian, with_pid: bool) -> Vec<BuildIdEntry<'_>> {
    let mut cursor = FieldReader::new(section, endian);
    let mut entries = Vec::new();
    while let Some(entry) = read_entry(&mut cursor, with_pid) {
        entries.push(entry);
    }
    entries
}

fn read_entry<'d>(cursor: &mut FieldReader<'d>, with_pid: bool) -> Option<BuildIdEntry<'d>> {
    let _kind = cursor.u32()?;
    let misc = cursor.u16()?;
    let size = cursor.u16()?;
    let body = cursor.bytes(usize::from(size).checked_sub(8)?)?;
    build_id_body(&mut FieldReader::new(body, cursor.endian()), misc, with_pid)
}

/// Decodes the part after the record header, to the end of the cursor.
pub(crate) fn build_id_body<'d>(
    body: &mut FieldReader<'d>,
    misc: u16,
    with_pid: bool,
) -> Option<BuildIdEntry<'d>> {
    let pid = if with_pid { Pid(body.i32()?) } else { Pid(-1) };
    let id = body.bytes(20)?;
    let len = body.u8()?;
    body.bytes(3)?;
    let exact = misc & HAS_SIZE != 0 && len <= 20;
    let id = if exact { &id[..len.into()] } else { id };
    Some(BuildIdEntry {
        pid,
        cpu_mode: CpuMode::from_misc(misc),
        build_id: BuildId::new(id),
        exact,
        name: until_nul(body.rest()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(misc: u16, pid: Option<i32>, id: [u8; 20], len: u8, name: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(pid.map(i32::to_le_bytes).into_iter().flatten());
        body.extend(id);
        body.extend([len, 0, 0, 0]);
        body.extend(name);
        body.push(0);
        body.resize(body.len().next_multiple_of(8), 0);
        let mut bytes = vec![0; 4];
        bytes.extend(misc.to_le_bytes());
        bytes.extend((body.len() as u16 + 8).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn short_ids_and_cut_tables() {
        let mut id = [0; 20];
        id[..8].copy_from_slice(&[0xd5, 0x87, 0xe5, 0xae, 0x18, 0x9c, 0x17, 0x89]);
        let mut table = entry(HAS_SIZE | 2, Some(-1), id, 8, b"/usr/bin/rg");
        table.extend(entry(1, Some(-1), id, 0, b"[kernel.kallsyms]"));
        let entries = read_build_ids(&table, Endian::Little);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].name, b"/usr/bin/rg");
        assert_eq!(
            entries[0].build_id.map(|id| id.to_string()),
            Some("d587e5ae189c1789".to_owned())
        );
        assert_eq!((entries[0].exact, entries[1].exact), (true, false));
        assert_eq!(entries[1].build_id.map(|id| id.as_bytes().len()), Some(20));
        assert_eq!(entries[1].cpu_mode, CpuMode::Kernel);
        table.truncate(table.len() - 1);
        assert_eq!(read_build_ids(&table, Endian::Little).len(), 1);
        assert_eq!(read_build_ids(&[0; 64], Endian::Little), []);
    }

    #[test]
    fn layout_without_pid() {
        let table = entry(1, None, [7; 20], 0, b"[kernel.kallsyms]");
        let entries = read_build_ids(&table, Endian::Little);
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].name, entries[0].pid), (&b"[kernel.kallsyms]"[..], Pid(-1)));
        assert_eq!(entries[0].build_id, BuildId::new(&[7; 20]));
    }
}
