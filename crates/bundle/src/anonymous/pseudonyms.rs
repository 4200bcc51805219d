//! Short pseudonyms for names: equal for equal names, and irreversible without the salt.

use std::sync::{Mutex, PoisonError};

use hashbrown::{HashMap, HashSet};

use super::{function_names, source_symbols};
use crate::manifest::Hasher;

/// Suffix that the kernel adds to the path of a file that was unlinked or replaced.
const DELETED: &[u8] = b" (deleted)";
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

/// File extensions, which reveal the kind of a file but not its identity.
const EXTENSIONS: &[&[u8]] = &[
    b"so", b"a", b"o", b"ko", b"jar", b"py", b"js", b"mjs", b"cjs", b"ts", b"rs", b"go", b"c",
    b"cc", b"cpp", b"cxx", b"h", b"hh", b"hpp", b"hxx", b"inc", b"S", b"s", b"asm", b"java", b"kt",
    b"rb", b"php", b"lua", b"pl", b"swift", b"zig", b"d", b"f90", b"ml", b"hs", b"cs",
];
/// Memory regions with a name chosen by the kernel, not by a user.
const KERNEL_NAMES: &[&[u8]] = &[
    b"",
    b"//anon",
    b"//enomem",
    b"//toolong",
    b"[vdso]",
    b"[vdso32]",
    b"[vdsox32]",
    b"[vvar]",
    b"[vsyscall]",
    b"[heap]",
    b"[stack]",
    b"[anon]",
    b"[uprobes]",
];
/// Prefixes of memory without a file, followed by a name that a user or program chose.
const CHOSEN: &[&[u8]] = &[b"/memfd:", b"/SYSV", b"anon_inode:", b"//", b"socket:", b"pipe:"];
/// Prefixes that identify the kind of a mapping.
const SPECIAL_FOLDERS: &[&[u8]] = &[b"/dev/", b"/proc/"];

/// Names and their pseudonyms.
pub struct Pseudonyms {
    salt: [u8; 32],
    assigned: Mutex<AssignedNames>,
}

#[derive(Default)]
struct AssignedNames {
    words: HashMap<Vec<u8>, Vec<u8>>,
    used: HashSet<Vec<u8>>,
}

impl Pseudonyms {
    /// Creates pseudonyms with a salt, which must be random and is discarded with this value.
    #[must_use]
    pub fn new(salt: [u8; 32]) -> Self {
        Self { salt, assigned: Mutex::default() }
    }

    /// Returns the pseudonym of a name: `x` and six hexadecimal digits.
    pub fn word(&self, name: &[u8]) -> Vec<u8> {
        let mut assigned = self.assigned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = assigned.words.get(name) {
            return known.clone();
        }
        let mut tries = (0_u64..).map(|number| self.hashed(name, number));
        let free = tries.find(|word| !assigned.used.contains(word)).unwrap_or_default();
        assigned.used.insert(free.clone());
        assigned.words.insert(name.to_vec(), free.clone());
        free
    }

    fn hashed(&self, name: &[u8], number: u64) -> Vec<u8> {
        // Uses more digits if the short ones collide.
        let digits = if number < 16 { 6 } else { 16 };
        let mut hasher = Hasher::default();
        hasher.add(&self.salt);
        hasher.add(&number.to_le_bytes());
        hasher.add(name);
        let hex = String::from(hasher.finish());
        format!("x{}", hex.get(..digits).unwrap_or(&hex)).into_bytes()
    }

    /// Returns the pseudonym of a thread's name; an empty name stays empty.
    pub(crate) fn task(&self, name: &[u8]) -> Vec<u8> {
        if name.is_empty() { Vec::new() } else { self.word(name) }
    }

    /// Returns the name of an event: users choose the names of probes, the kernel those of other events.
    pub(crate) fn event(&self, kind: u32, name: &[u8]) -> Vec<u8> {
        let probe = [&b"probe"[..], b"sdt_", b"uprobes"].iter().any(|it| name.starts_with(it));
        if kind == TRACEPOINT && probe { self.word(name) } else { name.to_vec() }
    }

    /// Replaces a path component by component; common extensions are retained.
    #[must_use]
    pub fn source_path(&self, path: &[u8]) -> Vec<u8> {
        let parts = path.split(|&byte| byte == b'/').map(|part| match part {
            b"" | b"." | b".." => part.to_vec(),
            _ => self.file_name(part),
        });
        parts.collect::<Vec<_>>().join(&b'/')
    }

