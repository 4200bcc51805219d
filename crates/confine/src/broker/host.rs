//! The host of a confined process: its broker opens the files.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use host::{
    ByteStream, DirEntry, Distrust, FileOwner, FileStamp, FileStat, Host, HostError, HostFile,
    HostText, Origin, RecordedFile,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::request::{Answer, HostReply, HostRequest, Query};
use crate::{Receiver, Sender};

/// A connection to the broker, whose requests wait for each other.
#[derive(Clone, Debug)]
pub struct Channel(Arc<Mutex<(Sender, Receiver)>>);

impl Channel {
    /// Uses a socket whose other end answers each message by one.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn new(socket: UnixStream) -> io::Result<Self> {
        let receiver = Receiver::new(socket.try_clone()?);
        Ok(Self(Arc::new(Mutex::new((Sender::new(socket), receiver)))))
    }

    /// Sends a request, and returns the reply with its descriptor.
    ///
    /// # Errors
    /// If the other end is closed, or replies with something else.
    pub fn request<T: DeserializeOwned>(
        &self,
        request: &impl Serialize,
    ) -> io::Result<(T, Option<OwnedFd>)> {
        let mut channel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, receiver) = &mut *channel;
        sender.send(request, &[])?;
        let (reply, files) = receiver.receive()?.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((reply, files.into_iter().next()))
    }
}

/// Wraps a request for a file as the message of a channel.
type Wrap<M> = fn(HostRequest) -> M;

/// A host whose files are opened by the broker. It has the clocks and the environment of this process.
pub struct BrokeredHost<M> {
    channel: Channel,
    wrap: Wrap<M>,
    /// The host of the process before it was confined.
    inner: Arc<dyn Host>,
    vdso: Option<Vec<u8>>,
}

impl<M: Serialize> BrokeredHost<M> {
    /// Uses a channel, whose messages `wrap` makes of requests. Create it before the process is confined: `inner`
    /// supplies the vdso.
    #[must_use]
    pub fn new(channel: Channel, wrap: Wrap<M>, inner: Arc<dyn Host>) -> Self {
        let vdso = inner.running_vdso();
        Self { channel, wrap, inner, vdso }
    }

    fn request(
        &self,
        path: &Path,
        origin: Origin<'_>,
        query: Query,
    ) -> Result<(Answer, Option<OwnedFd>), HostError> {
        let request = (self.wrap)(HostRequest::new(path, origin, query));
        let io = |source| HostError::Io { path: path.to_owned(), source };
        let (HostReply(answer), file) = self.channel.request(&request).map_err(io)?;
        match answer {
            Answer::Failed(failure) => Err(failure.error(path)),
            answer => Ok((answer, file)),
        }
    }

    fn file(&self, path: &Path, origin: Origin<'_>) -> Result<(File, FileOwner), HostError> {
        match self.request(path, origin, Query::File)? {
            (Answer::File(owner), Some(file)) => Ok((File::from(file), owner)),
            _ => Err(other_reply(path)),
        }
    }
}

/// Returns the error of a reply to another request.
fn other_reply(path: &Path) -> HostError {
    let source = io::Error::other("the broker replied to another request");
    HostError::Io { path: path.to_owned(), source }
}

impl<M: Serialize> Host for BrokeredHost<M> {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        HostFile::of(path, &self.file(path, origin)?.0)
    }

    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_cached: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        let (file, _) = self.file(path, origin)?;
        let stamp = FileStamp::of(path, &file)?;
        if is_cached(&stamp) { Ok(None) } else { HostFile::of(path, &file).map(Some) }
    }

    fn descriptor(&self, path: &Path, origin: Origin<'_>) -> Result<File, HostError> {
        Ok(self.file(path, origin)?.0)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let (file, owner) = self.file(path, origin)?;
        HostText::of(path, file, owner)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        let (file, _) = self.file(path, origin)?;
        Ok(ByteStream::of_descriptor(file.into()))
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        match self.request(path, origin, Query::Stat)?.0 {
            Answer::Stat(stat) => Ok(stat),
            _ => Err(other_reply(path)),
        }
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        match self.request(path, origin, Query::RecordedFile)?.0 {
            Answer::RecordedFile(file) => Ok(file),
            _ => Err(other_reply(path)),
        }
    }

    fn owner(&self, path: &Path, origin: Origin<'_>) -> Result<FileOwner, HostError> {
        match self.request(path, origin, Query::Owner)?.0 {
            Answer::Owner(owner) => Ok(owner),
            _ => Err(other_reply(path)),
        }
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        match self.request(path, origin, Query::List)?.0 {
            Answer::Entries(entries) => Ok(entries),
            _ => Err(other_reply(path)),
        }
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        self.vdso.clone()
    }

    fn clock(&self, id: i32) -> Option<u64> {
        self.inner.clock(id)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.inner.variable(name)
    }

    /// A folder that the broker does not answer for is not trusted.
    fn distrust(&self, folder: &Path) -> Option<Distrust> {
        match self.request(folder, Origin::User, Query::Distrust) {
            Ok((Answer::Distrust(distrust), _)) => distrust.map(Into::into),
            _ => Some(Distrust::Writable { path: folder.to_owned(), mode: 0o777 }),
        }
    }
}

impl<M> fmt::Debug for BrokeredHost<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokeredHost").field("channel", &self.channel).finish_non_exhaustive()
    }
}
