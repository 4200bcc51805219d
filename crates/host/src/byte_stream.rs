//! Bytes that come one after another and only once: a pipe, a FIFO, a socket, standard input.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionread};
use rustix::pipe::fcntl_setpipe_size;

use crate::writing::new_file::NewFile;
use crate::writing::stream_copy::StreamCopy;

/// Bytes that come one after another. Of those that come by a descriptor it can be known whether more are there.
pub struct ByteStream {
    inner: Inner,
    /// What was looked at, and is read again before all else.
    ahead: Vec<u8>,
    /// Gets all that is read.
    copy: Option<StreamCopy>,
}

enum Inner {
    Descriptor(File),
    Bytes(Box<dyn Read + Send>),
}

/// Whether bytes can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// So many can be read without waiting. One, too, where the end is there, or an error.
    Bytes(usize),
    /// None came by then.
    NotYet,
    /// That cannot be known: a read may wait.
    Unknown,
}

/// How many bytes a pipe is made to hold, instead of 64 KiB: who writes need not wait at once while nobody reads, and what
/// is written is still in the caches when it is read. Any user may have as many.
///
/// Source: `pipe(7)`, `/proc/sys/fs/pipe-max-size`.
const PIPE_BYTES: usize = 256 << 10;

impl ByteStream {
    /// What can be read from a descriptor. A pipe is enlarged, where that is possible.
    #[must_use]
    pub fn of_descriptor(descriptor: OwnedFd) -> Self {
        // What is no pipe, or a pipe of somebody who has too many, stays as it is.
        let _ = fcntl_setpipe_size(&descriptor, PIPE_BYTES);
        Self { inner: Inner::Descriptor(File::from(descriptor)), ahead: Vec::new(), copy: None }
    }

    /// What comes from a reader, of which nobody knows whether it would wait.
    #[must_use]
    pub fn of_reader(bytes: impl Read + Send + 'static) -> Self {
        Self { inner: Inner::Bytes(Box::new(bytes)), ahead: Vec::new(), copy: None }
    }

    /// Standard input. Nothing else may read it from then on.
    ///
    /// # Errors
    /// Where it is closed.
    pub fn standard_input() -> io::Result<Self> {
        Ok(Self::of_descriptor(io::stdin().as_fd().try_clone_to_owned()?))
    }

    /// Adds bytes to others until there are so many more, or the end; gives how many it were.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        bytes.extend(self.ahead.drain(..most.min(self.ahead.len())));
        let most = most - (bytes.len() - before);
        let read = self.inner.read_up_to(most, bytes);
        if let Some(copy) = &self.copy {
            copy.add(bytes.get(before..).unwrap_or_default());
        }
        read.map(|_| bytes.len() - before)
    }

    /// The first bytes, so many or up to the end, which stay to be read. Waits for them.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn peek(&mut self, most: usize) -> io::Result<&[u8]> {
        let missing = most.saturating_sub(self.ahead.len());
        self.inner.read_up_to(missing, &mut self.ahead)?;
        Ok(self.ahead.get(..most).unwrap_or(&self.ahead))
    }

    /// What the bytes come from, to be read alone.
    #[must_use]
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match (self.inner, &self.copy) {
            (Inner::Descriptor(file), None) if self.ahead.is_empty() => Box::new(file),
            (Inner::Bytes(reader), None) if self.ahead.is_empty() => reader,
            (inner, _) => Box::new(Self { inner, ahead: self.ahead, copy: self.copy }),
        }
    }

    /// The same stream; all that is read of it is written to a file, too.
    #[must_use]
    pub fn copied_to(mut self, file: NewFile) -> (Self, StreamCopy) {
        let copy = StreamCopy::new(file);
        self.copy = Some(copy.clone());
        (self, copy)
    }

    /// The same for a file that somebody else has opened, and gives its name.
    #[must_use]
    pub fn copied_into(mut self, file: File) -> (Self, StreamCopy) {
        let copy = StreamCopy::handed(file);
        self.copy = Some(copy.clone());
        (self, copy)
    }

    /// How many bytes can be read without waiting, if need be after waiting so long for the first of them.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn ready(&self, wait: Duration) -> io::Result<Ready> {
        if !self.ahead.is_empty() {
            return Ok(Ready::Bytes(self.ahead.len()));
        }
        let Inner::Descriptor(file) = &self.inner else { return Ok(Ready::Unknown) };
        // Sockets and devices may not know how many, which is no error.
        let waiting = || usize::try_from(ioctl_fionread(file).unwrap_or(0)).unwrap_or(usize::MAX);
        let there = waiting();
        if there > 0 {
            return Ok(Ready::Bytes(there));
        }
        let wait = Timespec {
            tv_sec: wait.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => Ok(Ready::NotYet),
            Ok(_) => Ok(Ready::Bytes(waiting().max(1))),
            Err(error) => Err(error.into()),
        }
    }
}

