//! The interface between a profile and its formats.

use std::io;

use profile::Profile;

/// Writes a profile in one format.
pub trait Printer {
    /// Writes the whole of `profile` to `out`, in chunks of some hundred kilobytes: `out` needs no buffering.
    /// The bytes depend only on the profile and the options, not on the number of threads.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()>;
}
