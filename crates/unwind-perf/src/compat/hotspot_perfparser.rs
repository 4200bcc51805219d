//! `hotspot-perfparser`: hotspot's backend, with the options and exit statuses that hotspot expects.
//!
//! hotspot starts the program in `HOTSPOT_PERFPARSER` as `hotspot-perfparser --input RECORDING --max-frames N`, with
//! further options that its user set, and reads the stream from standard output.

use std::fmt;
use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use address::Arch;
use clap::Parser;
use clap::error::ErrorKind;
use host::ByteStream;
use perf_data::Error;
use pipeline::{FileSearch, Options, Servers, Source, StreamOptions, servers_of_environment};

use crate::args::{host, source};
use crate::commands::on_pool;
use crate::hotspot::{self, BufferTooSmall, HotspotJob, NoArchitecture};
use crate::terminal::{Status, is_closed_pipe, shown};

/// Turn a recording of perf into the stream that hotspot reads.
///
/// Exit status: 0 success, 1 the peer cannot be reached or closed the connection, 2 a file cannot be opened, 3 not a
/// recording, 4 bad header, 5 the recording is damaged and has no readable sample, 6 the processor of the recording is not
/// known, 7 bad option, 8 the buffer is too small.
#[derive(Debug, Parser)]
#[command(name = "hotspot-perfparser", version, max_term_width = 100)]
struct Arguments {
    /// The recording [default: standard input]
    #[arg(long, value_name = "FILE", conflicts_with = "host")]
    input: Option<PathBuf>,

    /// Receive the recording from this host
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// The port of the host
    #[arg(long, value_name = "PORT", default_value_t = 9327)]
    port: u16,

    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Look for recorded paths below DIR
    #[arg(long, value_name = "DIR")]
    sysroot: Option<PathBuf>,

    /// Directories of separate debug files, separated by colons
    #[arg(long, value_name = "DIRS", value_delimiter = ':')]
    debug: Vec<PathBuf>,

    /// Directories to search for libraries by name, with all below them, separated by colons
    #[arg(long, value_name = "DIRS", value_delimiter = ':')]
    extra: Vec<PathBuf>,

    /// A directory to search for the program by name, with all below it
    #[arg(long, value_name = "DIR")]
    app: Option<PathBuf>,

    /// Processor of a recording that does not name it, as printed by uname -m
    #[arg(long, value_name = "NAME", value_parser = parse_arch)]
    arch: Option<Processor>,

    /// Take kernel names from FILE
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,

    /// A directory with the perf-PID.map files of JIT compilers
    #[arg(long, value_name = "DIR")]
    perf_map_path: Option<PathBuf>,

    /// Limit of the frames of a callchain; -1 for no limit
    #[arg(long, value_name = "N", default_value_t = 64, allow_negative_numbers = true)]
    max_frames: i64,

    /// Print a summary instead of the stream
    #[arg(long)]
    print_stats: bool,

    /// KiB of a streamed recording that are sorted at a time; 0 for each flush of the recorder [default: 32768]
    #[arg(long, value_name = "KB")]
    buffer_size: Option<u64>,

    /// KiB of a streamed recording that may be held back for sorting [default: 1048576]
    #[arg(long, value_name = "KB")]
    max_buffer_size: Option<u64>,
}

/// A processor by its name.
#[derive(Debug, Clone)]
struct Processor {
    name: String,
    arch: Arch,
}

fn parse_arch(name: &str) -> Result<Processor, String> {
    match Arch::from_uname(name.as_bytes()) {
        Some(arch) => Ok(Processor { name: name.to_owned(), arch }),
        None => Err("unknown processor; known are for example x86_64 and aarch64".to_owned()),
    }
}

/// Exit statuses that hotspot understands.
const SOCKET_ERROR: u8 = 1;
const CANNOT_OPEN: u8 = 2;
const BAD_MAGIC: u8 = 3;
const BAD_HEADER: u8 = 4;
const BAD_DATA: u8 = 5;
const MISSING_DATA: u8 = 6;
const INVALID_OPTION: u8 = 7;
const BUFFER_ERROR: u8 = 8;

/// A peer that cannot be read.
#[derive(Debug)]
struct PeerError(String, std::io::Error);

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read from {}", self.0)
    }
}

impl std::error::Error for PeerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.1)
    }
}

/// Damage that left no sample.
#[derive(Debug)]
struct NoSamplesLeft;

impl fmt::Display for NoSamplesLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the recording is damaged; no part of it is readable")
    }
}

