//! Profiles and decoders that the tests share.

pub(crate) mod graphs;
pub(crate) mod sample_profile;
pub(crate) mod validator;
