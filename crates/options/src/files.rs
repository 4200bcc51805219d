//! Options on files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Hint, OptionsError, json};

/// Prefixes of paths and their replacements, tried in order.
pub type PathMap = Vec<(Vec<u8>, Vec<u8>)>;

/// Search paths for files. A file is used only if its build-id is the recorded one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSearch {
    /// Files for the modules with their build-ids, identities or names; or `RECORDED=FILE`, see [`parse_module_file`]. A text
    /// that is the path of an existing file means that file.
    #[serde(with = "json::paths")]
    pub modules: Vec<PathBuf>,
    /// Prefixes of recorded paths, and their replacements.
    #[serde(with = "path_map")]
    pub path_map: PathMap,
    /// Folders that replace `/`. If there is one, recorded paths are only looked up in these folders.
    #[serde(rename = "sysroot", with = "json::paths")]
    pub sysroots: Vec<PathBuf>,
    /// Build-id stores, and archives of `perf archive`. If empty, the store of `record` and `~/.debug`; with a sysroot
    /// none.
    #[serde(rename = "buildid_dirs", with = "json::paths")]
    pub build_id_stores: Vec<PathBuf>,
    /// Folders of separate debug files. If empty, `/usr/lib/debug` in each sysroot.
    #[serde(with = "json::paths")]
    pub debug_dirs: Vec<PathBuf>,
    /// Folders that are searched for files by name, including their subfolders.
    #[serde(with = "json::paths")]
    pub extra_dirs: Vec<PathBuf>,
    /// Folders with the `perf-PID.map` files of JIT compilers, searched before `/tmp`.
    #[serde(with = "json::paths")]
    pub perf_map_dirs: Vec<PathBuf>,
    /// If true, perf maps of JIT compilers are read for any owner; otherwise only those of this user and of root.
    #[serde(deserialize_with = "json::truth")]
    pub trust_perf_maps: bool,
    /// Debuginfod servers to query for files that are not found otherwise.
    pub debuginfod: Servers,
    /// If true, files in the cache of debuginfod are used although no server is queried.
    #[serde(deserialize_with = "json::truth")]
    pub fetched: bool,
    /// Contents of memory that the recording does not state.
    #[serde(rename = "map", deserialize_with = "json::each")]
    pub hints: Vec<Hint>,
    /// Files with more hints, one per line. They are read before the run.
    #[serde(rename = "map_file", with = "json::paths")]
    pub map_files: Vec<PathBuf>,
    /// Folders that are searched for source files, for output that shows source text.
    #[serde(with = "json::paths")]
    pub source_dirs: Vec<PathBuf>,
    /// A list of the kernel's symbols in the form of `/proc/kallsyms`.
    #[serde(with = "json::path")]
    pub kallsyms: Option<PathBuf>,
}

/// An option that names folders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FolderOption {
    /// [`FileSearch::sysroots`].
    Sysroot,
    /// [`FileSearch::build_id_stores`], which may be archives, too.
    BuildIdStore,
    /// [`FileSearch::debug_dirs`].
    Debug,
    /// [`FileSearch::extra_dirs`].
    Extra,
    /// [`FileSearch::perf_map_dirs`].
    PerfMap,
    /// [`FileSearch::source_dirs`].
    Source,
}

impl FileSearch {
    /// Returns the folders of each option. Users match on the option, so a new one does not compile without its rules.
    #[must_use]
    pub fn folders(&self) -> [(FolderOption, &[PathBuf]); 6] {
        // Every field is named, so that a new one cannot be forgotten.
        let Self {
            modules: _,
            path_map: _,
            sysroots,
            build_id_stores,
            debug_dirs,
            extra_dirs,
            perf_map_dirs,
            trust_perf_maps: _,
            debuginfod: _,
            fetched: _,
            hints: _,
            map_files: _,
            source_dirs,
            kallsyms: _,
        } = self;
        [
            (FolderOption::Sysroot, sysroots),
            (FolderOption::BuildIdStore, build_id_stores),
            (FolderOption::Debug, debug_dirs),
            (FolderOption::Extra, extra_dirs),
            (FolderOption::PerfMap, perf_map_dirs),
            (FolderOption::Source, source_dirs),
        ]
    }

    /// Reads the options from a JSON object.
    ///
    /// # Errors
    /// If an option is unknown, or its value cannot be used.
    pub fn from_object(object: Map<String, Value>) -> Result<Self, OptionsError> {
        json::object::read(object)
    }

    /// Returns the options that differ from their defaults, as a JSON object.
    #[must_use]
    pub fn to_object(&self) -> Map<String, Value> {
        json::object::write(self)
    }

