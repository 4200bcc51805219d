//! Progress on a terminal. Silent where stderr is none, and with `--quiet`.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress of a run: a stage at a time.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// A stage of unknown length began.
    pub(crate) fn stage(&self, what: &'static str) {
        self.bar.unset_length();
        self.bar.set_style(style("{spinner} {msg} {elapsed}"));
        self.bar.set_message(what);
    }

    /// Samples are being worked on, about `total` in all as far as is known by now.
    pub(crate) fn samples(&self, what: &'static str, total: u64) {
        if self.bar.length().is_none() {
            self.bar.set_position(0);
            self.bar.set_style(style(
                "{spinner} {msg} {wide_bar} {human_pos}/{human_len} samples, {per_sec}, {eta} left",
            ));
            self.bar.set_message(what);
        }
        self.bar.set_length(total);
    }

    /// So many samples are done.
    pub(crate) fn done(&self, samples: u64) {
        self.bar.set_position(samples);
    }

    /// Takes the bar off the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
