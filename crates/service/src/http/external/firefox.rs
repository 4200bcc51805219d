//! Symbol server of the Firefox Profiler: functions, sources and instructions of the files that runs of this host's
//! recordings used.
//!
//! Source: samply's API.md ("Symbolication API"); Tecken's "Symbolication API v5". The profiler sends JSON as
//! `text/plain`, so that browsers send no preflight request. It displays the field `error` of an answer of status 200.

use options::Demangle;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, post};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::front::{ExternalProtocol, Secrets, Service};
use crate::http::json::as_json;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{
    AddressSpace, CodeInstructions, CodeTask, RequestedModule, SourceTask, SymbolizeTask,
    SymbolizedAddress, SymbolizedAddresses, Task,
};
use crate::symbolize::{from_hex, requested_module};

/// Maximum size of a query in bytes; the profiler sends all addresses of all files at once.
const MOST_BYTES: usize = 16 << 20;

/// Maximum numbers of addresses and files in a query.
const MOST_ADDRESSES: usize = 400_000;
const MOST_MODULES: usize = 10_000;

/// Returns the routes, if they are enabled.
pub(in crate::http) fn routes(secrets: &Secrets) -> Router<Arc<Service>> {
    if !secrets.is_open(ExternalProtocol::Firefox) {
        return Router::new();
    }
    let asked = |route: MethodRouter<Arc<Service>>| {
        route.options(preflight).layer(DefaultBodyLimit::max(MOST_BYTES))
    };
    Router::new()
        .route("/firefox/{token}/symbolicate/v5", asked(post(symbolicate)))
        .route("/firefox/{token}/source/v1", asked(post(source)))
        .route("/firefox/{token}/asm/v1", asked(post(instructions)))
}

/// Answers the preflight request that a browser sends before a cross-origin request.
/// Source: Fetch, "CORS-preflight request"; Private Network Access.
async fn preflight(headers: HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let answer = response.headers_mut();
    let mut say = |name: &'static str, value: &'static str| {
        answer.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    say("access-control-allow-methods", "POST");
    say("access-control-allow-headers", "content-type");
    say("access-control-max-age", "86400");
    if headers.contains_key("access-control-request-private-network") {
        say("access-control-allow-private-network", "true");
    }
    response
}

/// Parses a query, regardless of its stated content type.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::new(ProblemKind::BadRequest).detail(error.to_string()))
}

/// Converts a 404 or 422 into an `error` text of status 200, which the profiler displays.
fn as_displayed(answer: Result<Value, Problem>) -> Result<Response, Problem> {
    match answer {
        Ok(value) => Ok(as_json(StatusCode::OK, &value)),
        Err(problem) if matches!(problem.status, 404 | 422) => {
            Ok(as_json(StatusCode::OK, &json!({ "error": problem.to_string() })))
        }
        Err(problem) => Err(problem),
    }
}

/// Query: addresses grouped by job.
#[derive(Debug, Deserialize)]
struct SymbolicationQuery {
    jobs: Vec<AddressJob>,
}

/// Stacks of addresses: each entry is the index of a library and the address in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AddressJob {
    /// Names and Breakpad ids of libraries.
    memory_map: Vec<(String, String)>,
    stacks: Vec<Vec<(i64, u64)>>,
}

/// Address with its functions.
#[derive(Debug, Default, Serialize)]
struct StackFrame {
    frame: usize,
    module: String,
    module_offset: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_offset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inlines: Vec<Inlined>,
}

