//! Recordings with large dumps: named files, or programs that are built and recorded here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use xtask::machine::LARGEST_DUMPS;

use super::scratch::Scratch;
use crate::catalogue::{CATALOGUE, DEEP, Program, Settings, record};

/// Settings of these recordings; at most 530 MB for a thread.
const RECORDED: Settings = Settings { options: LARGEST_DUMPS, most: Duration::from_secs(4) };

/// A recording.
#[derive(Debug)]
pub(super) struct Recorded {
    /// Name of the program or of the file.
    pub(super) name: String,
    /// Path of the recording.
    pub(super) file: PathBuf,
    /// Folder for files about it.
    pub(super) folder: PathBuf,
}

/// Calls `on` with recordings one by one. Each name is a file or a program of the catalogue; without names, the `usual`
/// programs are recorded. Files about a recording are removed after it, unless `keep` names a folder for them. A
/// program that cannot be built or recorded here is printed as skipped.
///
/// # Errors
/// If a name is neither a file nor a program, if nothing can be recorded, or if `on` fails.
pub(super) fn each(
    names: &[String],
    usual: &[&str],
    keep: Option<&Path>,
    mut on: impl FnMut(&Recorded) -> Result<()>,
) -> Result<()> {
    let names: Vec<&str> =
        if names.is_empty() { usual.to_vec() } else { names.iter().map(|name| &**name).collect() };
    let sources = names.into_iter().map(Source::named).collect::<Result<Vec<_>>>()?;
    let scratch = Scratch::new()?;
    let keep = keep.map(std::path::absolute).transpose()?;
    let mut number = 0;
    for source in sources {
        let base = keep.as_deref().unwrap_or_else(|| scratch.path());
        match source.recorded(base) {
            Ok(recorded) => {
                on(&recorded).with_context(|| recorded.name.clone())?;
                number += 1;
                if keep.is_none() {
                    std::fs::remove_dir_all(&recorded.folder)?;
                }
            }
            Err(why) => println!("skipped: {}: {why:#}", source.name()),
        }
    }
    if number == 0 {
        bail!("there is no recording");
    }
    Ok(())
}

/// Origin of a recording.
enum Source {
    File(PathBuf),
    Program(&'static Program),
}

impl Source {
    fn named(name: &str) -> Result<Self> {
        let programs = || CATALOGUE.iter().chain(DEEP);
        if let Some(program) = programs().find(|program| program.name == name) {
            return Ok(Self::Program(program));
        }
        let file = std::path::absolute(name)?;
        if !file.is_file() {
            let known: Vec<&str> = programs().map(|program| program.name).collect();
            bail!("{name} is neither a file nor one of the programs: {}", known.join(" | "));
        }
        Ok(Self::File(file))
    }

    fn name(&self) -> String {
        match self {
            Self::File(file) => xtask::command::file_name(file),
            Self::Program(program) => program.name.to_owned(),
        }
    }

    /// Records the program, and creates the folder.
    fn recorded(&self, base: &Path) -> Result<Recorded> {
        let name = self.name();
        let folder = base.join(name.replace([' ', '/', ','], "-"));
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let file = match self {
            Self::File(file) => file.clone(),
            Self::Program(program) => {
                let recorded = record(program, &RECORDED, &folder)?;
                recorded.with_context(|| format!("no {}", program.tool))?
            }
        };
        Ok(Recorded { name, file, folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_program_or_a_file() {
        let refused = each(&["no such program".to_owned()], &[], None, |_| Ok(())).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.starts_with("no such program is neither a file nor one of the programs: "));
        assert!(refused.ends_with(" | pool | coroutines"), "{refused}");

        let scratch = Scratch::new().unwrap();
        let file = scratch.path().join("a.data");
        std::fs::write(&file, "x").unwrap();
        let mut found = Vec::new();
        each(&[file.display().to_string()], &[], Some(&scratch.path().join("kept")), |recorded| {
            found.push((recorded.name.clone(), recorded.file.clone()));
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [("a.data".to_owned(), file)]);
    }
}
