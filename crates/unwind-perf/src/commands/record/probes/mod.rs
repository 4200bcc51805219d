//! `record --probe`: uprobes on functions, set before perf starts and removed when it has ended.
//!
//! The debug information of the file states the place and the arguments; the kernel reads them at each call.

mod events;
mod files;
mod leftovers;
mod signals;
mod tracefs;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use host::Host;
use image_store::{FileOptions, ImageStore};
use pipeline::{NoProbe, ProbePlaces, ProbeRequest, VariableError, find_probes};

use self::events::{ProbeEvent, events_of};
use self::files::ProbedFiles;
use self::leftovers::Notebook;
use self::signals::HeldSignals;
use self::tracefs::Tracefs;
use crate::args::{RecordArgs, host};
use crate::terminal::{print_error, print_note, shown};

/// Maximum number of files that are searched for a function.
const SEARCHED: usize = 256;

/// The probes of a recording. They are removed with it.
#[derive(Default)]
pub(super) struct SetProbes(Option<Mutex<State>>);

struct State {
    tracefs: Tracefs,
    notebook: Notebook,
    signals: HeldSignals,
    /// Names of the present events, `GROUP:NAME`.
    events: Vec<String>,
}

impl SetProbes {
    /// Sets the probes that the user asks for, and returns the arguments with the names of their events.
    ///
    /// # Errors
    /// If a function or an argument is not found, or the kernel refuses a probe. None remains then.
    pub(super) fn set(args: &RecordArgs, host: &dyn Host) -> anyhow::Result<(Self, RecordArgs)> {
        let mut args = args.clone();
        if args.probe.is_empty() {
            return Ok((Self::default(), args));
        }
        let requests: Result<Vec<_>, _> =
            args.probe.iter().map(|text| ProbeRequest::parse(text)).collect();
        let requests = requests.map_err(|error| anyhow::anyhow!("--probe {error}"))?;
        let tracefs = Tracefs::find(host)?;
        let mut all = Vec::<ProbeEvent>::new();
        let files = ProbedFiles::new(&args, host);
        for request in &requests {
            let found = find(request, &files)
                .with_context(|| format!("--probe {}", shown(&request.to_string())))?;
            all.extend(events_of(&found.0, request, &found.1, &all)?);
        }
        leftovers::remove(&tracefs);
        let state = State {
            notebook: Notebook::new(),
            signals: HeldSignals::hold().context("signals cannot be held")?,
            events: Vec::new(),
            tracefs,
        };
        let probes = Self(Some(Mutex::new(state)));
        for event in &all {
            probes.add(event)?;
            args.probe_events.push(event.name.clone());
            if !args.quiet {
                eprintln!("probe {}", event.line());
            }
        }
        Ok((probes, args))
    }

    fn add(&self, event: &ProbeEvent) -> anyhow::Result<()> {
        let Some(state) = &self.0 else { return Ok(()) };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if state.tracefs.has(&event.name) {
            bail!("the event {0} exists already; remove it with perf probe -d {0}", event.name);
        }
        state.notebook.note(&event.name);
        for definition in &event.definitions {
            let added = state.tracefs.add(definition);
            if added.is_ok() && !state.events.contains(&event.name) {
                state.events.push(event.name.clone());
            }
            added.with_context(|| format!("the kernel refuses the probe {}", event.name))?;
        }
        Ok(())
    }

    /// Returns true if a signal came that should end the recording, before perf could get it.
    pub(super) fn was_interrupted(&self) -> bool {
        let state = self.0.as_ref();
        let state = state.map(|it| it.lock().unwrap_or_else(PoisonError::into_inner));
        state.is_some_and(|it| it.signals.came())
    }

    /// Removes the probes. A failure here does not fail the recording.
    pub(super) fn remove(&self) {
        let Some(state) = &self.0 else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let events = std::mem::take(&mut state.events);
        let mut remain = Vec::new();
        for event in events {
            if let Err(error) = state.tracefs.remove(&event) {
                print_error(&format!(
                    "the probe {event} cannot be removed: {error}; remove it with perf probe -d {event}"
                ));
                remain.push(event);
            }
        }
        if remain.is_empty() {
            state.notebook.close();
        }
    }
}

impl Drop for SetProbes {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Returns the first file with the function, and the places in it.
fn find(request: &ProbeRequest, files: &ProbedFiles) -> anyhow::Result<(PathBuf, ProbePlaces)> {
    let paths = files.candidates(request.file.as_deref())?;
    let debug_dirs = vec![PathBuf::from(image_store::DEBUG_DIR)];
    let images =
        ImageStore::new(FileOptions { host: host(), debug_dirs, ..FileOptions::default() });
    let mut best: Option<(PathBuf, NoProbe)> = None;
    let mut similar_names = Vec::new();
    for path in paths.iter().take(SEARCHED) {
        let image = match images.file_at(path) {
            Ok(image) => image,
            Err(error) if paths.len() == 1 => bail!("{error}"),
            Err(_) => continue,
        };
        match find_probes(&image, &images, request) {
            Ok(places) => return Ok((path.clone(), places)),
            Err(NoProbe::Request(VariableError::UnknownFunction { similar, .. })) => {
                similar_names.extend(similar);
            }
            Err(error) => best = best.or(Some((path.clone(), error))),
        }
    }
    if let Some((path, error)) = best {
        bail!("{}: {error}", shown(&path.to_string_lossy()));
    }
    similar_names.dedup();
    similar_names.truncate(8);
    let name = request.function.clone();
    let error = VariableError::UnknownFunction { name, similar: similar_names };
    bail!("{error}, in {}", searched(&paths))
}

/// Describes the searched files.
fn searched(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| shown(&Path::new(path).to_string_lossy());
    match paths {
        [] => "no file".to_owned(),
        [one] => name(one),
        [first, rest @ ..] => format!("{} and {} libraries", name(first), rest.len()),
    }
}

/// Prints that probes of an ended recording were removed.
fn print_removed(events: &[String]) {
    print_note(&format!("removed probes of a recording that was killed: {}", events.join(", ")));
}
