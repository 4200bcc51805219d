//! Addresses without secrets in messages, clients of stores, and downloads to private files.
//!
//! Only the file `stores.rs` waits for futures. The client of a store retries failed requests by itself.

mod address;
mod clients;
mod download;
mod failure;
mod objects;
mod session;
mod stores;

pub(crate) use address::{Address, InvalidAddress};
pub(crate) use clients::is_credential;
pub(crate) use download::Download;
pub(crate) use failure::Failure;
pub(crate) use objects::Objects;
pub(crate) use session::PrivateFolder;
pub use session::Remote;
pub(crate) use stores::ObjectState;
