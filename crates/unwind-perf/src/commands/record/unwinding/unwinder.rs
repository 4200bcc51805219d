//! The unwinder of a recording, a process of its own: a fault in it ends neither perf nor the program. It has no rights
//! but to read perf's stream, to write the files that the recorder created, and to ask the recorder for files with code.
//!
//! ```text
//!   perf ---- standard input ----> unwinder ---- callchains ----> file
//!                                     | standard output, a socket
//!                                  recorder
//! ```
#![allow(clippy::disallowed_methods, reason = "a place where another program is started")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context as _, anyhow};
use confine::{
    BrokeredHost, Channel, Confinement, Receiver, Sender, allow_preferred_threads, answer, confine,
    drop_privileges, pair,
};
use host::{ByteStream, Host, prefer_this_thread};
use perf_data::StreamSuccession;
use pipeline::{NameOptions, Observer, Options, Source, Unobserved};

use rustix::pipe::{PipeFlags, pipe_with};

use super::messages::{OutputKind, UnwinderMessage, UnwinderReply, UnwoundAccount};
use super::output::RecordingOutput;
use super::recording_files::{LocalFiles, RecordingFiles};
use super::unwound::write_unwound;
use crate::args::{host, pipeline_on};
use crate::commands::record::analyze;
use crate::terminal::Status;

/// Word of the command line that makes a process the unwinder.
const UNWIND: &str = "unwind-recording";

/// The processor quota of a container, which the number of threads depends on.
const READABLE: [&str; 2] = ["/proc/self/cgroup", "/sys/fs/cgroup"];

/// Account of a written recording.
#[derive(Debug)]
pub(super) struct WrittenRecording {
    /// Path of the last file.
    pub(super) path: PathBuf,
    /// Account of its samples.
    pub(super) account: UnwoundAccount,
}

/// The process that unwinds, and the thread that answers it.
pub(super) struct Unwinder {
    child: Child,
    serving: JoinHandle<ServedUnwinder>,
}

/// The end of an unwinder.
struct ServedUnwinder {
    files: LocalFiles,
    /// `None` if the unwinder ended before it had one.
    account: Option<UnwoundAccount>,
}

impl Unwinder {
    /// Starts to unwind the stream of perf into files of that kind.
    pub(super) fn start(
        stream: OwnedFd,
        files: LocalFiles,
        first: File,
        kind: OutputKind,
    ) -> io::Result<Self> {
        let (own, socket) = pair()?;
        // A group of its own: Ctrl-C ends perf, and then the stream.
        let child = Command::new(std::env::current_exe()?)
            .arg(UNWIND)
            .stdin(stream)
            .stdout(OwnedFd::from(socket))
            .process_group(0)
            .spawn()?;
        let served = ServedUnwinder { files, account: None };
        let serving = std::thread::spawn(move || served.serve(own, first, kind));
        Ok(Self { child, serving })
    }

    /// Waits for the end of the unwinder, which is that of its stream.
    pub(super) fn wait(mut self) -> WrittenRecording {
        let ended = self.child.wait();
        let Ok(ServedUnwinder { mut files, account }) = self.serving.join() else {
            let failed = Some("the unwinder cannot be answered".to_owned());
            let account = UnwoundAccount { failed, ..UnwoundAccount::default() };
            return WrittenRecording { path: PathBuf::new(), account };
        };
        let account = account.unwrap_or_else(|| {
            let ended = ended.map_or_else(|error| error.to_string(), |ended| ended.to_string());
            let failed = Some(format!("the unwinder ended early ({ended})"));
            // The file has the samples up to a second before.
            let analysis = analyze(files.path());
            let samples = analysis.map_or(0, |it| it.profile.samples.len() as u64);
            UnwoundAccount { samples, failed, ..UnwoundAccount::default() }
        });
        if account.samples == 0 {
            files.discard();
        }
        WrittenRecording { path: files.path().to_owned(), account }
    }
}

impl ServedUnwinder {
    /// Answers messages until the unwinder ends.
    fn serve(mut self, socket: UnixStream, first: File, kind: OutputKind) -> Self {
        let receiver = socket.try_clone().map(Receiver::new);
        let mut sender = Sender::new(socket);
        let Ok(receiver) = receiver else { return self };
        let host = host();
        let mut first = Some((first, kind));
        while let Ok(Some((message, _))) = receiver.receive::<UnwinderMessage>() {
            let sent = match message {
                UnwinderMessage::Host(request) => {
                    let (reply, file) = answer(&*host, &request);
                    let file = file.as_ref().map(|file| file.as_fd());
                    sender.send(&reply, file.as_slice())
                }
                message => {
                    let (reply, file) = self.reply(message, &mut first);
                    let file = file.as_ref().map(|file| file.as_fd());
                    sender.send(&reply, file.as_slice())
                }
            };
            if sent.is_err() {
                break;
            }
        }
        self
    }

