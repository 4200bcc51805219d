//! Time of day at which a recording starts.

use profile::Profile;

/// Returns the time of the first sample in nanoseconds since 1970 (UTC); `None` if the recorder did not state the time of
/// day, since the same bytes have the same output.
pub(crate) fn start_utc_ns(profile: &Profile) -> Option<u64> {
    let clock = profile.recording.wall_clock.filter(|clock| !clock.guessed)?;
    clock.utc(profile.samples.iter().filter_map(|sample| sample.time()).min()?)
}
