//! Contents of a JIT dump: the loads of code to addresses, with times.

use std::fmt;

use address::{Avma, FileOffset, Pid, Timestamp};
use budget::Exhausted;

/// Code that was loaded to an address at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JitLoad {
    /// Time, on the clock of the dump.
    pub time: Timestamp,
    /// First address.
    pub start: Avma,
    /// Length in bytes.
    pub len: u64,
    /// Offset of the code in the image made of the dump.
    pub offset: FileOffset,
}

/// Contents of a dump.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JitDump {
    /// Time of the first record, on the dump's clock; the process maps the dump shortly before.
    /// 0 if the clock does not count nanoseconds: then all code counts as loaded from the beginning.
    pub begun: Timestamp,
    /// Loads and moves in dump order.
    pub loads: Vec<JitLoad>,
}

/// Reader of the dumps that processes mark by mapping them.
/// Called during the replay, once for each such file of a process.
pub trait JitReader: fmt::Debug + Send + Sync {
    /// Returns the dump at a path; `None` if there is none.
    /// The reader must provide the image of its code to the image store under the same name.
    ///
    /// # Errors
    /// [`Exhausted`] if one file was already read under too many names.
    fn read(&self, path: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted>;
}
