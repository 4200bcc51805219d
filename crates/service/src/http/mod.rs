//! HTTP interface of the service: access checks, routes and answers.

mod doors;
mod files;
mod followed;
mod guard;
mod json;
mod log;
mod pace;
mod pages;
mod params;
mod places;
mod questions;
mod received;
mod recordings;
mod router;
mod server;
mod symbols;

pub(crate) use router::router;
pub(crate) use server::{Listener, Manners, serve_connections};
