//! State of the front: recordings, results, workers and secrets.

mod answers;
mod background;
mod metrics;
mod module_index;
mod request_log;
mod secrets;
mod service;
mod uploads;
mod watching;

pub(crate) use answers::{AnswerKey, Answers};
pub(crate) use background::{BACKGROUND, Background, analyze_in_background};
pub(crate) use metrics::Metrics;
pub(crate) use module_index::{ModuleIndex, learn_modules};
pub use request_log::RequestLog;
pub(crate) use secrets::{ExternalProtocol, Secrets};
pub(crate) use service::{LISTENERS, QUESTIONS, QUEUE, Service, files, no_space, recording_refs};
pub(crate) use uploads::{Uploads, receive};
pub(crate) use watching::watch;
