//! Recordings at URLs, and trees in stores of objects.

#[cfg(not(feature = "urls"))]
mod absent;
#[cfg(feature = "urls")]
mod access;
mod scheme;

#[cfg(not(feature = "urls"))]
pub use absent::Remote;
#[cfg(feature = "urls")]
pub use access::Remote;
#[cfg(feature = "urls")]
pub(crate) use access::{
    Address, Download, Failure, InvalidAddress, ObjectState, Objects, PrivateFolder, is_credential,
};
pub(crate) use scheme::scheme_of;
