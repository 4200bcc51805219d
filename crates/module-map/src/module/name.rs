//! Meaning of the name in an mmap record: a file that can be opened, or one of the kernel's names for other memory.

use super::MappedKind;

/// Suffix that the kernel appends to the path of an unlinked or replaced file.
const DELETED: &[u8] = b" (deleted)";

/// Returns the kind of memory with that name in a user process.
///
/// Source: `perf_event_mmap_event` in kernel/events/core.c; `arch_vma_name`; mm/memfd.c (`memfd:`); the names of
/// `struct vm_special_mapping`.
pub(crate) fn kind_of(name: &[u8]) -> MappedKind {
    let starts = |prefix: &[u8]| name.starts_with(prefix);
    match name {
        b"[vdso]" | b"[vdso32]" | b"[vdsox32]" => MappedKind::Vdso,
        b"[uprobes]" | b"[uprobes-trampoline]" | b"[vsyscall]" | b"[vectors]" | b"[sigpage]" => {
            MappedKind::KernelPage
        }
        b"" | b"//anon" | b"//enomem" | b"//toolong" => MappedKind::Anonymous,
        _ if starts(b"[") || starts(b"anon_inode:") || starts(b"//") => MappedKind::Anonymous,
        _ if starts(b"/dev/zero") || starts(b"/SYSV") || starts(b"/anon_hugepage") => {
            MappedKind::Anonymous
        }
        _ if starts(b"/memfd:") || starts(b"/dev/") || starts(b"/proc/") => MappedKind::Unopened,
        _ if starts(b"/") => MappedKind::File,
        _ => MappedKind::Unopened,
    }
}

/// Returns the path to search on disk: the recorded one without the kernel's mark of a deleted file.
#[must_use]
pub fn path_on_disk(name: &[u8]) -> &[u8] {
    name.strip_suffix(DELETED).unwrap_or(name)
}

/// Returns true if the kernel reported the file as deleted.
pub(crate) fn is_deleted(name: &[u8]) -> bool {
    name.ends_with(DELETED)
}

/// Returns true if the file may be an archive with mapped libraries: an Android package.
#[must_use]
pub fn is_archive(path: &[u8]) -> bool {
    path_on_disk(path).ends_with(b".apk")
}

/// Returns the kernel's name of a module: without directory,
/// brackets, `.ko` and compression suffix, and with `_` for `-`.
///
/// Source: `kmod_path__parse` in `tools/perf/util/dso.c`; `KBUILD_MODNAME`.
#[must_use]
pub fn kernel_module_name(name: &[u8]) -> Vec<u8> {
    let base = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let base = base.strip_prefix(b"[").and_then(|base| base.strip_suffix(b"]")).unwrap_or(base);
    let end = base.windows(3).rposition(|window| window == b".ko").filter(|&end| {
        // `.ko` ends the name, or precedes a suffix for compression or the debug file.
        matches!(base.get(end + 3), None | Some(b'.'))
    });
    let base = end.map_or(base, |end| base.get(..end).unwrap_or(base));
    base.iter().map(|&byte| if byte == b'-' { b'_' } else { byte }).collect()
}

/// Splits the name of a kernel map into name and appended reference symbol: `[kernel.kallsyms]_text`.
pub(crate) fn kernel_name(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    match name.iter().position(|&byte| byte == b']') {
        Some(end) if name.starts_with(b"[") && end + 1 < name.len() => {
            let (name, symbol) = name.split_at(end + 1);
            (name, Some(symbol))
        }
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_can_be_opened() {
        for (name, kind) in [
            (&b"/usr/lib/libc.so.6"[..], MappedKind::File),
            (b"/tmp/app (deleted)", MappedKind::File),
            (b"[vdso]", MappedKind::Vdso),
            (b"[uprobes]", MappedKind::KernelPage),
            (b"[sigpage]", MappedKind::KernelPage),
            (b"[heap]", MappedKind::Anonymous),
            (b"[stack:12]", MappedKind::Anonymous),
            (b"//anon", MappedKind::Anonymous),
            (b"", MappedKind::Anonymous),
            (b"anon_inode:[perf_event]", MappedKind::Anonymous),
            (b"/memfd:jit (deleted)", MappedKind::Unopened),
            (b"/dev/dri/card0", MappedKind::Unopened),
            (b"socket:[12]", MappedKind::Unopened),
        ] {
            assert_eq!(kind_of(name), kind, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn modules_have_one_name() {
        for name in [
            "[snd_hda_intel]",
            "/lib/modules/6.1.0/kernel/sound/pci/hda/snd-hda-intel.ko",
            "/lib/modules/6.1.0/kernel/sound/pci/hda/snd-hda-intel.ko.xz",
            "snd-hda-intel.ko.zst",
            "/usr/lib/debug/lib/modules/6.1.0/snd-hda-intel.ko.debug",
            "snd_hda_intel",
        ] {
            assert_eq!(kernel_module_name(name.as_bytes()), b"snd_hda_intel", "{name}");
        }
        assert_eq!(kernel_module_name(b"[a.kobold]"), b"a.kobold");
    }

    #[test]
    fn marks_are_taken_off() {
        assert_eq!(path_on_disk(b"/tmp/app (deleted)"), b"/tmp/app");
        assert_eq!(path_on_disk(b"/tmp/app"), b"/tmp/app");
        assert_eq!(
            kernel_name(b"[kernel.kallsyms]_text"),
            (&b"[kernel.kallsyms]"[..], Some(&b"_text"[..]))
        );
        assert_eq!(kernel_name(b"[nf_conntrack]"), (&b"[nf_conntrack]"[..], None));
        assert_eq!(kernel_name(b"/lib/modules/6.1/x.ko"), (&b"/lib/modules/6.1/x.ko"[..], None));
    }
}
