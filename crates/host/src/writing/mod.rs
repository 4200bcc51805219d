//! Files of this program: new ones, which appear when they are complete, temporary ones, and copies of streams.

pub(crate) mod draft;
pub(crate) mod growing;
pub(crate) mod leftovers;
pub(crate) mod new_file;
pub(crate) mod scratch;
pub(crate) mod stream_copy;
pub(crate) mod temporaries;
