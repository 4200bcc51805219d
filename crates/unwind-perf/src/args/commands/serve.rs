//! The arguments of `serve`, and those that `live` shares with it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use options::{MemoryLimit, parse_memory};
use service::Listen;

use crate::args::groups::{FileArgs, SourceArgs};

/// The arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Recordings, or directories of recordings
    ///
    /// Default: this directory, unless --uploads is given.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Directory of recordings, as PATH; can be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Vec<PathBuf>,

    /// Limit of results on disk, such as 500M; the least recently used go first
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = parse_memory)]
    pub(crate) keep: u64,

    /// Accept uploaded recordings and store them in DIR
    ///
    /// Files that they name are not opened, except from build-id stores.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) uploads: Option<PathBuf>,

    /// Time limit for the work on one recording, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) deadline: u64,

    /// Do not analyse recordings before a request
    ///
    /// Otherwise the 50 newest recordings of this machine are analysed, one at a time and at low priority.
    #[arg(long)]
    pub(crate) no_background: bool,

    #[command(flatten)]
    pub(crate) front: FrontArgs,
}

/// The arguments of every command that serves.
#[derive(Debug, Args)]
pub(crate) struct FrontArgs {
    /// Address and port to listen on (port 0: a free one), or unix:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = parse_listen)]
    pub(crate) listen: Listen,

    /// Listen on an address that other machines reach, without encryption
    #[arg(long = "i-know-this-is-not-encrypted")]
    pub(crate) open: bool,

    /// Accept requests for host NAME, such as a proxy's, with its port; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host_name: Vec<String>,

    /// Address of a proxy, which may have more connections than others; can be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) trusted_proxy: Vec<IpAddr>,

    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Directory of results [default: unwind-perf/service in the user's cache folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) store: Option<PathBuf>,

    /// Serve profiler.firefox.com with functions, sources and instructions
    ///
    /// The address for its parameter ?symbolServer= is printed.
    #[arg(long)]
    pub(crate) firefox: bool,

    /// Serve the files of recordings by build-id, as a debuginfod server
    ///
    /// Also those of --buildid-dir and --debug-dir, and sources below --source-dir. Its address is printed.
    #[arg(long)]
    pub(crate) debuginfod_server: bool,

    /// Read the token of the debuginfod server from FILE, so that its address stays the same
    ///
    /// One line of 32 to 128 letters, digits, - and _; other users must not be able to read FILE. Default: a new token.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "debuginfod_server")]
    pub(crate) debuginfod_token: Option<PathBuf>,

    /// Do not log requests on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Also log requests of pages for their files, and health checks
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) worker: WorkerArgs,
}

/// The options of the worker.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Memory limit of the process that reads recordings, such as 8G, or none
    ///
    /// A job that needs more fails. Default: 4G, or half of the memory of the machine or of its control group if that
    /// is less.
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub(crate) max_memory: Option<MemoryLimit>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

fn parse_listen(text: &str) -> Result<Listen, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return if path.is_empty() {
            Err("unix: needs the path of a socket".to_owned())
        } else {
            Ok(Listen::Unix(PathBuf::from(path)))
        };
    }
    let address = text.parse::<SocketAddr>();
    let address = address.map_err(|_| "expected ADDRESS:PORT or unix:PATH".to_owned())?;
    Ok(Listen::Tcp(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let address = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 80)));
        assert_eq!(parse_listen("127.0.0.1:80"), Ok(address));
        assert_eq!(parse_listen("unix:/run/x"), Ok(Listen::Unix("/run/x".into())));
        for text in ["localhost", "80", "unix:", "127.0.0.1"] {
            assert!(parse_listen(text).is_err(), "{text}");
        }
    }
}
