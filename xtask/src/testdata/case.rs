//! A case, as described by `case.toml` in its folder: its program, build and recording. This file is the only
//! description of a case; its part below `[made]` is written when the case is recorded.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::processor::Processor;
use crate::command;

/// End of the part that is written by hand.
const MADE: &str = "\n[made]\n";

/// A case of `testdata/cases`.
pub(super) struct Case {
    /// Name of its folder and of its program.
    pub(super) name: String,
    /// Its purpose.
    pub(super) about: String,
    /// Files of `testdata/programs` that it needs; the first is the program's source.
    pub(super) sources: Vec<String>,
    /// Commands that build it, run in the folder with the sources.
    pub(super) build: Vec<String>,
    pub(super) recorder: Recorder,
    /// Part of `case.toml` that is written by hand, unchanged.
    pub(super) by_hand: String,
}

/// Recorder of a case.
pub(super) enum Recorder {
    Perf {
        /// Options of `perf record`.
        options: String,
        /// True to store the text of `perf script` beside the recording, for comparison with ours.
        keep_script: bool,
    },
    Emulator {
        processor: &'static Processor,
        /// Model of the processor.
        cpu: String,
    },
}

/// `case.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseToml {
    about: String,
    sources: Vec<String>,
    build: Vec<String>,
    record: Option<String>,
    #[serde(default)]
    keep_perf_script: bool,
    /// Emulated processor, if it is not aarch64.
    qemu: Option<String>,
    qemu_cpu: Option<String>,
}

impl Case {
    /// Reads `case.toml` in a case's folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("case.toml");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::parse(command::file_name(folder), &text).with_context(|| path.display().to_string())
    }

    fn parse(name: String, text: &str) -> Result<Self> {
        let by_hand = text.split_once(MADE).map_or(text, |(by_hand, _)| by_hand);
        let toml: CaseToml = basic_toml::from_str(by_hand)?;
        let recorder = match (toml.record, toml.qemu_cpu) {
            (Some(options), None) => Recorder::Perf { options, keep_script: toml.keep_perf_script },
            (None, Some(cpu)) => {
                let name = toml.qemu.as_deref().unwrap_or("aarch64");
                let processor = Processor::named(name).context("no such processor")?;
                Recorder::Emulator { processor, cpu }
            }
            _ => bail!("one of record and qemu_cpu is needed"),
        };
        if toml.sources.is_empty() || toml.build.is_empty() {
            bail!("sources and build are needed");
        }
        let by_hand = by_hand.trim_end().to_owned();
        Ok(Self {
            name,
            about: toml.about,
            sources: toml.sources,
            build: toml.build,
            recorder,
            by_hand,
        })
    }

    /// Returns `case.toml` with the facts from creating the case.
    pub(super) fn with_made(&self, made: &str) -> String {
        format!("{}\n{MADE}{made}", self.by_hand)
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Recorder};
    use crate::command;

    #[test]
    fn what_is_written_by_hand_stays() {
        let by_hand = "# A remark.\nabout = \"a \\\"b\\\"\"\nsources = [\"a.c\"]\nbuild = [\n  \"cc a.c\",\n]\nrecord = \"-F 9\"\n";
        let case = Case::parse("a".to_owned(), &format!("{by_hand}\n[made]\nx = 1\n")).unwrap();
        assert_eq!((case.about.as_str(), &case.build[..]), ("a \"b\"", &["cc a.c".to_owned()][..]));
        assert!(
            matches!(case.recorder, Recorder::Perf { ref options, keep_script: false } if options == "-F 9")
        );
        assert_eq!(case.with_made("y = 2\n"), format!("{by_hand}\n[made]\ny = 2\n"));
    }

    #[test]
    fn a_recorder_is_needed() {
        let refused = |text: &str| Case::parse("a".to_owned(), text).err().unwrap().to_string();
        let base = "about = \"\"\nsources = [\"a.c\"]\nbuild = [\"cc\"]\n";
        assert_eq!(refused(base), "one of record and qemu_cpu is needed");
        assert_eq!(
            refused(&format!("{base}record = \"\"\nqemu_cpu = \"\"\n")),
            "one of record and qemu_cpu is needed"
        );
    }

    #[test]
    fn every_stored_case_is_read() {
        let testdata = command::root().join("testdata");
        for folder in super::super::case_folders(&testdata).unwrap() {
            let case = Case::read(&folder).unwrap();
            assert_ne!(case.about, "", "{}", case.name);
            for source in &case.sources {
                assert!(
                    testdata.join("programs").join(source).is_file(),
                    "{}: {source}",
                    case.name
                );
            }
        }
    }
}
