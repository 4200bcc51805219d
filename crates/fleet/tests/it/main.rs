//! Conversion of recordings at URLs, from a web server on the loopback.
#![cfg(feature = "urls")]
#![allow(clippy::disallowed_methods, reason = "tests make their own files")]

mod server;
mod urls;
