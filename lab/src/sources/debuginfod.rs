//! Check with a real `debuginfod` on the loopback, which serves a removed program with its debug information.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use xtask::command;

use super::{Bench, all_known, none_known};

/// Runs the check.
pub(super) fn check(bench: &Bench) -> Result<String> {
    let full = bench.program("served/spin", "-Wl,--build-id")?;
    let stripped = bench.scratch.join("spin");
    command::run(Command::new("strip").arg("-o").arg(&stripped).arg(&full))?;
    let data = bench.record("--buildid-mmap --no-buildid-cache", &["./spin"])?;
    std::fs::remove_file(&stripped)?;
    none_known(bench.known(&data, &[])?, "without a server")?;

    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let option = format!("--debuginfod=http://127.0.0.1:{port}");
    let mut server = serve(&bench.scratch.join("served"), port)?;
    let result = with_server(bench, &full, &data, &option, port);
    server.kill()?;
    server.wait()?;
    result?;

    all_known(bench.known(&data, &[&option])?, "from the cache of the first run")?;
    std::fs::remove_dir_all(bench.scratch.join("fetched"))?;
    let begin = Instant::now();
    // A server that does not answer is a finding.
    none_known(bench.known_with_status(&data, &[&option], 1)?, "without server and cache")?;
    if begin.elapsed() > Duration::from_secs(10) {
        bail!("a server that is gone held the run up for {:?}", begin.elapsed());
    }
    Ok("program and debug information fetched, kept, and done without".to_owned())
}

fn serve(folder: &Path, port: u16) -> Result<Child> {
    let mut server = command::words("debuginfod --database=:memory: --fdcache-mbs=16 --port");
    server.arg(port.to_string()).arg("--scan-file-dir").arg(folder);
    command::announce(&server);
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    server.spawn().context("debuginfod")
}

fn with_server(bench: &Bench, full: &Path, data: &Path, option: &str, port: u16) -> Result<()> {
    let notes = command::quiet_output(Command::new("readelf").arg("-n").arg(full))?;
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: "));
    let id = id.context("the program has no build-id")?;
    let begin = Instant::now();
    while !has(port, id) {
        if begin.elapsed() > Duration::from_secs(60) {
            bail!("debuginfod does not know the program after a minute");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    all_known(bench.known(data, &[option])?, "from the server")
}

/// Returns true if the server has the debug information of a build-id.
fn has(port: u16, id: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET /buildid/{id}/debuginfo HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut start = [0; 16];
        stream.read_exact(&mut start)?;
        Ok(start.windows(5).any(|bytes| bytes == b" 200 "))
    };
    ask().unwrap_or(false)
}
