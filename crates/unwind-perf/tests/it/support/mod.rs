//! Shared by the tests: the recordings of `testdata`, recordings over real files, and runs of the command.

pub(crate) mod arrow;
pub(crate) mod cases;
pub(crate) mod mapped;
pub(crate) mod pty;
pub(crate) mod run;