    /// Returns the reply to a message about the output.
    fn reply(
        &mut self,
        message: UnwinderMessage,
        first: &mut Option<(File, OutputKind)>,
    ) -> (UnwinderReply, Option<File>) {
        let failed = |error: io::Error| UnwinderReply::Failed(error.to_string());
        let done =
            |done: io::Result<()>| (done.map_or_else(failed, |()| UnwinderReply::Done), None);
        match message {
            UnwinderMessage::Begin => match first.take() {
                Some((file, kind)) => (UnwinderReply::Output(kind), Some(file)),
                None => (UnwinderReply::Done, None),
            },
            UnwinderMessage::IsDue => {
                (self.files.is_due().map_or_else(failed, UnwinderReply::IsDue), None)
            }
            UnwinderMessage::Omitted => done(self.files.omitted()),
            UnwinderMessage::Next(len) => match self.files.next(len) {
                Ok(file) => (UnwinderReply::File, Some(file)),
                Err(error) => (failed(error), None),
            },
            UnwinderMessage::StackSize(bytes) => {
                (UnwinderReply::File, self.files.start_second(bytes).map(File::from))
            }
            UnwinderMessage::Completed(written) => done(self.files.completed(written)),
            UnwinderMessage::Grown(len) => done(self.files.grown(len)),
            UnwinderMessage::Ended(account) => {
                self.account = Some(account);
                (UnwinderReply::Done, None)
            }
            // Answered by the host.
            UnwinderMessage::Host(_) => (UnwinderReply::Done, None),
        }
    }
}

/// Files that the recorder creates.
#[derive(Debug)]
struct RecorderFiles {
    channel: Channel,
    /// Lets another stream follow the first one.
    succession: StreamSuccession,
}

impl RecorderFiles {
    fn request(&self, message: &UnwinderMessage) -> io::Result<(UnwinderReply, Option<OwnedFd>)> {
        let (reply, file) = self.channel.request(message)?;
        match reply {
            UnwinderReply::Failed(error) => Err(io::Error::other(error)),
            reply => Ok((reply, file)),
        }
    }
}

impl RecordingFiles for RecorderFiles {
    fn is_due(&mut self) -> io::Result<bool> {
        let (reply, _) = self.request(&UnwinderMessage::IsDue)?;
        Ok(matches!(reply, UnwinderReply::IsDue(true)))
    }

    fn next(&mut self, len: u64) -> io::Result<File> {
        let (_, file) = self.request(&UnwinderMessage::Next(len))?;
        Ok(File::from(file.ok_or(io::ErrorKind::BrokenPipe)?))
    }

    fn omitted(&mut self) -> io::Result<()> {
        self.request(&UnwinderMessage::Omitted).map(drop)
    }

    fn completed(&mut self, written: Result<u64, String>) -> io::Result<()> {
        self.request(&UnwinderMessage::Completed(written)).map(drop)
    }

    fn grown(&mut self, len: u64) -> io::Result<()> {
        self.request(&UnwinderMessage::Grown(len)).map(drop)
    }

    fn stack_size(&mut self, bytes: u32) -> io::Result<()> {
        let (_, stream) = self.request(&UnwinderMessage::StackSize(bytes))?;
        if let Some(stream) = stream {
            self.succession.follow(File::from(stream));
        }
        Ok(())
    }
}

/// Returns standard input, and the stream that may follow it.
fn continued(succession: &StreamSuccession) -> io::Result<ByteStream> {
    let (out, copy) = pipe_with(PipeFlags::CLOEXEC)?;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let succession = succession.clone();
    // The reader of a stream that cannot be copied gets its end.
    std::thread::spawn(move || {
        prefer_this_thread();
        drop(succession.copy(input, File::from(copy)));
    });
    Ok(ByteStream::of_descriptor(out))
}

/// Unwinds standard input as the recorder at standard output asks.
pub(crate) fn unwind_recording() -> anyhow::Result<Status> {
    let socket = io::stdout().as_fd().try_clone_to_owned()?;
    let channel = Channel::new(UnixStream::from(socket))?;
    let succession = StreamSuccession::default();
    let files = RecorderFiles { channel: channel.clone(), succession: succession.clone() };
    let (reply, first) = files.request(&UnwinderMessage::Begin)?;
    let (UnwinderReply::Output(kind), Some(first)) = (reply, first) else {
        return Err(anyhow!("this process has no recorder; use unwind-perf record"));
    };
    let host: Arc<dyn Host> =
        Arc::new(BrokeredHost::new(channel.clone(), UnwinderMessage::Host, host()));
    allow_preferred_threads();
    drop_privileges().context("the unwinder cannot give up its rights")?;
    confine(&Confinement {
        memory: None,
        readable: READABLE.map(PathBuf::from).to_vec(),
        writable: Vec::new(),
        network: false,
        outlives_parent: true,
    })
    .context("the unwinder cannot be confined")?;
    let output = RecordingOutput::new(&kind, File::from(first), Box::new(files));
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let names = NameOptions { look_up: false, ..NameOptions::default() };
    let options = Options { names, ..Options::default() };
    let bytes = match kind.finds_stack_size {
        true => continued(&succession)?,
        false => ByteStream::standard_input()?,
    };
    let source = Source::Stream { name: PathBuf::from("the stream of perf"), bytes };
    let written = write_unwound(&pipeline_on(host), source, output, &options, &observer);
    let account = UnwoundAccount { overlap: succession.overlap(), ..written };
    // If the recorder is gone, nobody needs the account.
    let _ = channel.request::<UnwinderReply>(&UnwinderMessage::Ended(account));
    Ok(Status::Complete)
}