/// Inlined function.
#[derive(Debug, Serialize)]
struct Inlined {
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// `POST /firefox/{token}/symbolicate/v5`
async fn symbolicate(
    State(service): State<Arc<Service>>,
    body: Bytes,
) -> Result<Response, Problem> {
    let query: SymbolicationQuery = read(&body)?;
    let task = || task(&service, &query);
    let many = |task: &SymbolizeTask| {
        task.addresses.len() > MOST_ADDRESSES || task.modules.len() > MOST_MODULES
    };
    if many(&task()) {
        return Err(Problem::new(ProblemKind::TooLarge).detail("too many addresses"));
    }
    let answer = service.request(false, || Ok((Task::Symbolize(task()), Vec::new()))).await?;
    let named: SymbolizedAddresses = serde_json::from_str(answer.get())
        .map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))?;
    let mut modules = named.modules.iter();
    let mut addresses = named.addresses.into_iter();
    let results: Vec<Value> = query
        .jobs
        .iter()
        .map(|job| {
            let libraries = job.memory_map.iter();
            let found: BTreeMap<String, bool> = libraries
                .zip(modules.by_ref())
                .map(|((name, id), module)| (format!("{name}/{id}"), module.found))
                .collect();
            let stacks = job.stacks.iter().map(|stack| {
                let frames = stack.iter().enumerate().map(|(index, place)| {
                    // Addresses outside all libraries were not sent to the worker.
                    let library = usize::try_from(place.0).ok();
                    let library = library.and_then(|at| job.memory_map.get(at));
                    let answer = library.and_then(|_| addresses.next());
                    stack_frame(index, library.map(|(name, _)| &**name), place.1, answer)
                });
                frames.collect::<Vec<_>>()
            });
            let stacks: Vec<Vec<StackFrame>> = stacks.collect();
            json!({ "stacks": stacks, "found_modules": found })
        })
        .collect();
    Ok(as_json(StatusCode::OK, &json!({ "results": results })))
}

/// Builds the worker's task: the libraries of all jobs in sequence, and the addresses in them in the query's order.
fn task(service: &Service, query: &SymbolicationQuery) -> SymbolizeTask {
    let mut modules = Vec::new();
    let mut addresses = Vec::new();
    for job in &query.jobs {
        let first = modules.len();
        modules.extend(job.memory_map.iter().map(|(_, id)| by_breakpad_id(service, id)));
        for &(library, address) in job.stacks.iter().flatten() {
            let library = usize::try_from(library).ok().filter(|at| *at < job.memory_map.len());
            addresses.extend(library.map(|at| (first + at, address)));
        }
    }
    let space = AddressSpace::Svma;
    SymbolizeTask { modules, addresses, space, inlines: true, demangle: Demangle::Full }
}

fn stack_frame(
    frame: usize,
    library: Option<&str>,
    address: u64,
    answer: Option<SymbolizedAddress>,
) -> StackFrame {
    let mut row = StackFrame {
        frame,
        module: library.unwrap_or("<unknown>").to_owned(),
        module_offset: format!("{address:#x}"),
        ..StackFrame::default()
    };
    let Some(mut answer) = answer else { return row };
    let Some(outer) = answer.frames.pop() else { return row };
    let start = answer.function_start.as_deref().and_then(from_hex).unwrap_or(address);
    row.function_offset =
        outer.function.is_some().then(|| format!("{:#x}", address.saturating_sub(start)));
    (row.function, row.file, row.line) = (outer.function, outer.file, outer.line);
    let inlined = answer.frames.into_iter();
    let inlined = inlined.map(|it| Inlined { function: it.function, file: it.file, line: it.line });
    row.inlines = inlined.collect();
    row
}

/// Requested source file, with an address of its code.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SourceRequest {
    debug_id: String,
    module_offset: String,
    file: String,
}

/// `POST /firefox/{token}/source/v1`
async fn source(State(service): State<Arc<Service>>, body: Bytes) -> Result<Response, Problem> {
    let wanted: SourceRequest = read(&body)?;
    let address = hexadecimal(&wanted.module_offset)?;
    let answer = service.request(false, || {
        let module = by_breakpad_id(&service, &wanted.debug_id);
        let task = SourceTask { module, address, file: wanted.file.clone() };
        Ok((Task::SourceAt(task), Vec::new()))
    });
    as_displayed(answer.await.map(|answer| {
        let text: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        let none = Value::Null;
        json!({
            "symbolsLastModified": none, "sourceLastModified": none,
            "file": wanted.file, "source": text["text"],
        })
    }))
}

/// Requested instructions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CodeRequest {
    debug_id: Option<String>,
    /// Build-id.
    code_id: Option<String>,
    start_address: String,
    size: String,
    #[serde(default)]
    continue_until_function_end: bool,
}

