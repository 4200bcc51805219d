//! Recordings in bundles: the bundle stands for the machine, and says where files were looked for when it was made.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bundle::{Bundle, BundleHost, bundle_of_stream, is_bundle};
use host::{FileKind, Host, Origin};
use module_map::{Hint, ImageLimits};

use crate::Pipeline;
use crate::error::Error;
use crate::options::{FileSearch, NameOptions, Options, Source};

/// A recording on the machine that it is read on: where it is a bundle, that is the bundle.
#[derive(Debug)]
pub struct Settled {
    /// The pipeline of that machine.
    pub pipeline: Pipeline,
    /// The recording on it.
    pub source: Source,
    /// The options, with where files are there.
    pub options: Options,
    /// The bundle.
    pub bundle: Option<Bundle>,
}

impl Settled {
    /// The machine.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.pipeline.host
    }

    /// The machine that the bundle stands for.
    #[must_use]
    pub fn bundle_host(&self) -> Option<&BundleHost> {
        self.bundle.as_ref().map(|bundle| &**bundle.host())
    }
}

impl Pipeline {
    /// Opens a bundle, where the source is one. All that takes a source does so itself.
    ///
    /// # Errors
    /// Where a bundle cannot be read, or the options say where files are, of which it knows its own.
    pub fn settle(&self, mut source: Source, options: &Options) -> Result<Settled, Error> {
        let Some((path, bundle)) = self.bundle(&mut source)? else {
            let (pipeline, options) = (self.clone(), options.clone());
            return Ok(Settled { pipeline, source, options, bundle: None });
        };
        let words = search_words(&options.files, &options.names);
        if let Some((option, _)) = words.into_iter().find(|(name, _)| name != DEBUGINFOD) {
            return Err(Error::BundleHasFiles { path, option });
        }
        let facts = bundle.manifest().facts();
        let (files, kallsyms) = search_of(&facts.search).ok_or(Error::BundleOptions { path })?;
        let names = NameOptions { kallsyms, ..options.names.clone() };
        let host: Arc<dyn Host> = bundle.host().clone();
        Ok(Settled {
            pipeline: Self::within(host, ImageLimits::default(), self.budget()),
            source: Source::Path(facts.recording),
            // What a bundle has may be anybody's.
            options: Options { files, names, cache: None, ..options.clone() },
            bundle: Some(bundle),
        })
    }

    /// The bundle that a source is; `None` where it is something else.
    fn bundle(&self, source: &mut Source) -> Result<Option<(PathBuf, Bundle)>, Error> {
        let path = match source {
            Source::Path(path) => path,
            Source::Stream { name, bytes } => {
                let bundle = bundle_of_stream(bytes).and_then(|bytes| {
                    bytes.map(|bytes| Bundle::read(&bytes, &self.budget())).transpose()
                });
                let bundle = bundle.map_err(|source| Error::Bundle { path: name.clone(), source });
                return Ok(bundle?.map(|bundle| (name.clone(), bundle)));
            }
        };
        let stat = self.host.stat(path, Origin::User);
        if !stat.is_ok_and(|stat| stat.kind == FileKind::Regular) {
            return Ok(None);
        }
        let Ok(file) = self.host.open(path, Origin::User) else { return Ok(None) };
        if !is_bundle(&file.content) {
            return Ok(None);
        }
        let bundle = Bundle::read(&file.content, &self.budget());
        if file.content.damage().happened() {
            return Err(Error::CutShort { path: path.clone() });
        }
        let bundle = bundle.map_err(|source| Error::Bundle { path: path.clone(), source })?;
        Ok(Some((path.clone(), bundle)))
    }
}

const MODULE: &str = "--module";
const PATH_MAP: &str = "--path-map";
const SYSROOT: &str = "--sysroot";
const BUILD_ID_DIR: &str = "--buildid-dir";
const DEBUG_DIR: &str = "--debug-dir";
const EXTRA_DIR: &str = "--extra-dir";
const PERF_MAP_DIR: &str = "--perf-map-dir";
const TRUST_PERF_MAPS: &str = "--trust-perf-maps";
const DEBUGINFOD: &str = "--debuginfod";
const MAP: &str = "--map";
const KALLSYMS: &str = "--kallsyms";

