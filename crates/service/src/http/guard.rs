//! Access checks before routing. A page under another host name or of another origin gets no answer, even with valid
//! credentials.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::connections::Peer;
use crate::front::{ExternalProtocol, Service};
use crate::problem::{Problem, ProblemKind};

/// Security headers of every answer.
/// Source: Content Security Policy Level 3; Fetch Metadata Request Headers; the HTML standard on COOP and CORP.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// The only foreign origin that may send requests, if the operator enables it, and only with its own token.
const PROFILER: &str = "https://profiler.firefox.com";

/// Returns true if that origin sent the request and may read the answer.
fn cors(service: &Service, request: &Request) -> bool {
    service.secrets.external_protocol(request.uri().path())
        == Some((ExternalProtocol::Firefox, true))
        && one(request.headers(), &header::ORIGIN).is_ok_and(|origin| origin == Some(PROFILER))
}

/// Passes a request on, or answers with the reason for refusing it.
pub(super) async fn guard(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let cors = cors(&service, &request);
    let mut response = match check(&service, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            service.metrics.refused(&problem);
            problem.into_response()
        }
    };
    let headers = response.headers_mut();
    for &(name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if cors {
        let origin = HeaderValue::from_static(PROFILER);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn check(service: &Service, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let path = request.uri().path();
    let host = one(headers, &header::HOST)?.unwrap_or_default();
    if !service.secrets.is_host(host) {
        return Err(
            Problem::new(ProblemKind::WrongHost).detail("the header Host names another service")
        );
    }
    // The target of a request through a proxy contains the host name, too.
    let target = request.uri().authority().map(|target| target.as_str());
    if target.is_some_and(|target| !service.secrets.is_host(target)) {
        return Err(Problem::new(ProblemKind::WrongHost).detail("the target names another service"));
    }
    let seen = |is_known: bool| {
        let peer = request.extensions().get::<Peer>().filter(|_| is_known);
        peer.into_iter().for_each(Peer::note_token);
        is_known
    };
    if let Some((door, has_token)) = service.secrets.external_protocol(path) {
        if !(door == ExternalProtocol::Firefox && cors(service, request)) {
            check_origin(service, request, false)?;
        }
        let wrong = || {
            Problem::new(ProblemKind::NoToken).hint("the service has new addresses at each start")
        };
        return if seen(has_token) { Ok(()) } else { Err(wrong()) };
    }
    check_origin(service, request, is_open(path))?;
    let is_known = is_authenticated(service, headers);
    if is_open(path) {
        seen(is_known.unwrap_or(false));
        return Ok(());
    }
    if seen(is_known?) {
        return Ok(());
    }
    Err(Problem::new(ProblemKind::NoToken)
        .hint("open the address that the service printed at its start"))
}

/// Rejects requests from pages of another origin, except links to pages without data.
fn check_origin(service: &Service, request: &Request, is_open: bool) -> Result<(), Problem> {
    let headers = request.headers();
    let wrong = || Problem::new(ProblemKind::WrongOrigin);
    if let Some(origin) = one(headers, &header::ORIGIN)? {
        let known = origin.split_once("://").is_some_and(|(scheme, host)| {
            matches!(scheme, "http" | "https") && service.secrets.is_host(host)
        });
        if !known {
            return Err(wrong());
        }
    }
    let site = one(headers, &HeaderName::from_static("sec-fetch-site"))?;
    let is_link = is_open && matches!(*request.method(), Method::GET | Method::HEAD);
    match site {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) if is_link => Ok(()),
        Some(_) => Err(wrong()),
    }
}

/// Returns true for paths without secret data, and for the path that creates a session.
fn is_open(path: &str) -> bool {
    !(path.starts_with("/api/")
        || path == "/metrics"
        || path == "/readyz"
        || path.starts_with("/buildid/"))
}

/// Returns true if a request has the token or the session.
fn is_authenticated(service: &Service, headers: &HeaderMap) -> Result<bool, Problem> {
    if let Some(text) = one(headers, &header::AUTHORIZATION)? {
        let token = text.strip_prefix("Bearer ").unwrap_or_default();
        return Ok(service.secrets.is_token(token));
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
    Ok(cookies.into_iter().any(|cookies| service.secrets.is_session(cookies)))
}

/// Returns a header that must occur at most once: a proxy and this service could choose different ones of two.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Problem> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    let bad = || Problem::new(ProblemKind::BadRequest).detail(format!("the header {name}"));
    if all.next().is_some() {
        return Err(bad());
    }
    first.map(|value| value.to_str().map_err(|_| bad())).transpose()
}
