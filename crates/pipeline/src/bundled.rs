//! Recordings in bundles: the bundle replaces the host and states the file search options of the run that made it.

use std::path::PathBuf;
use std::sync::Arc;

use bundle::{AbsentFile, Bundle, BundleHost, bundle_of_stream, is_bundle};
use host::{Content, FileKind, Host, MemoryPart, Origin, memory_is_for};
use image_store::ImageLimits;
use options::{FileSearch, Options, Servers};

use crate::Pipeline;
use crate::error::Error;
use crate::files::ReaderStores;
use crate::source::Source;

/// Returns the bytes of a file that a bundle leaves to its readers.
pub type FindFile<'f> = &'f dyn Fn(&AbsentFile<'_>) -> Option<Content>;

/// A recording and the host to read it on: the bundle itself, if the recording is one.
#[derive(Debug)]
pub struct ResolvedSource {
    /// The pipeline of that host.
    pub pipeline: Pipeline,
    /// The recording on it.
    pub source: Source,
    /// The options of the run. A bundle replaces those on the search for files by its own.
    pub options: Options,
    /// The bundle.
    pub bundle: Option<Bundle>,
}

impl ResolvedSource {
    /// The host.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.pipeline.host
    }

    /// The host that the bundle stands for.
    #[must_use]
    pub fn bundle_host(&self) -> Option<&BundleHost> {
        self.bundle.as_ref().map(|bundle| &**bundle.host())
    }
}

impl Pipeline {
    /// Opens the bundle, if the source is one. Functions that take a [`Source`] call this themselves.
    ///
    /// # Errors
    /// If a bundle cannot be read, or if the options say how to find files although a bundle has its own.
    pub fn resolve_source(
        &self,
        source: Source,
        options: &Options,
    ) -> Result<ResolvedSource, Error> {
        let stores = ReaderStores::of(&self.host, &options.files, self.budget());
        let resolved = self.resolve_source_with(source, options, &|wanted| stores.find(wanted))?;
        stores.check()?;
        Ok(resolved)
    }

    /// Opens the bundle, if the source is one, with the absent files that `find` returns.
    ///
    /// # Errors
    /// As for [`Self::resolve_source`].
    pub fn resolve_source_with(
        &self,
        mut source: Source,
        options: &Options,
        find: FindFile<'_>,
    ) -> Result<ResolvedSource, Error> {
        let found = self.bundle(&mut source, find)?;
        let Some((path, bundle)) = found else {
            let (pipeline, options) = (self.clone(), options.clone());
            return Ok(ResolvedSource { pipeline, source, options, bundle: None });
        };
        if let Some(option) = without_effect(&options.files, bundle.manifest().omits_files()) {
            return Err(Error::BundleHasFiles { path, option });
        }
        let facts = bundle.manifest().facts();
        let host: Arc<dyn Host> = bundle.host().clone();
        Ok(ResolvedSource {
            pipeline: Self::within(host, ImageLimits::default(), self.budget())
                .spelling(self.spelling),
            source: Source::Path(facts.recording),
            // Bundles are untrusted, so their answers do not enter the cache.
            options: Options { files: facts.search, cache: None, ..options.clone() },
            bundle: Some(bundle),
        })
    }

    /// Opens the bundle that `source` is; `None` if it is something else.
    fn bundle(
        &self,
        source: &mut Source,
        find: FindFile<'_>,
    ) -> Result<Option<(PathBuf, Bundle)>, Error> {
        let path = match source {
            Source::Path(path) => path,
            Source::Stream { name, bytes } => {
                memory_is_for(MemoryPart::Bundle);
                let bundle = bundle_of_stream(bytes).and_then(|bytes| {
                    let read = |bytes: Vec<u8>| Bundle::read_with(&bytes, &self.budget(), find);
                    bytes.map(read).transpose()
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
        // The file counts as a recording until it proves to be a bundle.
        memory_is_for(MemoryPart::Recording);
        if !is_bundle(&file.content) {
            return Ok(None);
        }
        memory_is_for(MemoryPart::Bundle);
        let bundle = Bundle::read_with(&file.content, &self.budget(), find);
        if file.content.damage().happened() {
            return Err(Error::CutShort { path: path.clone() });
        }
        let bundle = bundle.map_err(|source| Error::Bundle { path: path.clone(), source })?;
        Ok(Some((path.clone(), bundle)))
    }
}

/// File search options as a bundle states them. Servers are not queried again: their files are in the bundle.
#[must_use]
pub fn search_in_bundle(files: &FileSearch) -> FileSearch {
    let fetched = files.fetched || !files.debuginfod.is_empty();
    FileSearch { debuginfod: Servers::default(), fetched, source_dirs: Vec::new(), ..files.clone() }
}

/// Returns the name of the first option that has no effect on a bundle, because it brings its files. One that omits
/// files needs the options on stores.
fn without_effect(files: &FileSearch, omits_files: bool) -> Option<String> {
    let mut local = FileSearch {
        debuginfod: Servers::default(),
        fetched: false,
        // The folders of sources are searched on the user's host.
        source_dirs: Vec::new(),
        ..files.clone()
    };
    if omits_files {
        local.build_id_stores.clear();
        local.debug_dirs.clear();
    }
    local.to_object().into_iter().next().map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_queries_no_server() {
        let files = FileSearch {
            sysroots: vec!["/s".into()],
            debuginfod: Servers::of_list("http://server"),
            ..FileSearch::default()
        };
        let expected =
            FileSearch { sysroots: vec!["/s".into()], fetched: true, ..FileSearch::default() };
        assert_eq!(search_in_bundle(&files), expected);
        assert_eq!(search_in_bundle(&FileSearch::default()), FileSearch::default());
        assert_eq!(without_effect(&files, false).as_deref(), Some("sysroot"));
        let servers = FileSearch { sysroots: Vec::new(), ..files };
        assert_eq!(without_effect(&servers, false), None);
        let stores = FileSearch { build_id_stores: vec!["/s".into()], ..FileSearch::default() };
        assert_eq!(without_effect(&stores, false).as_deref(), Some("buildid_dirs"));
        assert_eq!(without_effect(&stores, true), None);
    }
}
