//! A stream of bytes that can only be read once: a pipe, a FIFO, a socket, standard input.

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

/// A stream of bytes. For descriptors, the number of available bytes can be queried.
pub struct ByteStream {
    inner: StreamSource,
    /// Peeked bytes, to be read before all others.
    peeked: Vec<u8>,
    /// Copy of all read bytes.
    copy: Option<StreamCopy>,
}

enum StreamSource {
    Descriptor(File),
    Bytes(Box<dyn Read + Send>),
}

/// Availability of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ready {
    /// Number of bytes that can be read without blocking. 1 also for the end or an error.
    Bytes(usize),
    /// None arrived in time.
    NotYet,
    /// Unknown: a read may block.
    Unknown,
}

/// Capacity of a pipe, instead of 64 KiB: the writer does not block at once, and data is still cached when it is read.
/// Unprivileged users may set this size.
///
/// Source: `pipe(7)`, `/proc/sys/fs/pipe-max-size`.
const PIPE_BYTES: usize = 256 << 10;

impl ByteStream {
    /// Creates a stream from a descriptor, and enlarges a pipe if possible.
    #[must_use]
    pub fn of_descriptor(descriptor: OwnedFd) -> Self {
        // Other descriptors, and pipes beyond the user's quota, remain unchanged.
        let _ = fcntl_setpipe_size(&descriptor, PIPE_BYTES);
        Self {
            inner: StreamSource::Descriptor(File::from(descriptor)),
            peeked: Vec::new(),
            copy: None,
        }
    }

    /// Creates a stream from a reader with unknown blocking behaviour.
    #[must_use]
    pub fn of_reader(bytes: impl Read + Send + 'static) -> Self {
        Self { inner: StreamSource::Bytes(Box::new(bytes)), peeked: Vec::new(), copy: None }
    }

    /// Creates a stream from standard input. Nothing else may read it afterwards.
    ///
    /// # Errors
    /// If it is closed.
    pub fn standard_input() -> io::Result<Self> {
        Ok(Self::of_descriptor(io::stdin().as_fd().try_clone_to_owned()?))
    }

    /// Appends up to `most` bytes, fewer only at the end of the stream; returns their number.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        bytes.extend(self.peeked.drain(..most.min(self.peeked.len())));
        let most = most - (bytes.len() - before);
        let read = self.inner.read_up_to(most, bytes);
        if let Some(copy) = &self.copy {
            copy.add(bytes.get(before..).unwrap_or_default());
        }
        read.map(|_| bytes.len() - before)
    }

    /// Returns the first `most` bytes, fewer at the end of the stream,
    /// without consuming them. Blocks until they arrive.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn peek(&mut self, most: usize) -> io::Result<&[u8]> {
        let missing = most.saturating_sub(self.peeked.len());
        self.inner.read_up_to(missing, &mut self.peeked)?;
        Ok(self.peeked.get(..most).unwrap_or(&self.peeked))
    }

    /// Returns the source of the bytes as a plain reader.
    #[must_use]
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match (self.inner, &self.copy) {
            (StreamSource::Descriptor(file), None) if self.peeked.is_empty() => Box::new(file),
            (StreamSource::Bytes(reader), None) if self.peeked.is_empty() => reader,
            (inner, _) => Box::new(Self { inner, peeked: self.peeked, copy: self.copy }),
        }
    }

    /// Also writes all read bytes to a file.
    #[must_use]
    pub fn copied_to(mut self, file: NewFile) -> (Self, StreamCopy) {
        let copy = StreamCopy::new(file);
        self.copy = Some(copy.clone());
        (self, copy)
    }

    /// Also writes all read bytes to a file that another process opened and will name.
    #[must_use]
    pub fn copied_into(mut self, file: File) -> (Self, StreamCopy) {
        let copy = StreamCopy::inherited(file);
        self.copy = Some(copy.clone());
        (self, copy)
    }

    /// Returns the number of bytes that can be read without blocking, waiting up to `wait` for the first of them.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn ready(&self, wait: Duration) -> io::Result<Ready> {
        if !self.peeked.is_empty() {
            return Ok(Ready::Bytes(self.peeked.len()));
        }
        let StreamSource::Descriptor(file) = &self.inner else { return Ok(Ready::Unknown) };
        // Sockets and devices may not know the number, which is not an error.
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

impl StreamSource {
    /// Appends up to `most` bytes, fewer only at the end.
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
            _ if !self.peeked.is_empty() => {
                let read = self.peeked.as_slice().read(bytes)?;
                self.peeked.drain(..read);
                read
            }
            StreamSource::Descriptor(file) => file.read(bytes)?,
            StreamSource::Bytes(reader) => reader.read(bytes)?,
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
            StreamSource::Descriptor(_) => "ByteStream(descriptor)",
            StreamSource::Bytes(_) => "ByteStream(reader)",
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
        // More than the capacity of a default pipe.
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
