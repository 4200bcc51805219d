//! `unwind-perf bundle`: one file that holds the recording and this machine's answers about it, so that every command
//! gives the same result anywhere.
//!
//! The run is done once while a journal notes its queries to the host. The bundle is then read back and replayed alone.
//! If its JSON differs in one byte, more of the files are included.

mod anonymous;
mod stripped;
mod verification;

use std::collections::BTreeSet;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use bundle::{
    BundleFacts, ContentSelection, JournalAnswers, JournalHost, RECORDING, RecordedFiles, Written,
};
use host::{FileKind, Host, NewFile, Origin};
use pipeline::{Observer, Options, ResolvedSource, search_in_bundle};

use self::anonymous::Anonymous;
use self::stripped::{Stripped, print_changed};
use self::verification::{ReplayVerdict, has_stacks, json_hash, replay};
use super::page::page_code;
use super::profile::on_pool;
use crate::args::{BundleArgs, host, pipeline, pipeline_on, source, with_argument};
use crate::terminal::{Inputs, OutputTarget, Progress, Status, print_damage, print_note, shown};

/// Writes a bundle.
pub(super) fn run(args: &BundleArgs) -> anyhow::Result<Status> {
    let options = args.options()?;
    on_pool(options.limits.threads(), || bundled(args, options))
}

fn bundled(args: &BundleArgs, options: Options) -> anyhow::Result<Status> {
    let input = args.input.path()?;
    let Options { files, with_arguments, .. } = options;
    // The bundle must give the result of a run without other options.
    let options = Options { files, ..Options::default() };
    let packed = packed_source(input, &options, args)?;
    let inputs = Inputs::new(input, &options, &args.files.map_file);
    let target = OutputTarget::regular_file(&args.output, &inputs)?;
    let place = target.place().unwrap_or(&args.output);
    let progress = Arc::new(Progress::new(args.quiet, false));
    let observer: Arc<dyn Observer> = progress.clone();
    let (run, anonymous) = noted(&packed, place, with_arguments, args, &observer)?;

    let keep = if args.whole {
        ContentSelection::Whole
    } else {
        ContentSelection::Needed { whole: BTreeSet::new() }
    };
    progress.begin("writing");
    let (written, new, is_same) = write(&run, keep, place, &observer)?;
    progress.clear();
    new.complete().with_context(|| target.failed())?;
    if !is_same {
        print_note("the bundle gives another result than the recording; it now has whole files");
        return Ok(Status::Incomplete);
    }
    if !args.quiet {
        account(&args.output, &written, run.facts.stacks)?;
    }
    let is_same = anonymous.is_none_or(|it| it.account(args.quiet));
    Ok(if is_same { run.status } else { Status::Incomplete })
}

/// Runs on the host that goes into the bundle: this one, one without stacks, or an anonymous one.
fn noted(
    packed: &ResolvedSource,
    place: &Path,
    with_arguments: bool,
    args: &BundleArgs,
    observer: &Arc<dyn Observer>,
) -> anyhow::Result<(JournaledRun, Option<Anonymous>)> {
    let (input, options) = (packed.source.name(), &packed.options);
    let failed = |option: &str| format!("{option}: {}", input.display());
    if args.anonymize {
        let machine = Anonymous::new(packed, observer);
        let machine = machine.with_context(|| failed("--anonymize"))?;
        let host = Arc::clone(&machine.host);
        let recording = Path::new(RECORDING);
        let run = JournaledRun::new(host, recording, &machine.options, None, args, observer)?;
        return Ok((run, Some(machine)));
    }
    if args.no_stacks {
        let stripped = Stripped::new(packed, place, with_arguments, observer);
        let stripped = stripped.with_context(|| failed("--no-stacks"))?;
        let host = Arc::clone(&stripped.host);
        let mut run = JournaledRun::new(host, input, options, Some(&stripped), args, observer)?;
        if let Some(bundle) = &packed.bundle {
            run.taken.add_holes(bundle.manifest());
        }
        return Ok((run, None));
    }
    let host = Arc::clone(packed.host());
    Ok((JournaledRun::new(host, input, options, None, args, observer)?, None))
}

/// A run with a journal of its queries.
struct JournaledRun {
    taken: JournalAnswers,
    facts: BundleFacts,
    recorded: RecordedFiles,
    status: Status,
    is_private: bool,
}

impl JournaledRun {
    fn new(
        machine: Arc<dyn Host>,
        input: &Path,
        options: &Options,
        stripped: Option<&Stripped>,
        args: &BundleArgs,
        observer: &Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        let journal = JournalHost::new(machine, input);
        let host: Arc<dyn Host> = journal.clone();
        let analysis = pipeline_on(host).analyze(source(input), options, observer);
        let analysis = analysis.map_err(with_argument)?;
        let json_sha256 = Some(json_hash(&analysis.profile)?);
        // Pages show the instructions of functions, so the bundle needs their bytes and the names of their targets.
        let _ = page_code(&analysis, options.names.demangle.unwrap_or_default());
        if let Some(stripped) = stripped {
            print_changed(&stripped.profile, &analysis.profile, args.quiet);
        }
        let stacks = stripped.is_none() && !args.anonymize && has_stacks(&analysis);
        let status = if analysis.is_damaged { Status::Damaged } else { Status::Complete };
        if analysis.is_damaged && args.quiet {
            print_damage(&analysis);
        }
        let recorded = RecordedFiles::of(&analysis.profile);
        drop(analysis);
        let taken = journal.finish().context("cannot read the files again")?;
        let facts = BundleFacts {
            recording: input.to_owned(),
            tool: concat!("unwind-perf ", env!("CARGO_PKG_VERSION")).to_owned(),
            search: search_in_bundle(&options.files),
            stacks,
            anonymized: args.anonymize,
            json_sha256,
            omits_files: args.no_files,
        };
        Ok(Self { taken, facts, recorded, status, is_private: args.private })
    }
}