/// Where files are looked for, as a bundle states it: arguments of the command, each with its value.
#[must_use]
pub fn search_words(files: &FileSearch, names: &NameOptions) -> Vec<(String, OsString)> {
    let FileSearch {
        modules,
        path_map,
        sysroots,
        build_id_stores,
        debug_dirs,
        extra_dirs,
        perf_map_dirs,
        trust_perf_maps,
        debuginfod,
        fetched,
        hints,
    } = files;
    let mut words = Vec::new();
    let mut add = |name: &str, value: &OsStr| words.push((name.to_owned(), value.to_owned()));
    for (name, paths) in [
        (MODULE, modules),
        (SYSROOT, sysroots),
        (BUILD_ID_DIR, build_id_stores),
        (DEBUG_DIR, debug_dirs),
        (EXTRA_DIR, extra_dirs),
        (PERF_MAP_DIR, perf_map_dirs),
    ] {
        paths.iter().for_each(|path| add(name, path.as_os_str()));
    }
    for (from, to) in path_map {
        add(PATH_MAP, OsStr::from_bytes(&[from, &b"="[..], to].concat()));
    }
    hints.iter().for_each(|hint| add(MAP, OsStr::new(&hint.to_string())));
    names.kallsyms.iter().for_each(|path| add(KALLSYMS, path.as_os_str()));
    if *trust_perf_maps {
        add(TRUST_PERF_MAPS, OsStr::new(""));
    }
    if *fetched || !debuginfod.is_empty() {
        add(DEBUGINFOD, OsStr::new(""));
    }
    words
}

/// What such words mean; `None` where one is not known.
fn search_of(words: &[(String, OsString)]) -> Option<(FileSearch, Option<PathBuf>)> {
    let (mut search, mut kallsyms) = (FileSearch::default(), None);
    for (name, value) in words {
        let path = || Path::new(value).to_owned();
        match name.as_str() {
            MODULE => search.modules.push(path()),
            SYSROOT => search.sysroots.push(path()),
            BUILD_ID_DIR => search.build_id_stores.push(path()),
            DEBUG_DIR => search.debug_dirs.push(path()),
            EXTRA_DIR => search.extra_dirs.push(path()),
            PERF_MAP_DIR => search.perf_map_dirs.push(path()),
            PATH_MAP => {
                let bytes = value.clone().into_vec();
                let at = bytes.iter().position(|&byte| byte == b'=')?;
                let (from, to) = bytes.split_at(at);
                search.path_map.push((from.to_vec(), to.get(1..)?.to_vec()));
            }
            MAP => search.hints.push(Hint::parse(value.to_str()?).ok()?),
            KALLSYMS => kallsyms = Some(path()),
            TRUST_PERF_MAPS => search.trust_perf_maps = true,
            DEBUGINFOD => search.fetched = true,
            _ => return None,
        }
    }
    Some((search, kallsyms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_where_files_are() {
        let path = |text: &str| PathBuf::from(text);
        let files = FileSearch {
            modules: vec![path("m")],
            path_map: vec![(b"/a".to_vec(), b"/b=\xff".to_vec())],
            sysroots: vec![path("/s"), path("/t")],
            build_id_stores: vec![path("/i")],
            debug_dirs: vec![path("/d")],
            extra_dirs: vec![path("/e")],
            perf_map_dirs: vec![path("/p")],
            trust_perf_maps: true,
            debuginfod: vec!["http://server".to_owned()],
            fetched: false,
            hints: vec![Hint::parse("/o@7,0x1000,0x20,0x300").expect("a hint")],
        };
        let names = NameOptions { kallsyms: Some(path("/k")), ..NameOptions::default() };
        let words = search_words(&files, &names);
        let (read, kallsyms) = search_of(&words).expect("known words");
        // Servers are not asked again; what they gave is looked for where it is kept.
        let expected = FileSearch { debuginfod: Vec::new(), fetched: true, ..files };
        assert_eq!(format!("{read:?}"), format!("{expected:?}"));
        assert_eq!(kallsyms, names.kallsyms);
        assert_eq!(search_words(&FileSearch::default(), &NameOptions::default()), []);
        assert!(search_of(&[("--later".to_owned(), OsString::new())]).is_none());
    }
}
