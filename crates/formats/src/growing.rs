//! Formats that print samples while their profile grows.

use std::io;
use std::ops::Range;

use profile::Profile;

use crate::format::Format;
#[cfg(feature = "arrow")]
use crate::formats::ArrowRows;
use crate::formats::Ndjson;
use crate::options::FormatOptions;

/// A printer that is called with each new range of samples.
#[derive(Debug)]
pub enum GrowingSamples {
    /// JSON lines.
    Ndjson(Ndjson),
    /// One Arrow IPC stream of record batches.
    #[cfg(feature = "arrow")]
    Arrow(Box<ArrowRows>),
}

impl GrowingSamples {
    /// Returns the printer of a format; `None` if the format needs the whole profile.
    #[must_use]
    pub fn new(format: Format, options: &FormatOptions) -> Option<Self> {
        match format {
            Format::Ndjson => Some(Self::Ndjson(Ndjson { inlines: options.inlines })),
            #[cfg(feature = "arrow")]
            Format::Arrow if options.rows => {
                Some(Self::Arrow(Box::new(ArrowRows::new(options.inlines))))
            }
            _ => None,
        }
    }

    /// Prints a range of the profile's samples.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn print(
        &mut self,
        profile: &Profile,
        samples: Range<usize>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match self {
            Self::Ndjson(lines) => lines.print_rows(profile, samples, out),
            #[cfg(feature = "arrow")]
            Self::Arrow(rows) => rows.write(profile, samples, out),
        }
    }

    /// Prints the end of the output, after the last sample.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    #[cfg_attr(not(feature = "arrow"), expect(unused_variables, reason = "lines have no end"))]
    pub fn finish(self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Ndjson(_) => Ok(()),
            #[cfg(feature = "arrow")]
            Self::Arrow(rows) => rows.finish(profile, out),
        }
    }
}