impl std::error::Error for NoSamplesLeft {}

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the streams are closed, the message cannot be printed.
            let _ = error.print();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(if asked { 0 } else { INVALID_OPTION });
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hotspot-perfparser: {}", shown(&format!("{error:#}")));
            ExitCode::from(status(&error))
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let peer = arguments.host.as_ref().map(|host| format!("{host}:{}", arguments.port));
    let source = match (&peer, &arguments.host) {
        (Some(name), Some(host)) => {
            let peer =
                connect(host, arguments.port).map_err(|error| PeerError(name.clone(), error))?;
            Source::Stream { name: name.into(), bytes: ByteStream::of_reader(peer) }
        }
        _ => source(arguments.input.as_deref().unwrap_or(Path::new("-"))),
    };
    let job = HotspotJob {
        functions: None,
        source,
        options: options(arguments),
        stream: StreamOptions {
            needs_arch: true,
            arch: arguments.arch.as_ref().map(|processor| processor.arch),
            batch_bytes: arguments.buffer_size.map(|size| size.saturating_mul(1024)),
            pending_bytes: arguments.max_buffer_size.map(|size| size.saturating_mul(1024)),
            ..StreamOptions::default()
        },
        output: arguments.output.as_deref(),
        map_files: &[],
        quiet: true,
        verbose: false,
        progress_lines: false,
        timings: false,
        statistics: arguments.print_stats,
    };
    let outcome = on_pool(0, || hotspot::run(job))?;
    if let Some(named) = &arguments.arch
        && let Some(recorded) = outcome.arch.filter(|recorded| *recorded != named.arch)
    {
        eprintln!(
            "hotspot-perfparser: --arch is {}, but the recording is of {recorded:?}, which is used",
            named.name
        );
    }
    if outcome.peer_broke {
        let name = peer.unwrap_or_default();
        return Err(PeerError(name, std::io::ErrorKind::ConnectionReset.into()).into());
    }
    if outcome.status == Status::Damaged && outcome.samples == 0 {
        return Err(NoSamplesLeft.into());
    }
    Ok(())
}

/// Maximum time without data from the peer. A recorder that waits for its program sends rounds of its buffers more
/// often.
const SILENCE: Duration = Duration::from_secs(600);
/// Maximum time for a peer to answer, and to send its first data.
const CONNECT: Duration = Duration::from_secs(30);

/// A connection with time limits.
#[derive(Debug)]
struct Peer {
    stream: TcpStream,
    has_sent: bool,
}

impl Read for Peer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer);
        if !self.has_sent && read.is_ok() {
            self.has_sent = true;
            self.stream.set_read_timeout(Some(SILENCE))?;
        }
        // Source: socket(7): a read that timed out reports that it would block.
        read.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                io::Error::new(io::ErrorKind::TimedOut, "the other side does not answer")
            }
            _ => error,
        })
    }
}

/// Connects to the first of the peer's addresses that answers.
fn connect(host: &str, port: u16) -> io::Result<Peer> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(peer) => {
                peer.set_read_timeout(Some(CONNECT))?;
                return Ok(Peer { stream: peer, has_sent: false });
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Returns the options of the run.
fn options(arguments: &Arguments) -> Options {
    let extra = arguments.app.iter().chain(&arguments.extra);
    Options {
        files: FileSearch {
            sysroots: arguments.sysroot.iter().cloned().collect(),
            debug_dirs: arguments.debug.clone(),
            extra_dirs: extra.cloned().collect(),
            perf_map_dirs: arguments.perf_map_path.iter().cloned().collect(),
            // hotspot sets the variable if its user named servers.
            debuginfod: servers(),
            kallsyms: arguments.kallsyms.clone(),
            ..FileSearch::default()
        },
        max_frames: max_frames(arguments.max_frames),
        // hotspot shows the command to the user of the recording and shares no file.
        with_arguments: true,
        ..Options::default()
    }
}

/// Returns the servers of the environment, if this build can query any.
fn servers() -> Servers {
    if cfg!(feature = "debuginfod") { servers_of_environment(&*host()) } else { Servers::default() }
}

/// Returns the limit of frames: at least one; a negative number means no limit.
fn max_frames(number: i64) -> NonZeroUsize {
    usize::try_from(number)
        .map_or(NonZeroUsize::MAX, |it| NonZeroUsize::new(it).unwrap_or(NonZeroUsize::MIN))
}

fn status(error: &anyhow::Error) -> u8 {
    if error.chain().any(|cause| cause.is::<PeerError>()) {
        return SOCKET_ERROR;
    }
    let timed_out = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
    if error.chain().filter_map(|cause| cause.downcast_ref()).any(timed_out) {
        return SOCKET_ERROR;
    }
    if error.chain().any(|cause| cause.is::<NoArchitecture>()) {
        return MISSING_DATA;
    }
    if error.chain().any(|cause| cause.is::<BufferTooSmall>()) {
        return BUFFER_ERROR;
    }
    let header = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    match header {
        Some(Error::NotPerfData { .. } | Error::EmptyStream) => BAD_MAGIC,
        Some(_) => BAD_HEADER,
        None if error.chain().any(|cause| cause.is::<NoSamplesLeft>()) => BAD_DATA,
        None => CANNOT_OPEN,
    }
}
