//! A host that notes the answers of another host, so that a later run can tell whether it would get the same ones.
//!
//! ```text
//!   first run   Host <-- WitnessHost <-- analysis          notes: requests, each with a hash of its answer
//!   later run   Host <-- Testimony::holds: asks again      equal answers mean an equal result
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::{
    ByteStream, DirEntry, Distrust, FileKind, FileOwner, FileStat, Host, HostError, HostFile,
    HostFinding, HostText, Origin, RecordedFile,
};

/// The list of kernel symbols, which changes while the kernel runs.
const KERNEL_SYMBOLS: &str = "/proc/kallsyms";
/// Bytes of a stream of the system that are compared.
const BEGINNING: u64 = 4096;

/// Forwards to another host, and notes each request with its answer.
#[derive(Debug)]
pub struct WitnessHost {
    inner: Arc<dyn Host>,
    notes: Mutex<WitnessNotes>,
}

#[derive(Debug, Default)]
struct WitnessNotes {
    answers: HashMap<Request, u64>,
    /// True if an answer cannot be checked, or has already changed.
    is_lost: bool,
    /// True if the list of kernel symbols was read.
    has_kernel_list: bool,
}

/// Requests of a run, each with a hash of its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Testimony(Vec<(Request, u64)>);

/// A request to a host.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
enum Request {
    Open(PathBuf, RequestOrigin),
    OpenBelow(PathBuf, PathBuf),
    Text(PathBuf, RequestOrigin),
    Beginning(PathBuf),
    Stat(PathBuf, RequestOrigin),
    Recorded(PathBuf, RequestOrigin),
    Owner(PathBuf, RequestOrigin),
    List(PathBuf, RequestOrigin),
    Distrust(PathBuf),
    Variable(String),
    Vdso,
}

/// An owned [`Origin`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
enum RequestOrigin {
    User,
    Recording(PathBuf),
    Stored(PathBuf),
    System,
    Process,
}

impl RequestOrigin {
    fn of(origin: Origin<'_>) -> Self {
        match origin {
            Origin::User => Self::User,
            Origin::Recording { root } => Self::Recording(root.to_owned()),
            Origin::Stored { root } => Self::Stored(root.to_owned()),
            Origin::System => Self::System,
            Origin::Process => Self::Process,
        }
    }

    fn origin(&self) -> Origin<'_> {
        match self {
            Self::User => Origin::User,
            Self::Recording(root) => Origin::Recording { root },
            Self::Stored(root) => Origin::Stored { root },
            Self::System => Origin::System,
            Self::Process => Origin::Process,
        }
    }
}

impl WitnessHost {
    /// Wraps a host.
    #[must_use]
    pub fn new(inner: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Self { inner, notes: Mutex::default() })
    }

    /// Returns the requests so far; `None` if an equal result cannot be told from them. If `kernel_list_lasts`, the
    /// result depends only on symbols that the kernel has until it is started again or changes its modules.
    #[must_use]
    pub fn testimony(&self, kernel_list_lasts: bool) -> Option<Testimony> {
        if !self.inner.findings().is_empty() {
            return None;
        }
        let notes = self.notes();
        if notes.has_kernel_list && !kernel_list_lasts {
            return None;
        }
        let mut answers: Vec<(Request, u64)> =
            notes.answers.iter().map(|(request, answer)| (request.clone(), *answer)).collect();
        answers.sort_unstable();
        (!notes.is_lost).then_some(Testimony(answers))
    }

    fn notes(&self) -> MutexGuard<'_, WitnessNotes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an answer. One that differs from an earlier answer shows that the host changed during the run.
    fn note(&self, request: Request, answer: u64) {
        let mut notes = self.notes();
        let known = *notes.answers.entry(request).or_insert(answer);
        notes.is_lost |= known != answer;
    }

    fn lose(&self) {
        self.notes().is_lost = true;
    }
}

impl Testimony {
    /// Asks a host again. Returns true if all answers are equal.
    #[must_use]
    pub fn holds(&self, host: &dyn Host) -> bool {
        self.0.iter().all(|(request, answer)| request.answer(host) == *answer)
    }
}

