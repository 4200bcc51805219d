//! `cargo lab convert FORM FILE OUT`: a recording in another form, to test readers.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use synth::{RecordingParts, big_endian_copy};
use xtask::args::Args;

/// Bytes of records in a compressed record.
const CHUNK: usize = 60_000;
/// Number of files in a directory.
const FILES: usize = 4;

/// Writes the other form.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let names = args.names()?;
    let [form, file, out] = names.as_slice() else { bail!("FORM, FILE and OUT are needed") };
    let bytes = std::fs::read(file).with_context(|| file.clone())?;
    let parts = RecordingParts::read(&bytes).context("no plain little-endian file")?;
    let converted = match form.as_str() {
        "big-endian" => big_endian_copy(&bytes).map_err(|why| anyhow!("not known: {why}"))?,
        "pipe" => parts.pipe(),
        "compressed" => parts.compressed(CHUNK),
        "compressed-pipe" => parts.compressed_pipe(CHUNK),
        "directory" => return directory(&parts, Path::new(out)),
        _ => bail!("forms are big-endian, pipe, compressed, compressed-pipe, directory"),
    };
    std::fs::write(out, converted).with_context(|| out.clone())?;
    Ok(ExitCode::SUCCESS)
}

fn directory(parts: &RecordingParts, out: &Path) -> Result<ExitCode> {
    let (data, files) = parts.directory(FILES, None);
    std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    std::fs::write(out.join("data"), data)?;
    for (number, file) in files.iter().enumerate() {
        std::fs::write(out.join(format!("data.{number}")), file)?;
    }
    Ok(ExitCode::SUCCESS)
}
