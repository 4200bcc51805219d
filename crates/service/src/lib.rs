//! Service that analyses recordings on request and serves the results over HTTP.
//!
//! Two processes. The *front* speaks HTTP, lists recordings, queues jobs and stores their results on disk; it parses
//! only HTTP and JSON.
//! The *worker* reads recordings and ELF files through the crate `pipeline`. It is this program again, confined by the
//! kernel, and receives files as descriptors.
//! Input that crashes the worker ends only the running job; the front then starts another worker.
//!
//! ```text
//!   browser, tools -- HTTP --> front -- requests, descriptors --> worker -- pipeline
//!                                |                                   |
//!                                '-- results on the disk <-----------'
//! ```

mod front;
mod http;
mod jobs;
mod live;
mod problem;
mod protocol;
mod recordings;
mod serve;
mod store;
mod symbolize;
mod worker;
mod workers;

pub use front::RequestLog;
pub use live::{LiveInput, LiveStream};
pub use protocol::WorkerSetup;
pub use serve::{Addresses, Listen, ServeError, ServeOptions, serve};
pub use worker::{StreamWriter, WorkerOptions, work};
pub use workers::WorkerCommand;

/// Description of the API, as served.
const OPENAPI: &str = include_str!("../openapi.json");
