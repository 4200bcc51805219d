//! The service by HTTP: who may ask, what is answered.

mod files;
mod guard;
mod jobs;
mod json;
mod log;
mod metrics;
mod pages;
mod params;
mod questions;
mod recordings;
mod router;
mod secrets;
mod server;
mod uploads;

pub(crate) use metrics::Metrics;
pub(crate) use router::router;
pub(crate) use secrets::Secrets;
pub(crate) use server::{Listener, serve_connections};
pub(crate) use uploads::Uploads;