/// Writes the bundle beside its final path, until it gives the same result or contains everything.
fn write(
    run: &JournaledRun,
    mut keep: ContentSelection,
    place: &Path,
    observer: &Arc<dyn Observer>,
) -> anyhow::Result<(Written, NewFile, bool)> {
    loop {
        let failed = || format!("cannot write {}", place.display());
        let new =
            if run.is_private { NewFile::create_private(place) } else { NewFile::create(place) };
        let mut new = new.with_context(failed)?;
        let mut out = BufWriter::with_capacity(1 << 20, &mut new);
        let written = bundle::write(&run.taken, &run.facts, &run.recorded, &keep, &mut out);
        let written = written.and_then(|it| out.flush().map(|()| it)).with_context(failed)?;
        drop(out);
        let replayed = replay(&new.path(), &run.taken, observer, run.facts.json_sha256)?;
        let holes = match replayed {
            ReplayVerdict::Same => return Ok((written, new, true)),
            ReplayVerdict::Other { holes } => holes,
        };
        match more(&keep, &holes) {
            Some(more) => keep = more,
            None => return Ok((written, new, false)),
        }
    }
}

/// Returns the recording to pack, which can be in a bundle with more data.
///
/// # Errors
/// If it cannot be packed.
fn packed_source(
    input: &Path,
    options: &Options,
    args: &BundleArgs,
) -> anyhow::Result<ResolvedSource> {
    let name = input.display();
    let is_whole = |kind| matches!(kind, FileKind::Regular | FileKind::Directory);
    let stat = host().stat(input, Origin::User);
    if input == Path::new("-") || stat.is_ok_and(|stat| !is_whole(stat.kind)) {
        bail!(
            "{name} can be read only once, but a bundle is verified by a second reading; name a file"
        );
    }
    let packed = pipeline().resolve_source(source(input), options).map_err(with_argument)?;
    if let Some(bundle) = &packed.bundle {
        check_bundle(input, &bundle.manifest().facts(), args)?;
        return Ok(packed);
    }
    for store in &options.files.build_id_stores {
        if !host().is_dir(store, Origin::User) {
            bail!(
                "--buildid-dir {}: archives cannot be bundled; unpack it and name the directory",
                store.display()
            );
        }
    }
    Ok(packed)
}

/// Refuses a bundle that cannot be packed again.
fn check_bundle(input: &Path, facts: &BundleFacts, args: &BundleArgs) -> anyhow::Result<()> {
    let name = input.display();
    if facts.anonymized {
        bail!("{name} is an anonymized bundle already");
    }
    if !(args.no_stacks || args.anonymize) {
        bail!(
            "{name} is already a bundle; --no-stacks and --anonymize make one with less data of it"
        );
    }
    for (option, given) in [("--whole", args.whole), ("--no-files", args.no_files)] {
        if given {
            bail!("{option}: {name} is a bundle, which may lack parts of its files");
        }
    }
    Ok(())
}

/// Returns the parts to keep after a replay gave another result; `None` if everything was kept.
fn more(keep: &ContentSelection, holes: &[PathBuf]) -> Option<ContentSelection> {
    let ContentSelection::Needed { whole } = keep else { return None };
    let new: Vec<_> = holes.iter().filter(|path| !whole.contains(*path)).collect();
    if new.is_empty() {
        print_note("the needed parts of the files gave another result; the bundle has all of them");
        return Some(ContentSelection::Whole);
    }
    for path in &new {
        let path = shown(&path.display().to_string());
        print_note(&format!(
            "the run did not read all of {path} that a reader needs; the bundle has the whole file"
        ));
    }
    Some(ContentSelection::Needed { whole: whole.iter().chain(new).cloned().collect() })
}

/// Prints the size of the bundle, and which parts of it may be secret.
fn account(output: &Path, written: &Written, stacks: bool) -> anyhow::Result<()> {
    let packed = host().stat(output, Origin::User)?.stamp.size;
    let Written { files, whole, kept, absent } = *written;
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    print_note(&format!(
        "The bundle has {} of the {} in {files} files; its size is {}. It gave the same result as the recording.",
        mb(kept),
        mb(whole),
        mb(packed),
    ));
    if absent > 0 {
        print_note(&format!(
            "{absent} of the files are left out; readers need a store with them: --buildid-dir, --debug-dir, --debuginfod"
        ));
    }
    if stacks {
        print_note(
            "The recording has copies of stacks, which can contain passwords, keys and personal data of the recorded \
             processes; --no-stacks omits them.",
        );
    }
    Ok(())
}
