//! The header of a recording as a profile, without reading its samples.

use host::Host;
use perf_data::{Findings, Session, SessionOptions};
use profile::Profile;

use super::assemble::{HeadSelection, add_head};
use super::input::{check_whole, open};
use crate::error::Error;
use crate::source::Source;

/// Returns the header as a profile without samples.
pub(crate) fn head(host: &dyn Host, source: Source) -> Result<Profile, Error> {
    let opened = open(host, source)?;
    let path = opened.path;
    let mut found = Findings::default();
    let session = Session::open(opened.input, SessionOptions::default(), &mut found)
        .map_err(|source| Error::Recording { path: path.clone(), source })?;
    let mut profile = Profile::default();
    add_head(&mut profile, session.head(), &HeadSelection::default());
    drop(session);
    check_whole(&path, &opened.damage)?;
    Ok(profile)
}
