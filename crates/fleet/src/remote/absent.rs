//! Access to recordings at URLs in a build without it.

/// Access to recordings at URLs, which this build does not have.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Remote;
