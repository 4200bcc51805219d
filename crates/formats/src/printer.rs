//! The seam between a profile and its formats: one trait.

use std::io;

use profile::Profile;

/// Writes a profile in one format.
pub trait Printer {
    /// Writes the whole of `profile` to `out`, in chunks of some hundred kilobytes: `out` needs no buffer of its own.
    /// The bytes depend on the profile and the options only, not on the number of threads.
    ///
    /// # Errors
    /// Where writing to `out` fails: its error, unchanged.
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()>;
}
