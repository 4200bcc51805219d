//! Files for a confined process: another process opens them and passes their descriptors.

mod answer;
mod host;
mod request;
mod rules;

#[cfg(test)]
mod tests;

pub use answer::answer;
pub use host::{BrokeredHost, Channel};
pub use request::{HostReply, HostRequest};