impl Inner {
    /// Adds so many bytes, or those up to the end.
    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Descriptor(file) => file.take(most as u64).read_to_end(bytes),
            Self::Bytes(reader) => reader.take(most as u64).read_to_end(bytes),
        }
    }
}

impl Read for ByteStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.inner {
            _ if !self.ahead.is_empty() => {
                let read = self.ahead.as_slice().read(bytes)?;
                self.ahead.drain(..read);
                read
            }
            Inner::Descriptor(file) => file.read(bytes)?,
            Inner::Bytes(reader) => reader.read(bytes)?,
        };
        if let Some(copy) = &self.copy {
            copy.add(bytes.get(..read).unwrap_or_default());
        }
        Ok(read)
    }

    fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        self.read_up_to(usize::MAX, bytes)
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner {
            Inner::Descriptor(_) => "ByteStream(descriptor)",
            Inner::Bytes(_) => "ByteStream(reader)",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;

    #[test]
    fn a_pipe_says_what_is_there() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut stream = ByteStream::of_descriptor(reader.into());
        assert_eq!(stream.ready(AT_ONCE).expect("known"), Ready::NotYet);
        assert_eq!(stream.ready(Duration::from_millis(1)).expect("known"), Ready::NotYet);
        // More than a pipe holds unless it was enlarged.
        let sent = vec![7; 200_000];
        writer.write_all(&sent).expect("written");
        assert_eq!(stream.ready(AT_ONCE).expect("known"), Ready::Bytes(200_000));
        let mut read = Vec::new();
        assert_eq!(stream.read_up_to(200_000, &mut read).expect("read"), 200_000);
        assert_eq!(read, sent);
        drop(writer);
        assert_eq!(stream.ready(Duration::from_secs(9)).expect("known"), Ready::Bytes(1));
        assert_eq!(stream.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    fn of_other_readers_nothing_is_known() {
        let mut stream = ByteStream::of_reader(&b"abc"[..]);
        assert_eq!(stream.ready(AT_ONCE).expect("known"), Ready::Unknown);
        let mut read = Vec::new();
        assert_eq!(stream.read_to_end(&mut read).expect("read"), 3);
        assert_eq!(read, b"abc");
    }

    #[test]
    fn what_was_looked_at_is_read_again() {
        let mut stream = ByteStream::of_reader(&b"abcdef"[..]);
        assert_eq!(stream.peek(2).expect("bytes"), b"ab");
        assert_eq!(stream.peek(4).expect("bytes"), b"abcd");
        assert_eq!(stream.ready(AT_ONCE).expect("known"), Ready::Bytes(4));
        let mut read = [0; 3];
        assert_eq!(stream.read(&mut read).expect("read"), 3);
        assert_eq!(&read, b"abc");
        let mut rest = Vec::new();
        assert_eq!(stream.read_up_to(2, &mut rest).expect("read"), 2);
        assert_eq!(rest, b"de");
        assert_eq!(stream.peek(9).expect("the end"), b"f");
        stream.into_reader().read_to_end(&mut rest).expect("read");
        assert_eq!(rest, b"def");
    }
}
