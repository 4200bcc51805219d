//! Commands that show a recording without unwinding it: its description, records, maps and build-ids.

mod buildid_list;
mod dump;
mod info;
mod maps;

pub(super) use buildid_list::run as buildid_list;
pub(super) use dump::run as dump;
pub(super) use info::run as info;
pub(super) use maps::run as maps;