    /// Applies a function to every path that this host opens, in place.
    pub fn for_each_path(&mut self, mut change: impl FnMut(&mut PathBuf)) {
        // All fields are named, so that a new one cannot be forgotten.
        let Self {
            modules,
            path_map: _,
            sysroots,
            build_id_stores,
            debug_dirs,
            extra_dirs,
            perf_map_dirs,
            trust_perf_maps: _,
            debuginfod: _,
            fetched: _,
            hints,
            map_files,
            source_dirs,
            kallsyms,
        } = self;
        for module in modules {
            match parse_module_file(module) {
                Some((recorded, mut file)) => {
                    change(&mut file);
                    *module = given(&recorded, &file);
                }
                None => change(module),
            }
        }
        let lists = [
            sysroots,
            build_id_stores,
            debug_dirs,
            extra_dirs,
            perf_map_dirs,
            map_files,
            source_dirs,
        ];
        lists.into_iter().flatten().for_each(&mut change);
        hints.iter_mut().for_each(|hint| change(&mut hint.object));
        kallsyms.iter_mut().for_each(change);
    }
}

/// Splits `RECORDED=FILE`: a recorded path or name, and the file to use for it without verification. `None` if there is
/// no `=`, or if a part is empty.
#[must_use]
pub fn parse_module_file(module: &Path) -> Option<(Vec<u8>, PathBuf)> {
    let text = module.as_os_str().as_bytes();
    let at = text.iter().position(|&byte| byte == b'=')?;
    let (recorded, file) = (text.get(..at)?, text.get(at + 1..)?);
    let is_whole = !recorded.is_empty() && !file.is_empty();
    is_whole.then(|| (recorded.to_vec(), PathBuf::from(OsStr::from_bytes(file))))
}

/// Joins the two parts of `RECORDED=FILE`.
fn given(recorded: &[u8], file: &Path) -> PathBuf {
    PathBuf::from(OsString::from_vec([recorded, b"=", file.as_os_str().as_bytes()].concat()))
}

/// Addresses of debuginfod servers, which begin with `http://` or `https://`. In JSON they are a list, or a text with
/// spaces between the addresses, or `true` for the servers of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// The addresses.
    pub urls: Vec<String>,
    /// If true, adds the servers in the variable `DEBUGINFOD_URLS`, which is read before the run.
    pub environment: bool,
}

impl Servers {
    /// Returns true if there is no server.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.urls.is_empty() && !self.environment
    }

    /// Parses a list of servers separated by spaces. Lists of elfutils may contain keywords such as `ima:enforcing`,
    /// which are not servers.
    #[must_use]
    pub fn of_list(list: &str) -> Self {
        let urls = list.split_whitespace().filter(|url| !url.starts_with("ima:"));
        Self { urls: urls.map(str::to_owned).collect(), environment: false }
    }
}

impl Serialize for Servers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.environment {
            serializer.serialize_bool(true)
        } else {
            self.urls.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected addresses, or true for those of DEBUGINFOD_URLS")]
        enum Json {
            Environment(bool),
            Text(String),
            Urls(Vec<String>),
        }
        Ok(match Json::deserialize(deserializer)? {
            Json::Environment(environment) => Self { urls: Vec::new(), environment },
            Json::Text(list) => match list.to_ascii_lowercase().parse() {
                Ok(environment) => Self { urls: Vec::new(), environment },
                Err(_) => Self::of_list(&list),
            },
            Json::Urls(urls) => Self { urls, environment: false },
        })
    }
}

/// Parses `FROM=TO`: a prefix of recorded paths, and its replacement.
///
/// # Errors
/// The expected form, as a clause.
pub fn parse_path_map(text: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let at = text.iter().position(|&byte| byte == b'=').filter(|&at| at > 0);
    let pair = at.and_then(|at| Some((text.get(..at)?.to_vec(), text.get(at + 1..)?.to_vec())));
    pair.ok_or_else(|| "expected FROM=TO".to_owned())
}

/// In JSON a list of `[FROM, TO]`; a text is `FROM=TO`.
mod path_map {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{PathMap, parse_path_map};
    use crate::Bytes;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected [FROM, TO], or FROM=TO")]
    enum Pair {
        Text(String),
        Pair(Bytes, Bytes),
    }

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of [FROM, TO]")]
    enum Json {
        Text(String),
        Pairs(Vec<Pair>),
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathMap, D::Error> {
        let pairs = match Json::deserialize(deserializer)? {
            Json::Text(text) => vec![Pair::Text(text)],
            Json::Pairs(pairs) => pairs,
        };
        let read = |pair| match pair {
            Pair::Text(text) => parse_path_map(text.as_bytes()).map_err(D::Error::custom),
            Pair::Pair(from, to) => Ok((from.into_vec(), to.into_vec())),
        };
        pairs.into_iter().map(read).collect()
    }

    pub(super) fn serialize<S: Serializer>(
        pairs: &[(Vec<u8>, Vec<u8>)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let pairs = pairs.iter();
        serializer.collect_seq(pairs.map(|(from, to)| (Bytes::from(&**from), Bytes::from(&**to))))
    }
}