impl Request {
    /// Returns a hash of the answer of a host.
    fn answer(&self, host: &dyn Host) -> u64 {
        match self {
            Self::Open(path, origin) => of_open(&host.open(path, origin.origin())),
            Self::OpenBelow(folder, path) => of_open(&host.open_below(folder, path)),
            Self::Text(path, origin) => of_text(&host.text(path, origin.origin())),
            Self::Beginning(path) => of_beginning(host, path),
            Self::Stat(path, origin) => of_stat(&host.stat(path, origin.origin())),
            Self::Recorded(path, origin) => {
                of_result(&host.recorded_file(path, origin.origin()), |it| *it)
            }
            Self::Owner(path, origin) => of_result(&host.owner(path, origin.origin()), |it| *it),
            Self::List(path, origin) => of_list(&host.list(path, origin.origin())),
            Self::Distrust(folder) => hash_of(&host.distrust(folder)),
            Self::Variable(name) => hash_of(&host.variable(name)),
            Self::Vdso => hash_of(&host.running_vdso()),
        }
    }
}

fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a hash of the error, or of a part of the answer.
fn of_result<T, P: Hash>(answer: &Result<T, HostError>, part: impl FnOnce(&T) -> P) -> u64 {
    match answer {
        Ok(value) => hash_of(&part(value)),
        Err(error) => hash_of(&error.to_string()),
    }
}

fn of_open(answer: &Result<HostFile, HostError>) -> u64 {
    of_result(answer, |file| file.stamp.to_bytes())
}

/// Only regular files with content have a version: folders change with every file in them, and the kernel makes the
/// times of its own files at each request.
fn of_stat(answer: &Result<FileStat, HostError>) -> u64 {
    of_result(answer, |&FileStat { kind, stamp }| {
        (kind, (kind == FileKind::Regular && stamp.size > 0).then(|| stamp.to_bytes()))
    })
}

fn of_text(answer: &Result<HostText, HostError>) -> u64 {
    of_result(answer, |text| (hash_of(&text.bytes), text.owner))
}

fn of_list(answer: &Result<Vec<DirEntry>, HostError>) -> u64 {
    of_result(answer, hash_of)
}

fn of_beginning(host: &dyn Host, path: &Path) -> u64 {
    let beginning = host.stream(path, Origin::System).map(|stream| {
        let mut bytes = Vec::new();
        let read = stream.into_reader().take(BEGINNING).read_to_end(&mut bytes);
        (read.is_ok(), bytes)
    });
    of_result(&beginning, |(is_read, bytes)| (*is_read, hash_of(bytes)))
}

