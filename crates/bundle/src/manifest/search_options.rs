//! Options for searching files, as stated in a manifest.

use options::{Bytes, FileSearch, Hint, OptionsError, parse_path_map};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// File options: a JSON object, or in format versions 1 and 2 a list of command arguments, each with its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SearchJson", into = "Map<String, Value>")]
pub(crate) struct SearchOptions(pub(crate) FileSearch);

impl SearchOptions {
    /// Returns the number of named folders, files and hints.
    pub(super) fn named(&self) -> usize {
        let files = &self.0;
        let folders: usize = files.folders().iter().map(|(_, folders)| folders.len()).sum();
        folders + files.modules.len() + files.path_map.len() + files.hints.len()
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an object of options")]
enum SearchJson {
    Options(Map<String, Value>),
    Words(Vec<(String, Bytes)>),
}

impl From<SearchOptions> for Map<String, Value> {
    fn from(search: SearchOptions) -> Self {
        search.0.to_object()
    }
}

impl TryFrom<SearchJson> for SearchOptions {
    type Error = OptionsError;

    fn try_from(json: SearchJson) -> Result<Self, OptionsError> {
        match json {
            SearchJson::Options(object) => FileSearch::from_object(object),
            SearchJson::Words(words) => of_words(&words),
        }
        .map(Self)
    }
}

/// Parses command arguments.
fn of_words(words: &[(String, Bytes)]) -> Result<FileSearch, OptionsError> {
    let mut search = FileSearch::default();
    for (name, value) in words {
        let wrong = |reason| OptionsError::Value { name: name.clone(), reason };
        let path = value.to_path();
        match name.as_str() {
            "--module" => search.modules.push(path),
            "--sysroot" => search.sysroots.push(path),
            "--buildid-dir" => search.build_id_stores.push(path),
            "--debug-dir" => search.debug_dirs.push(path),
            "--extra-dir" => search.extra_dirs.push(path),
            "--perf-map-dir" => search.perf_map_dirs.push(path),
            "--path-map" => {
                let pair = parse_path_map(&value.clone().into_vec());
                search.path_map.push(pair.map_err(wrong)?);
            }
            "--map" => {
                let hint = Hint::parse(&path.to_string_lossy());
                search.hints.push(hint.map_err(|error| wrong(error.to_string()))?);
            }
            "--kallsyms" => search.kallsyms = Some(path),
            "--trust-perf-maps" => search.trust_perf_maps = true,
            "--debuginfod" => search.fetched = true,
            _ => return Err(OptionsError::Unknown { name: name.clone() }),
        }
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn read(json: &str) -> Result<FileSearch, String> {
        serde_json::from_str(json)
            .map(|search: SearchOptions| search.0)
            .map_err(|it| it.to_string())
    }

    #[test]
    fn arguments_of_earlier_versions_are_read() {
        let json = r#"[["--module","m"],["--sysroot","/s"],["--sysroot","/t"],["--buildid-dir","/i"],
            ["--debug-dir","/d"],["--extra-dir","/e"],["--perf-map-dir","/p"],
            ["--path-map",{"hex":"2f613d2f623dff"}],["--map","/o@7,0x1000,0x20,0x300"],["--kallsyms","/k"],
            ["--trust-perf-maps",""],["--debuginfod",""]]"#;
        let path = |text: &str| PathBuf::from(text);
        let expected = FileSearch {
            modules: vec![path("m")],
            path_map: vec![(b"/a".to_vec(), b"/b=\xff".to_vec())],
            sysroots: vec![path("/s"), path("/t")],
            build_id_stores: vec![path("/i")],
            debug_dirs: vec![path("/d")],
            extra_dirs: vec![path("/e")],
            perf_map_dirs: vec![path("/p")],
            trust_perf_maps: true,
            fetched: true,
            hints: vec![Hint::parse("/o@7,0x1000,0x20,0x300").expect("a hint")],
            kallsyms: Some(path("/k")),
            ..FileSearch::default()
        };
        assert_eq!(read(json).unwrap(), expected);
        let json = serde_json::to_string(&SearchOptions(expected.clone())).unwrap();
        assert_eq!(read(&json).unwrap(), expected);
        assert_eq!(read("[]").unwrap(), FileSearch::default());
    }

    #[test]
    fn every_option_round_trips() {
        let files = options::every_option().files;
        let json = serde_json::to_string(&SearchOptions(files.clone())).unwrap();
        assert_eq!(read(&json).unwrap(), files);
    }

    #[test]
    fn options_of_later_versions_are_refused() {
        assert!(read(r#"{"later":1}"#).unwrap_err().starts_with("unknown option 'later'"));
        assert!(read(r#"[["--later",""]]"#).unwrap_err().starts_with("unknown option '--later'"));
    }
}
