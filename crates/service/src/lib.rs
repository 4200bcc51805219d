//! The service: recordings analysed on request, and shown by HTTP.
//!
//! Two processes. The *front* speaks HTTP, lists recordings, queues jobs and keeps their results on the disk; it parses
//! nothing but HTTP and JSON. The *worker* reads recordings and ELF files, through the crate `pipeline`; it is this
//! program again, confined by the kernel, and gets files as descriptors. What breaks the worker ends the job that it was
//! at, and the front starts another.
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
mod query;
mod recordings;
mod serve;
mod store;
mod symbolize;
mod worker;
mod workers;

pub use live::{LiveInput, LiveStream};
pub use protocol::WorkerSetup;
pub use serve::{Addresses, Listen, ServeError, ServeOptions, serve};
pub use worker::{Confined, Confinement, StreamWriter, WorkerOptions, confine, work};
pub use workers::WorkerCommand;

/// The description of the API, as it is served.
const OPENAPI: &str = include_str!("../openapi.json");
