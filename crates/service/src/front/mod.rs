//! State of the front: recordings, results, workers and secrets.

mod answers;
mod metrics;
mod secrets;
mod service;
mod uploads;
mod watching;

pub(crate) use answers::{AnswerKey, Answers};
pub(crate) use metrics::Metrics;
pub(crate) use secrets::{Door, Secrets};
pub(crate) use service::{LISTENERS, QUESTIONS, QUEUE, Service, files, given, no_space};
pub(crate) use uploads::{Uploads, receive};
pub(crate) use watching::watch;
