//! Containers: the runtime that knows the name is asked for the first process.
#![allow(clippy::disallowed_methods, reason = "a place where container runtimes are asked")]

use std::io;
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::terminal::shown;

/// A container runtime.
struct Runtime {
    /// Its command.
    program: &'static str,
    /// The arguments before the name of a container. The output is its id, unless the runtime has none, and the process
    /// id of its first process.
    inspect: &'static [&'static str],
}

/// Arguments of docker, and of the commands that are compatible with it.
const DOCKER: &[&str] = &["container", "inspect", "--format", "{{.Id}} {{.State.Pid}}", "--"];
/// Command for the Container Runtime Interface of Kubernetes.
const CRICTL: &str = "crictl";
/// The runtimes, in the order of the questions.
const RUNTIMES: [Runtime; 5] = [
    Runtime { program: "docker", inspect: DOCKER },
    Runtime { program: "podman", inspect: DOCKER },
    Runtime { program: "nerdctl", inspect: DOCKER },
    Runtime {
        program: CRICTL,
        inspect: &[
            "inspect",
            "--output",
            "go-template",
            "--template",
            "{{.status.id}} {{.info.pid}}",
            "--",
        ],
    },
    Runtime { program: "machinectl", inspect: &["show", "--property", "Leader", "--value", "--"] },
];

/// A running container.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct RunningContainer {
    /// Command of its runtime.
    pub(super) runtime: &'static str,
    /// Id of the container, which the path of its control group contains.
    pub(super) id: Option<String>,
    /// Process id of its first process.
    pub(super) pid: u32,
}

/// Answer of a runtime.
#[derive(PartialEq, Eq, Debug)]
enum Answer {
    Running {
        id: Option<String>,
        pid: u32,
    },
    Stopped,
    /// The runtime's first line about the reason.
    Unknown(String),
    NotInstalled,
}

/// Finds a running container by its name or id.
///
/// # Errors
/// If no runtime is installed, or if none runs the container; the message has the answer of each.
pub(super) fn find(name: &str) -> anyhow::Result<RunningContainer> {
    let (mut answers, mut missing) = (Vec::new(), Vec::new());
    for runtime in &RUNTIMES {
        let program = runtime.program;
        match runtime.ask(name) {
            Answer::Running { id, pid } => {
                return Ok(RunningContainer { runtime: program, id, pid });
            }
            Answer::Stopped => answers.push(format!("{program}: it is stopped")),
            Answer::Unknown(reason) => answers.push(format!("{program}: {reason}")),
            Answer::NotInstalled => missing.push(program),
        }
    }
    if answers.is_empty() {
        bail!("none of {} is installed; use --cgroup NAME", missing.join(", "));
    }
    if !missing.is_empty() {
        answers.push(format!("not installed: {}", missing.join(", ")));
    }
    bail!("no runtime runs it; {}", answers.join("; "))
}

impl Runtime {
    fn ask(&self, name: &str) -> Answer {
        let answer = answer_of(output(self.program, self.inspect, name));
        // Unlike the others, crictl inspects by id only.
        match answer {
            Answer::Unknown(reason) if self.program == CRICTL => match id_by_name(name) {
                Ids::None => Answer::Unknown(reason),
                Ids::One(id) => answer_of(output(self.program, self.inspect, &id)),
                Ids::Several(ids) => Answer::Unknown(format!("the name of {}", ids.join(", "))),
            },
            answer => answer,
        }
    }
}

/// Running containers with a name.
enum Ids {
    None,
    One(String),
    Several(Vec<String>),
}

fn id_by_name(name: &str) -> Ids {
    // crictl takes a regular expression. Names of Kubernetes have no other characters.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Ids::None;
    }
    let Ok(said) = output(CRICTL, &["ps", "--quiet"], &format!("--name=^{name}$")) else {
        return Ids::None;
    };
    let ids = String::from_utf8_lossy(&said.stdout);
    let ids: Vec<String> = ids.split_whitespace().map(shown).collect();
    match <[String; 1]>::try_from(ids) {
        Ok([id]) => Ids::One(id),
        Err(ids) if ids.is_empty() || !said.status.success() => Ids::None,
        Err(ids) => Ids::Several(ids),
    }
}

fn output(program: &str, words: &[&str], last: &str) -> io::Result<std::process::Output> {
    Command::new(program).args(words).arg(last).stdin(Stdio::null()).output()
}

fn answer_of(said: io::Result<std::process::Output>) -> Answer {
    let said = match said {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Answer::NotInstalled,
        Err(error) => return Answer::Unknown(error.to_string()),
    };
    let (out, errors) =
        (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let mut words = out.split_whitespace().rev();
    let pid = words.next().and_then(|pid| pid.parse().ok());
    match pid.filter(|_| said.status.success()) {
        Some(0) => Answer::Stopped,
        Some(pid) => Answer::Running { id: words.next().map(str::to_owned), pid },
        None => {
            let reason = errors.lines().map(str::trim).find(|line| !line.is_empty());
            let ended = || format!("no process id ({})", said.status);
            Answer::Unknown(reason.map_or_else(ended, shown))
        }
    }
}