/// `POST /firefox/{token}/asm/v1`
async fn instructions(
    State(service): State<Arc<Service>>,
    body: Bytes,
) -> Result<Response, Problem> {
    let wanted: CodeRequest = read(&body)?;
    let (address, length) = (hexadecimal(&wanted.start_address)?, hexadecimal(&wanted.size)?);
    let answer = service.request(false, || {
        let known = wanted.code_id.as_ref().map(|id| id.to_ascii_lowercase());
        let known = known.filter(|id| !service.store.file_paths().paths(id).is_empty());
        let module = match known {
            Some(id) => requested_module(&id, None, service.store.file_paths()),
            None => by_breakpad_id(&service, wanted.debug_id.as_deref().unwrap_or_default()),
        };
        let to_end = wanted.continue_until_function_end;
        Ok((Task::Code(CodeTask { module, address, length, to_end }), Vec::new()))
    });
    let answer = answer.await.and_then(|answer| {
        let code: Result<CodeInstructions, _> = serde_json::from_str(answer.get());
        code.map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))
    });
    as_displayed(answer.map(|code| {
        json!({
            "startAddress": format!("{address:#x}"), "size": format!("{:#x}", code.length),
            "arch": "x86_64", "syntax": ["AT&T"], "instructions": code.instructions,
        })
    }))
}

fn hexadecimal(text: &str) -> Result<u64, Problem> {
    let bad = || Problem::new(ProblemKind::BadRequest).detail("addresses and sizes are 0x…");
    from_hex(text).ok_or_else(bad)
}

/// Returns the used file with this Breakpad id, or a module without locations if there is none.
fn by_breakpad_id(service: &Service, id: &str) -> RequestedModule {
    let known = service.store.file_paths();
    let id = first_bytes(id).and_then(|digits| known.beginning_with(&digits));
    requested_module(&id.unwrap_or_default(), None, known)
}

/// Returns the first 16 bytes of a build-id from the Breakpad id, which is a GUID followed by an age. The first three
/// numbers of a GUID are little-endian.
/// Source: Breakpad, `common/linux/file_id.cc`, `ConvertIdentifierToUUIDString`.
fn first_bytes(id: &str) -> Option<String> {
    let digits = id.get(..32).filter(|it| it.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    let number = |from: usize, to: usize| {
        let pairs = (from..to).step_by(2).rev();
        pairs.filter_map(|at| digits.get(at..at + 2)).collect::<String>()
    };
    let bytes = [number(0, 8), number(8, 12), number(12, 16), digits.get(16..)?.to_owned()];
    Some(bytes.concat().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_turned_back() {
        let id = first_bytes("0403020106050807090A0B0C0D0E0F100");
        assert_eq!(id.as_deref(), Some("0102030405060708090a0b0c0d0e0f10"));
        for wrong in
            ["", "0403", "0403020106050807090A0B0C0D0E0Fxx0", "é03020106050807090A0B0C0D0E0F10"]
        {
            assert_eq!(first_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_outer_function_is_apart_from_those_inlined_into_it() {
        let frame = |name: &str, line| crate::protocol::Frame {
            function: Some(name.to_owned()),
            file: Some("a.c".to_owned()),
            line: Some(line),
            column: None,
            inlined: line == 1,
        };
        let answer = SymbolizedAddress {
            function_start: Some("0x10".to_owned()),
            frames: vec![frame("inner", 1), frame("outer", 2)],
            ..SymbolizedAddress::default()
        };
        let row = stack_frame(3, Some("lib.so"), 0x1c, Some(answer));
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            r#"{"frame":3,"module":"lib.so","module_offset":"0x1c","function":"outer","function_offset":"0xc","file":"a.c","line":2,"inlines":[{"function":"inner","file":"a.c","line":1}]}"#
        );
        let unknown = stack_frame(0, None, 5, None);
        assert_eq!(
            serde_json::to_string(&unknown).unwrap(),
            r#"{"frame":0,"module":"<unknown>","module_offset":"0x5"}"#
        );
    }
}