impl Host for WitnessHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        let file = self.inner.open(path, origin);
        self.note(Request::Open(path.to_owned(), RequestOrigin::of(origin)), of_open(&file));
        file
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        self.lose();
        self.inner.descriptor(path, origin)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let text = self.inner.text(path, origin);
        if path == Path::new(KERNEL_SYMBOLS) {
            self.notes().has_kernel_list = true;
        } else {
            self.note(Request::Text(path.to_owned(), RequestOrigin::of(origin)), of_text(&text));
        }
        text
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        match origin {
            Origin::System => {
                let answer = of_beginning(&*self.inner, path);
                self.note(Request::Beginning(path.to_owned()), answer);
            }
            // It can be read once.
            _ => self.lose(),
        }
        self.inner.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        let stat = self.inner.stat(path, origin);
        self.note(Request::Stat(path.to_owned(), RequestOrigin::of(origin)), of_stat(&stat));
        stat
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let file = self.inner.recorded_file(path, origin);
        let answer = of_result(&file, |it| *it);
        self.note(Request::Recorded(path.to_owned(), RequestOrigin::of(origin)), answer);
        file
    }

    fn owner(&self, path: &Path, origin: Origin<'_>) -> Result<FileOwner, HostError> {
        let owner = self.inner.owner(path, origin);
        let answer = of_result(&owner, |it| *it);
        self.note(Request::Owner(path.to_owned(), RequestOrigin::of(origin)), answer);
        owner
    }

    fn open_below(&self, folder: &Path, path: &Path) -> Result<HostFile, HostError> {
        let file = self.inner.open_below(folder, path);
        self.note(Request::OpenBelow(folder.to_owned(), path.to_owned()), of_open(&file));
        file
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        let entries = self.inner.list(path, origin);
        self.note(Request::List(path.to_owned(), RequestOrigin::of(origin)), of_list(&entries));
        entries
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        let vdso = self.inner.running_vdso();
        self.note(Request::Vdso, hash_of(&vdso));
        vdso
    }

    fn clock(&self, id: i32) -> Option<u64> {
        self.lose();
        self.inner.clock(id)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let value = self.inner.variable(name);
        self.note(Request::Variable(name.to_owned()), hash_of(&value));
        value
    }

    fn findings(&self) -> Vec<HostFinding> {
        self.inner.findings()
    }

    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        let distrust = self.inner.distrust(folder);
        self.note(Request::Distrust(folder.to_owned()), hash_of(&distrust));
        distrust
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryHost;

    /// A host with two files, and the testimony of requests for them and for missing ones.
    fn asked() -> (Arc<MemoryHost>, Testimony) {
        let host = Arc::new(MemoryHost::new());
        host.insert("/a", "first");
        host.insert("/folder/b", "second");
        host.insert("/sys/note", "third");
        host.set_variable("HOME", "/home");
        let witness = WitnessHost::new(host.clone());
        let file = witness.open(Path::new("/a"), Origin::User).expect("a file");
        assert_eq!(file.content.get(..), Some(&b"first"[..]));
        assert!(witness.open(Path::new("/missing"), Origin::User).is_err());
        assert!(witness.open_unless(Path::new("/folder/b"), Origin::User, &mut |_| true).is_ok());
        assert!(witness.stat(Path::new("/a.debug"), Origin::User).is_err());
        assert_eq!(witness.list(Path::new("/folder"), Origin::User).expect("a folder").len(), 1);
        assert_eq!(witness.read(Path::new("/sys/note"), Origin::System).expect("text"), b"third");
        assert_eq!((witness.home(), witness.running_vdso()), (Some("/home".into()), None));
        let testimony = witness.testimony(false).expect("checkable");
        (host, testimony)
    }

    #[test]
    fn a_testimony_holds_until_an_answer_changes() {
        type Change = fn(&MemoryHost);
        let changes: [(&str, Change); 8] = [
            ("content", |host| host.insert("/a", "other")),
            ("removed", |host| host.remove(Path::new("/a"))),
            ("cached content", |host| host.insert("/folder/b", "other")),
            ("another file in the folder", |host| host.insert("/folder/c", "")),
            ("a missing file appears", |host| host.insert("/missing", "")),
            ("a debug file appears", |host| host.insert("/a.debug", "")),
            ("text", |host| host.insert("/sys/note", "other")),
            ("variable", |host| host.set_variable("HOME", "/other")),
        ];
        for (what, change) in changes {
            let (host, testimony) = asked();
            assert!(testimony.holds(&*host), "{what}");
            let json = serde_json::to_string(&testimony).expect("JSON");
            let read: Testimony = serde_json::from_str(&json).expect("a testimony");
            assert_eq!(read, testimony);
            change(&host);
            assert!(!read.holds(&*host), "{what}");
        }
        let (host, testimony) = asked();
        host.insert("/elsewhere", "");
        assert!(testimony.holds(&*host));
    }

    #[test]
    fn what_cannot_be_asked_again_has_no_testimony() {
        let host = Arc::new(MemoryHost::new());
        host.insert("/a", "first");
        host.insert(KERNEL_SYMBOLS, "0 T a");
        let asked = |ask: fn(&WitnessHost)| {
            let witness = WitnessHost::new(host.clone());
            ask(&witness);
            witness.testimony(false).is_some()
        };
        assert!(asked(|_| {}));
        let read_list = |host: &WitnessHost| {
            drop(host.read(Path::new(KERNEL_SYMBOLS), Origin::System));
        };
        assert!(!asked(read_list));
        let witness = WitnessHost::new(host.clone());
        read_list(&witness);
        assert!(witness.testimony(true).is_some());
        assert!(!asked(|host| drop(host.stream(Path::new("/a"), Origin::User))));
        assert!(!asked(|host| assert_eq!(host.clock(1), None)));
        let witness = WitnessHost::new(host.clone());
        drop(witness.read(Path::new("/a"), Origin::User));
        host.insert("/a", "other");
        drop(witness.read(Path::new("/a"), Origin::User));
        assert_eq!(witness.testimony(false), None);
    }
}
