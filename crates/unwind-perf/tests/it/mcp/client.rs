//! A client of `unwind-perf mcp`: that of the protocol's SDK, at the pipes of a child process.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::support::cases::sysroot;
use crate::support::run::{Ran, command, finish};

/// Far above the time of any call, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A running server with its client.
pub(crate) struct Client {
    runtime: Runtime,
    service: RunningService<RoleClient, ()>,
    child: Child,
}

impl Client {
    /// Starts the server for these recordings of cases, with the files that they were made with.
    pub(crate) fn of_cases(cases: &[&str]) -> Self {
        let folder = crate::support::cases::root().join("testdata/cases");
        let recordings: Vec<String> = cases.iter().map(|it| format!("{it}/perf.data")).collect();
        let sysroot = sysroot();
        let mut arguments = vec!["mcp", "--sysroot", sysroot.to_str().expect("UTF-8")];
        arguments.extend(recordings.iter().map(String::as_str));
        Self::of(&folder, &arguments)
    }

    /// Starts the server with these arguments.
    pub(crate) fn of(folder: &Path, arguments: &[&str]) -> Self {
        Self::started(command(folder, arguments))
    }

    /// Starts a command as a server.
    pub(crate) fn started(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let input = OwnedFd::from(child.stdin.take().expect("a pipe"));
        let output = OwnedFd::from(child.stdout.take().expect("a pipe"));
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let service = runtime.block_on(async {
            let output = Receiver::from_owned_fd(output).expect("a pipe");
            let input = Sender::from_owned_fd(input).expect("a pipe");
            timeout(LIMIT, ().serve((output, input))).await.expect("a server in time")
        });
        Self { runtime, service: service.expect("a server"), child }
    }

    /// Returns the tools.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.runtime.block_on(self.service.peer().list_all_tools()).expect("tools")
    }

    /// Returns the name of the server and its advice.
    pub(crate) fn about(&self) -> (String, String) {
        let info = self.service.peer().peer_info().expect("facts of the server");
        let name = info.server_info.as_ref().map(|server| server.name.clone());
        (name.unwrap_or_default(), info.instructions.clone().unwrap_or_default())
    }

    /// Calls a tool.
    pub(crate) fn call(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<CallToolResult, ServiceError> {
        let work = self.service.peer().call_tool(request(tool, arguments));
        self.runtime.block_on(async { timeout(LIMIT, work).await.expect("an answer in time") })
    }

    /// Calls a tool that answers, and returns its JSON and its text.
    #[track_caller]
    pub(crate) fn answer(&self, tool: &str, arguments: &Value) -> (Value, String) {
        let result = self.call(tool, arguments).expect("a result");
        assert_eq!(result.is_error, Some(false), "{tool} {arguments}: {result:?}");
        (result.structured_content.clone().expect("JSON"), text(&result))
    }

    /// Calls a tool that refuses, and returns its text.
    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments).expect("a result");
        assert_eq!(result.is_error, Some(true), "{tool} {arguments}: {result:?}");
        text(&result)
    }

    /// Closes the input of the server, and returns its status and its standard error.
    pub(crate) fn end(self) -> Ran {
        let Self { runtime, service, child } = self;
        runtime.block_on(service.cancel()).expect("an end of the client");
        drop(runtime);
        finish(child)
    }
}

fn request(tool: &str, arguments: &Value) -> CallToolRequestParams {
    let request = CallToolRequestParams::new(tool.to_owned());
    match arguments {
        Value::Object(arguments) => request.with_arguments(arguments.clone()),
        _ => request,
    }
}

fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|it| it.as_text()).map(|it| it.text.clone());
    texts.collect()
}
