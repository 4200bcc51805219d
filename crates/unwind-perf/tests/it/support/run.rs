//! Runs of the built command with an empty environment, no input and a time limit, so that no test depends on its user,
//! and none hangs.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Far above the time of any test, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Exit status; a run that was ended by a signal has already failed the test.
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("UTF-8 on standard output")
    }

    /// Returns standard output as one JSON document.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).expect("JSON on standard output")
    }

    /// Returns standard output as one JSON value per line.
    pub(crate) fn lines(&self) -> Vec<serde_json::Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// Returns the run itself if its status is the expected one.
    #[track_caller]
    pub(crate) fn expect_status(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}", self.stderr);
        self
    }
}

/// Returns the command, to be started in `folder`.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unwind-perf"));
    command.args(arguments).current_dir(folder).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the path of a link to the command under the name of another program.
pub(crate) fn started_as(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    std::fs::create_dir_all(&folder).expect("a folder for links");
    let link = folder.join(name);
    // Parallel tests create the same link.
    match std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_unwind-perf"), &link) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{error}"),
        _ => link,
    }
}

/// Runs the command to its end.
#[track_caller]
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    finish(command(folder, arguments).spawn().expect("the command starts"))
}

/// Same as [`run`], with these bytes on standard input through a pipe.
#[track_caller]
pub(crate) fn run_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = command(folder, arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
    let (mut pipe, input) = (child.stdin.take().expect("a pipe"), input.to_vec());
    // A command that does not read to the end closes the pipe.
    let writer = thread::spawn(move || drop(pipe.write_all(&input)));
    let ran = finish(child);
    writer.join().expect("no panic");
    ran
}

/// Waits for the end of a run and collects its output.
#[track_caller]
pub(crate) fn finish(mut child: Child) -> Ran {
    let stdout = read_aside(child.stdout.take());
    let stderr = read_aside(child.stderr.take());
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the state of the command") {
            break status;
        }
        if begin.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("the command ran longer than {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let stderr = String::from_utf8_lossy(&stderr.join().expect("stderr")).into_owned();
    let Some(status) = status.code() else { panic!("{status}: {stderr}") };
    Ran { status, stdout: stdout.join().expect("stdout"), stderr }
}

fn read_aside(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("what the command prints");
        }
        bytes
    })
}

/// The thread of the test that has a folder, by the folder's name.
static FOLDERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());

/// Returns an empty folder for one test, below the build's target folder.
///
/// # Panics
/// If another test has a folder of that name: tests run in parallel.
#[track_caller]
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let this = thread::current().id();
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let owner = *folders.entry(name.to_owned()).or_insert(this);
    drop(folders);
    assert_eq!(owner, this, "the folder {name} belongs to another test");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Returns the files in a folder of the service, sorted, without its cache of names.
pub(crate) fn results(store: &Path) -> Vec<String> {
    listing(store).into_iter().filter(|name| name != "names").collect()
}

/// Returns the names of the files in a folder, sorted.
pub(crate) fn listing(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into())
        .collect();
    names.sort();
    names
}
