//! What a dump of JIT code says: which code came to which address, and when.

use std::fmt;

use address::{Avma, FileOffset, Pid, Timestamp};
use budget::Exhausted;

/// Code that came to an address at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JitLoad {
    /// When, on the clock of the dump.
    pub time: Timestamp,
    /// The first address.
    pub start: Avma,
    /// How many bytes.
    pub len: u64,
    /// The offset of the code in the image that was made of the dump.
    pub offset: FileOffset,
}

/// What a dump says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JitDump {
    /// The time of its first record, on its clock; the process maps it shortly before that. 0 where its clock is no
    /// clock of nanoseconds: then all code is taken to exist from the beginning.
    pub begun: Timestamp,
    /// Loads and moves in the order of the dump.
    pub loads: Vec<JitLoad>,
}

/// Reads the dumps that processes mark by mapping them. It is asked once for each such file of a process, while the records
/// are replayed.
pub trait JitReader: fmt::Debug + Send + Sync {
    /// The dump of that path; `None` where there is none. The image of its code is to be provided to the image store under
    /// the same name.
    ///
    /// # Errors
    /// Where one file is read under so many names that it is not read again.
    fn read(&self, path: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted>;
}
