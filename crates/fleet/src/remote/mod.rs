//! Recordings at URLs: addresses without secrets in messages, clients of stores, and downloads to private files.
//!
//! Only the file `stores.rs` waits for futures. The client of a store retries failed requests by itself.

#[cfg(not(feature = "urls"))]
mod absent;
#[cfg(feature = "urls")]
mod address;
#[cfg(feature = "urls")]
mod clients;
#[cfg(feature = "urls")]
mod download;
#[cfg(feature = "urls")]
mod failure;
#[cfg(feature = "urls")]
mod objects;
mod scheme;
#[cfg(feature = "urls")]
mod session;
#[cfg(feature = "urls")]
mod stores;

#[cfg(not(feature = "urls"))]
pub use absent::Remote;
#[cfg(feature = "urls")]
pub(crate) use address::{Address, InvalidAddress};
#[cfg(feature = "urls")]
pub(crate) use clients::is_credential;
#[cfg(feature = "urls")]
pub(crate) use download::Download;
#[cfg(feature = "urls")]
pub(crate) use failure::Failure;
#[cfg(feature = "urls")]
pub(crate) use objects::Objects;
pub(crate) use scheme::scheme_of;
#[cfg(feature = "urls")]
pub(crate) use session::PrivateFolder;
#[cfg(feature = "urls")]
pub use session::Remote;
#[cfg(feature = "urls")]
pub(crate) use stores::ObjectState;
