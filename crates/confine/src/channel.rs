//! Messages over a Unix socket: a four-byte little-endian length, then JSON. Descriptors are attached to the first byte
//! of their message.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum number of descriptors per message: the recordings of a comparison, and its output.
const MOST_FILES: usize = 64;

/// Maximum length of a message in bytes. The rows of an answer have a lower limit.
const LONGEST: u32 = 256 << 20;

/// Returns a pair of connected sockets.
///
/// # Errors
/// If the system cannot create them.
pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
    UnixStream::pair()
}

/// Sending end.
#[derive(Debug)]
pub struct Sender(UnixStream);

impl Sender {
    /// Uses a connected socket.
    #[must_use]
    pub const fn new(socket: UnixStream) -> Self {
        Self(socket)
    }

    /// Sends a message with descriptors; the receiver gets duplicates of them.
    ///
    /// # Errors
    /// If the other end is closed.
    pub fn send(&mut self, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let length = u32::try_from(body.len()).ok().filter(|&length| length <= LONGEST);
        let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
        let head = length.to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::Error::other("the message has too many files"));
        }
        let sent = loop {
            match sendmsg(&self.0, &[IoSlice::new(&head)], &mut control, SendFlags::NOSIGNAL) {
                Err(rustix::io::Errno::INTR) => {}
                sent => break sent?,
            }
        };
        self.0.write_all(head.get(sent..).unwrap_or_default())?;
        self.0.write_all(&body)
    }
}

/// Receiving end.
#[derive(Debug)]
pub struct Receiver(UnixStream);

impl Receiver {
    /// Uses a connected socket.
    #[must_use]
    pub const fn new(socket: UnixStream) -> Self {
        Self(socket)
    }

    /// Returns the next message with its descriptors; `None` if the other end is closed.
    ///
    /// # Errors
    /// If the socket fails, or the data is not a valid message.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut head = [0; 4];
        let mut files = Vec::new();
        let mut have = 0;
        while have < head.len() {
            let got = self.receive_head(head.get_mut(have..).unwrap_or_default(), &mut files)?;
            match got {
                0 if have == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                got => have += got,
            }
        }
        let length = u32::from_le_bytes(head);
        if length > LONGEST {
            return Err(io::Error::other("the message is too long"));
        }
        // The buffer grows with the received data, not with the stated length.
        let mut body = Vec::new();
        let got = (&self.0).take(u64::from(length)).read_to_end(&mut body)?;
        if got < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((serde_json::from_slice(&body)?, files)))
    }

    fn receive_head(&self, head: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let mut parts = [IoSliceMut::new(head)];
        let got = loop {
            match recvmsg(self.0.as_fd(), &mut parts, &mut control, flags) {
                Err(rustix::io::Errno::INTR) => {}
                got => break got?,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(these) = message {
                files.extend(these);
            }
        }
        Ok(got.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn messages_bring_their_files() {
        let (front, worker) = pair().unwrap();
        let (mut sender, receiver) = (Sender::new(front), Receiver::new(worker));
        let (one, two) = (rustix::pipe::pipe().unwrap(), rustix::pipe::pipe().unwrap());
        sender.send(&"no file", &[]).unwrap();
        sender.send(&"two files", &[one.1.as_fd(), two.1.as_fd()]).unwrap();
        drop(sender);
        let (text, files) = receiver.receive::<String>().unwrap().unwrap();
        assert_eq!((text.as_str(), files.len()), ("no file", 0));
        let (text, files) = receiver.receive::<String>().unwrap().unwrap();
        assert_eq!((text.as_str(), files.len()), ("two files", 2));
        drop((one.1, two.1));
        for (file, (read, _)) in files.into_iter().zip([(one.0, 0), (two.0, 1)]) {
            File::from(file).write_all(b"hello").unwrap();
            let mut text = String::new();
            File::from(read).read_to_string(&mut text).unwrap();
            assert_eq!(text, "hello");
        }
        assert!(receiver.receive::<String>().unwrap().is_none());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [&b"\x05\0\0\0\"ab"[..], b"\xff\xff\xff\xff", b"\x01\0\0\0{", b"\x01\0"] {
            let (mut front, worker) = pair().unwrap();
            front.write_all(bytes).unwrap();
            drop(front);
            assert!(Receiver::new(worker).receive::<String>().is_err(), "{bytes:?}");
        }
    }
}
