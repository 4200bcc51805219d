//! Metrics for monitoring the service.
//!
//! Source: Prometheus, "Exposition formats", the text format.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use super::answers::AnswerCounts;
use super::service::Service;
use crate::live::LiveView;
use crate::problem::Problem;

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    hits: AtomicU64,
    misses: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    /// Run time of all jobs, in microseconds.
    job_time: AtomicU64,
    worker_ends: AtomicU64,
    answers: Mutex<HashMap<u16, u64>>,
    refused: Mutex<HashMap<String, u64>>,
}

impl Metrics {
    /// Counts a look-up of a result.
    pub(crate) fn cache(&self, hit: bool) {
        let counter = if hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a finished job.
    pub(crate) fn job(&self, done: bool, seconds: f64) {
        let counter = if done { &self.done } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        self.job_time.fetch_add((seconds * 1e6) as u64, Ordering::Relaxed);
    }

    /// Counts a worker that ended during a job.
    pub(crate) fn worker_ended(&self) {
        self.worker_ends.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refused request.
    pub(crate) fn refused(&self, problem: &Problem) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry_ref(problem.kind.as_str()).or_default() += 1;
    }

    /// Counts an answered request.
    pub(crate) fn answered(&self, status: u16) {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() +=
            1;
    }

    /// Returns the numbers of completed jobs, failed jobs, and workers that ended during a job.
    pub(crate) fn ends(&self) -> [u64; 3] {
        [&self.done, &self.failed, &self.worker_ends].map(|counter| counter.load(Ordering::Relaxed))
    }

    /// Returns the metrics in the text format.
    pub(crate) fn text(&self, service: &Service) -> String {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let jobs = service.jobs.counts();
        let store = service.store.size();
        let (local, foreign) = (service.local.counts(), service.foreign.counts());
        let mut text = MetricsText::default();
        text.head("jobs", "gauge", "Jobs by state");
        text.row("jobs{state=\"queued\"}", jobs.queued);
        text.row("jobs{state=\"running\"}", jobs.running);
        text.head("jobs_total", "counter", "Finished jobs by result");
        text.row("jobs_total{end=\"done\"}", get(&self.done));
        text.row("jobs_total{end=\"failed\"}", get(&self.failed));
        text.one("jobs_begun_total", "counter", "Started jobs", jobs.begun);
        text.one("jobs_refused_total", "counter", "Jobs refused: the queue was full", jobs.refused);
        let micros = get(&self.job_time);
        text.one("job_microseconds_total", "counter", "Time of jobs, waiting included", micros);
        text.head("results_total", "counter", "Lookups of results");
        text.row("results_total{found=\"yes\"}", get(&self.hits));
        text.row("results_total{found=\"no\"}", get(&self.misses));
        text.one("results", "gauge", "Results on disk", store.results as u64);
        text.one("results_bytes", "gauge", "Bytes of results on disk", store.bytes);
        text.answers(&service.answers.counts());
        text.head("worker_starts_total", "counter", "Started workers");
        text.row("worker_starts_total{trust=\"local\"}", local.starts);
        text.row("worker_starts_total{trust=\"foreign\"}", foreign.starts);
        let ends = get(&self.worker_ends);
        text.one("worker_ends_total", "counter", "Workers that ended during a job", ends);
        if let Some(live) = &service.live {
            text.live(&live.view());
        }
        text.head("answers_total", "counter", "Answers by status");
        for (status, count) in sorted(&self.answers) {
            text.row(&format!("answers_total{{status=\"{status}\"}}"), count);
        }
        text.head("refused_total", "counter", "Refused requests by reason");
        for (kind, count) in sorted(&self.refused) {
            let reason = kind.rsplit(':').next().unwrap_or_default();
            text.row(&format!("refused_total{{reason=\"{reason}\"}}"), count);
        }
        text.0
    }
}

fn sorted<K: Clone + Ord>(counts: &Mutex<HashMap<K, u64>>) -> Vec<(K, u64)> {
    let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows: Vec<(K, u64)> = counts.iter().map(|(key, count)| (key.clone(), *count)).collect();
    rows.sort();
    rows
}

#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ =
            write!(self.0, "# HELP unwind_perf_{name} {help}\n# TYPE unwind_perf_{name} {kind}\n");
    }

    fn row(&mut self, name: &str, value: u64) {
        let _ = writeln!(self.0, "unwind_perf_{name} {value}");
    }

    /// Writes the counters of query answers.
    fn answers(&mut self, counts: &AnswerCounts) {
        self.head("query_answers_total", "counter", "Queries of recordings by result");
        self.row("query_answers_total{found=\"kept\"}", counts.cached);
        self.row("query_answers_total{found=\"shared\"}", counts.shared);
        self.row("query_answers_total{found=\"made\"}", counts.computed);
        self.one("query_answers", "gauge", "Cached answers", counts.answers);
        self.one("query_answers_bytes", "gauge", "Bytes of cached answers", counts.bytes);
    }

    /// Writes the state of the live recording.
    fn live(&mut self, view: &LiveView) {
        let numbers = &view.numbers;
        let lag = numbers.lag.map_or(0, |seconds| (seconds * 1e3) as u64);
        self.one("live_running", "gauge", "1 if a recording is watched", (!view.is_over()).into());
        self.one(
            "live_lag_milliseconds",
            "gauge",
            "Age of the newest sample when it was sent",
            lag,
        );
        self.one("live_samples_total", "counter", "Samples that came", numbers.samples);
        self.one("live_kept_samples", "gauge", "Samples kept", numbers.kept);
        self.one("live_lost_total", "counter", "Records lost by the kernel", numbers.lost_records);
        self.one("live_bytes_total", "counter", "Bytes of records read", numbers.bytes);
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.head(name, kind, help);
        self.row(name, value);
    }
}
