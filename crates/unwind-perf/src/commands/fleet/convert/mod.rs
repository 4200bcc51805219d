//! `unwind-perf convert`: many recordings become one tree of Parquet files. The crate `fleet` has the tree.

mod recording;

use std::io::{self, Write as _};
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use fleet::{
    Converted, Converter, ListedPaths, NamedOptions, Queue, Remote, Runner, Source,
    Status as Outcome, Tally, Tree, WatchedFolder, convert_all,
};
use host::Origin;
use options::Options;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub(in crate::commands) use self::recording::convert_recording;
use crate::args::{ConvertArgs, host};
use crate::terminal::{Status, print_error, print_note};

/// Version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Converts the recordings that the arguments name.
pub(in crate::commands) fn run(args: &ConvertArgs) -> anyhow::Result<Status> {
    let started = Instant::now();
    let mut options = args.options()?;
    let source = source_of(args)?;
    let converter = converter_of(args, &mut options)?;
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let at_once = args.at_once.map_or(processors, NonZeroUsize::get);
    let queue = Arc::new(Queue::new(at_once));
    let is_interrupted = stop_on_signals(&queue, args.quiet)?;
    source.feed(&queue);
    let tally = convert_all(&converter, at_once, &queue, print_manifest)?;
    let is_incomplete = args.watch.is_none() && is_interrupted.load(Ordering::Acquire);
    if is_incomplete {
        print_error("interrupted; recordings are missing");
    }
    if !args.quiet {
        print_note(&summary(&tally, started.elapsed().as_secs_f64()));
    }
    let is_ok = tally.of(Outcome::Ok) == tally.all() && !is_incomplete;
    Ok(if is_ok { Status::Complete } else { Status::Damaged })
}

/// Opens the list and the folder of recordings.
fn source_of(args: &ConvertArgs) -> anyhow::Result<Source> {
    let list = args.list.as_deref().map(|path| {
        let text: Box<dyn io::Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let text = host().stream(path, Origin::User);
            text.with_context(|| format!("--list {}", path.display()))?.into_reader()
        };
        anyhow::Ok(ListedPaths::new(text, args.null))
    });
    let watched = args.watch.as_deref().map(WatchedFolder::new);
    Ok(Source {
        recordings: args.recordings.clone(),
        list: list.transpose()?,
        watched: watched.transpose()?,
    })
}

fn converter_of(args: &ConvertArgs, options: &mut Options) -> anyhow::Result<Converter> {
    let named = NamedOptions::new(options, VERSION);
    options.limits.jobs = options.limits.jobs.or(NonZeroU16::new(1));
    let remote = Remote::default();
    Ok(Converter {
        tree: Tree::open(&args.out, &remote)?,
        runner: Runner {
            program: args.program.clone(),
            options: options.to_json(),
            retries: args.retries,
            timeout: args.timeout,
        },
        options: named,
        version: VERSION.to_owned(),
        redo: args.redo.clone(),
        remote,
    })
}

/// Stops the queue at the first SIGINT or SIGTERM. The second one ends the process. Children end with it.
///
/// Returns whether a signal arrived.
fn stop_on_signals(queue: &Arc<Queue>, quiet: bool) -> anyhow::Result<Arc<AtomicBool>> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot handle signals")?;
    let (queue, arrived) = (Arc::clone(queue), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&arrived);
    std::thread::spawn(move || {
        for signal in &mut signals {
            if seen.swap(true, Ordering::AcqRel) {
                std::process::exit(128 + signal);
            }
            queue.stop();
            if !quiet {
                print_note("finishing the recordings in progress; a second signal ends them");
            }
        }
    });
    Ok(arrived)
}

/// Prints the manifest of a recording as one line.
fn print_manifest(converted: &Converted) -> io::Result<()> {
    let mut line = serde_json::to_vec(&converted.manifest)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Returns the numbers of recordings by outcome.
fn summary(tally: &Tally, seconds: f64) -> String {
    let outcomes = Outcome::ALL.into_iter().filter(|&outcome| tally.of(outcome) > 0);
    let counts: Vec<_> =
        outcomes.map(|outcome| format!("{} {}", tally.of(outcome), outcome.as_str())).collect();
    let earlier = match tally.earlier() {
        0 => String::new(),
        earlier => format!(" ({earlier} converted earlier)"),
    };
    let all = match tally.all() {
        0 => return "no recordings".to_owned(),
        1 => "1 recording".to_owned(),
        all => format!("{all} recordings"),
    };
    format!("{all}: {}{earlier}, {seconds:.1} s", counts.join(", "))
}
