//! HTTP interface of the service: access checks, routes and answers.

mod connections;
mod external;
mod files;
mod followed;
mod guard;
mod json;
mod log;
mod pages;
mod params;
mod queries;
mod received;
mod recordings;
mod router;
mod send_timeout;
mod server;
mod symbols;

pub(crate) use router::router;
pub(crate) use server::{ConnectionPolicy, Listener, serve_connections};