    fn file_name(&self, name: &[u8]) -> Vec<u8> {
        let mut word = self.word(name);
        let dots = name.iter().enumerate().rev().filter(|&(at, &byte)| at > 0 && byte == b'.');
        let extension = |at: usize| name.get(at + 1..).unwrap_or_default();
        // `libc.so.6` has the extension `so`.
        let mut extensions = dots.map(|(at, _)| extension(at));
        let known = extensions.find_map(|it| {
            let first = it.split(|&byte| byte == b'.').next().unwrap_or_default();
            EXTENSIONS.contains(&first).then_some(first)
        });
        if let Some(known) = known {
            word.push(b'.');
            word.extend(known);
        }
        word
    }

    /// Replaces the path in a map record; names chosen by the kernel are unchanged.
    #[must_use]
    pub fn mapped(&self, name: &[u8]) -> Vec<u8> {
        if let Some(name) = name.strip_suffix(DELETED) {
            return [&self.mapped(name), DELETED].concat();
        }
        let is_stack = name.strip_prefix(b"[stack:").and_then(|rest| rest.strip_suffix(b"]"));
        let is_stack = is_stack.is_some_and(|id| id.iter().all(u8::is_ascii_digit));
        let is_kernel = name.starts_with(b"[kernel.") || name.starts_with(b"[guest.kernel.");
        let same = [&b"/dev/zero"[..], b"/anon_hugepage", b"[module]"].contains(&name);
        if KERNEL_NAMES.contains(&name) || is_stack || is_kernel || same {
            return name.to_vec();
        }
        if let Some(inner) = name.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) {
            return [b"[", &self.word(inner)[..], b"]"].concat();
        }
        for prefix in CHOSEN {
            if let Some(rest) = name.strip_prefix(*prefix) {
                return [prefix, &self.word(rest)[..]].concat();
            }
        }
        for prefix in SPECIAL_FOLDERS {
            if let Some(rest) = name.strip_prefix(*prefix) {
                return [prefix, &self.source_path(rest)[..]].concat();
            }
        }
        self.source_path(name)
    }

    /// Returns the name of a function: unchanged, except for paths, and for the file in names that consist of a file
    /// and an offset (`libc.so.6+0x271d0`).
    #[must_use]
    pub fn function(&self, name: &[u8]) -> Vec<u8> {
        if let Some(at) = name.windows(3).rposition(|window| window == b"+0x")
            && let Some((file, offset)) = name.split_at_checked(at)
            && offset.iter().skip(3).all(u8::is_ascii_hexdigit)
            && !file.is_empty()
        {
            return [&self.source_path(file), offset].concat();
        }
        function_names::without_paths(&source_symbols::without_files(name, self), self)
    }

    /// Returns the name of a just-in-time compiled function; files of scripts in it are also replaced.
    #[must_use]
    pub fn script_function(&self, name: &[u8]) -> Vec<u8> {
        function_names::without_scripts(&self.function(name), self)
    }
}

impl std::fmt::Debug for Pseudonyms {
    /// Prints neither the salt nor names.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pseudonyms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thing_has_the_same_pseudonym() {
        let names = Pseudonyms::new([7; 32]);
        let word = |name: &str| String::from_utf8(names.word(name.as_bytes())).expect("text");
        assert_eq!(word("alice"), word("alice"));
        assert_ne!(word("alice"), word("bob"));
        assert_eq!(word("alice").len(), 7);
        let others = Pseudonyms::new([8; 32]);
        assert_ne!(names.word(b"alice"), others.word(b"alice"));
        let all: HashSet<Vec<u8>> =
            (0..30_000_u32).map(|it| names.word(&it.to_le_bytes())).collect();
        assert_eq!(all.len(), 30_000);
    }

    #[test]
    fn names_of_the_kernel_stay() {
        let names = Pseudonyms::new([7; 32]);
        let (alice, libx) = (names.word(b"alice"), names.word(b"libx.so.1"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (alice, libx) = (text(&alice), text(&libx));
        let srv = text(&names.word(b"srv"));
        for (name, expected) in [
            ("[vdso]", "[vdso]".to_owned()),
            ("//anon", "//anon".to_owned()),
            ("[stack:12]", "[stack:12]".to_owned()),
            ("[kernel.kallsyms]_text", "[kernel.kallsyms]_text".to_owned()),
            ("[alice]", format!("[{alice}]")),
            ("/memfd:alice (deleted)", format!("/memfd:{alice} (deleted)")),
            ("/dev/alice", format!("/dev/{alice}")),
            ("/srv/alice/libx.so.1", format!("/{srv}/{alice}/{libx}.so")),
            ("/srv/alice (deleted)", format!("/{srv}/{alice} (deleted)")),
            ("alice", alice.clone()),
        ] {
            assert_eq!(text(&names.mapped(name.as_bytes())), expected, "{name}");
        }
        assert_eq!(names.event(2, b"sched:sched_switch"), b"sched:sched_switch");
        assert_eq!(text(&names.event(2, b"probe_alice:f")).len(), 7);
    }
}
