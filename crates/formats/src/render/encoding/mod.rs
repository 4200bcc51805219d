//! Encodings that several outputs share.

pub(crate) mod gzip;
pub(crate) mod json_writer;
pub(crate) mod protobuf;
