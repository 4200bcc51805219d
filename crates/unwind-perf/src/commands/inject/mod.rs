//! `unwind-perf inject`: rewrites a recording with map hints, JIT code and build-ids as ordinary map records, so that
//! other tools profit from them.
//!
//! Map records with a device and inode get the build-id of the file that was found, in place.
//! Mappings that are resolved beyond the recorded ones become further `MMAP2` records, each with its time and at the
//! position at which a recorder would have written it. JIT code goes into ELF files beside the output.

mod container;
mod converted;
mod expanded;
mod records;

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use host::Origin;
use perf_data::Feature;
use pipeline::{Observer, Options, Unobserved};

use self::container::FileLayout;
use self::expanded::{expanded, replayed};
use self::records::{Injected, collect};
use crate::args::{InjectArgs, host, pipeline, source, with_argument};
use crate::terminal::{Inputs, OutputTarget, Status, status_of};

/// Rewrites the recording.
pub(crate) fn run(args: &InjectArgs) -> anyhow::Result<Status> {
    if args.convert_callchain {
        return converted::run(args);
    }
    let cannot_read = || format!("cannot read {}", args.input.display());
    if host().is_dir(&args.input, Origin::User) {
        bail!(
            "{} is a directory: recordings of perf record --threads are read, but cannot be rewritten as one file",
            args.input.display()
        );
    }
    let options = Options { files: args.files.search()?, ..Options::default() };
    let inputs = Inputs::new(&args.input, &options, &args.files.map_file);
    let target = OutputTarget::regular_file(&args.output, &inputs)?;
    let resolved =
        pipeline().resolve_source(source(&args.input), &options).map_err(with_argument)?;
    let file = resolved.host().open(resolved.source.name(), Origin::User)?;
    let layout = FileLayout::read(&file.content).with_context(cannot_read)?;
    if FileLayout::has_feature(&file.content, Feature::ChainEvidence) {
        bail!(
            "{} has finished callchains, whose evidence is for its records as they are; inject a recording of the stacks",
            args.input.display()
        );
    }
    let expanded = expanded(&resolved, &file.content, &layout).with_context(cannot_read)?;
    let bytes = expanded.as_deref().unwrap_or(&file.content);
    let layout = FileLayout::read(bytes).with_context(cannot_read)?;
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let recording = replayed(&resolved, expanded.as_ref());
    let maps = resolved.pipeline.maps(recording, &resolved.options, &observer);
    let mut maps = maps.map_err(with_argument)?;
    let output = std::path::absolute(&args.output)?;
    let Injected { inserted, build_ids, code } = collect(bytes, &mut maps, &layout, &output);
    let out = layout
        .write(bytes, &inserted, &build_ids)
        .with_context(|| format!("{}: its headers are damaged", args.input.display()))?;
    let code: Vec<_> = code
        .iter()
        .map(|(path, elf)| Ok((OutputTarget::regular_file(path, &inputs)?, elf)))
        .collect::<anyhow::Result<_>>()?;
    if file.content.damage().happened() {
        bail!("{} was truncated while it was read", args.input.display());
    }
    for (target, elf) in &code {
        target.write_all(elf)?;
    }
    target.write_all(&out)?;
    let mut stderr = std::io::stderr().lock();
    // A closed stderr is not an error.
    let _ = writeln!(
        stderr,
        "{} map records got a build-id; {} further map records, {} files of JIT code",
        build_ids.len(),
        inserted.len(),
        code.len()
    );
    Ok(status_of(&maps.findings))
}
