//! Front's view of the live recording: its state, and its recent changes for following clients.

mod live_recording;
mod recent_changes;

pub use live_recording::{LiveInput, LiveStream};
pub(crate) use live_recording::{LiveRecording, LiveView, Phase};
pub(crate) use recent_changes::NextChange;
