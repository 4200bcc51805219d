//! The recording that an argument names: a file, `-`, a FIFO, a packed file, or a directory of `perf record --threads`.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use perf_data::{Input, SharedBytes};

use crate::input::{self, Behind};

/// Opens a recording. What is in it is found out by its content, not by its name.
pub(crate) fn open(path: &Path) -> anyhow::Result<Input> {
    Ok(open_once(path)?.0)
}

/// Opens a recording that is read once from its begin to its end, so that what is behind can be given back.
pub(crate) fn open_once(path: &Path) -> anyhow::Result<(Input, Option<Behind>)> {
    if path == Path::new("-") {
        return Ok((Input::Stream(Box::new(std::io::stdin())), None));
    }
    let cannot_read = || format!("cannot read {}", path.display());
    let metadata = std::fs::metadata(path).with_context(cannot_read)?;
    if metadata.is_dir() {
        return Ok((open_directory(path)?, None));
    }
    if is_fifo(&metadata) {
        let file = File::open(path).with_context(cannot_read)?;
        return Ok((Input::Stream(Box::new(file)), None));
    }
    let mapped = input::map(path)?;
    let behind = mapped.behind();
    Ok((Input::File(SharedBytes::new(mapped)), Some(behind)))
}

fn is_fifo(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

/// `data` and the `data.N` beside it, in the order of their numbers.
fn open_directory(directory: &Path) -> anyhow::Result<Input> {
    let data = directory.join("data");
    if !data.is_file() {
        bail!("{} is a directory without a file `data`: no recording", directory.display());
    }
    let cannot_list = || format!("cannot list {}", directory.display());
    let mut numbered: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(cannot_list)? {
        let entry = entry.with_context(cannot_list)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("data.")?.parse().ok());
        // Processors without samples leave empty files.
        if let (Some(number), Ok(metadata)) = (number, entry.metadata())
            && metadata.is_file()
            && metadata.len() > 0
        {
            numbered.push((number, entry.path()));
        }
    }
    numbered.sort();
    let parts = numbered.iter().map(|(_, path)| Ok(SharedBytes::new(input::map(path)?)));
    Ok(Input::Directory {
        data: SharedBytes::new(input::map(&data)?),
        parts: parts.collect::<anyhow::Result<_>>()?,
    })
}
