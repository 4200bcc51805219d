//! Progress on a terminal, or as lines for a program that shows it. Hidden if stderr is not a terminal, and by
//! `--quiet`.

use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::{Download, Observer, ServerWait, Stage};

use super::findings::print_note;
use super::shown::shown;

/// Progress of a run: one stage at a time, and downloads.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Created with the first download.
    download: OnceLock<ProgressBar>,
    /// Time of the last printed line, if lines are requested.
    line: Option<Mutex<Option<Instant>>>,
    /// True to print nothing but errors.
    quiet: bool,
}

/// Minimum time between two lines, unless a stage begins.
const BETWEEN_LINES: Duration = Duration::from_millis(100);

impl Progress {
    /// With `lines`, each step is a line on stderr, even if `quiet` hides the bar.
    pub(crate) fn new(quiet: bool, lines: bool) -> Self {
        let hidden = quiet || lines;
        let target =
            if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, download: OnceLock::new(), line: lines.then(Mutex::default), quiet }
    }

    /// Begins a stage of unknown length.
    pub(crate) fn begin(&self, what: &'static str) {
        self.bar.unset_length();
        self.bar.set_style(style("{spinner} {msg} {elapsed}"));
        self.bar.set_message(what);
        self.line(true, what);
    }

    /// Prints a line if lines are requested, and one is due or a stage begins.
    fn line(&self, begins: bool, text: impl std::fmt::Display) {
        let Some(last) = &self.line else { return };
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if begins || last.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            *last = Some(Instant::now());
            // A closed stderr does not end the run.
            let _ = writeln!(std::io::stderr(), "progress: {text}");
        }
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn stage(&self, stage: Stage) {
        match stage {
            Stage::Reading => self.begin("reading"),
            // The previous stage stays until the number of samples is known.
            Stage::Unwinding => {}
            Stage::Symbolizing => self.begin("symbolizing"),
        }
    }

    fn expected(&self, samples: u64) {
        if self.bar.length().is_none() {
            self.bar.set_position(0);
            self.bar.set_style(style(
                "{spinner} {msg} {wide_bar} {human_pos}/{human_len} samples, {per_sec}, {eta} left",
            ));
            self.bar.set_message("unwinding");
        }
        self.bar.set_length(samples);
    }

    fn done(&self, samples: u64) {
        self.bar.set_position(samples);
        if let Some(all) = self.bar.length() {
            self.line(false, format_args!("unwinding {samples} of {all} samples"));
        }
    }

    fn download(&self, download: &Download<'_>) {
        let bar = self.download.get_or_init(|| {
            let style = style("{spinner} fetching {msg} {bytes} {bytes_per_sec}");
            ProgressBar::new_spinner().with_style(style)
        });
        if download.ended {
            bar.finish_and_clear();
            return;
        }
        bar.set_message(download.name.to_owned());
        bar.set_position(download.done);
    }

    fn waiting(&self, waiting: &ServerWait<'_>) {
        if self.quiet {
            return;
        }
        self.bar.suspend(|| print_note(&wait_line(waiting)));
    }
}

/// Reports only waits for servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitLines;

impl Observer for WaitLines {
    fn waiting(&self, waiting: &ServerWait<'_>) {
        print_note(&wait_line(waiting));
    }
}

fn wait_line(waiting: &ServerWait<'_>) -> String {
    let ServerWait { server, name, limit } = waiting;
    let limit = limit.map_or_else(String::new, |limit| {
        format!("; it has {} s to answer (DEBUGINFOD_TIMEOUT)", limit.as_secs())
    });
    format!("waiting for {}: {name}{limit}", shown(server))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
