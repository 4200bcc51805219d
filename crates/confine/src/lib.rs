//! Processes that read untrusted data with few rights.
//!
//! A confined process has no capabilities, few system calls and no files but those that it is allowed.
//! Another process, its broker, opens further files for it: only those that a broker's rules permit.
//!
//! ```text
//!   confined process            broker
//!   BrokeredHost ---- HostRequest ----> Broker ---- Host of the machine
//!                <--- descriptor ------
//! ```

mod broker;
mod channel;
mod confinement;
mod privileges;

pub use broker::{BrokeredHost, Channel, HostReply, HostRequest, answer};
pub use channel::{Receiver, Sender, pair};
pub use confinement::{Confined, Confinement, confine};
pub use privileges::{allow_preferred_threads, drop_privileges};
