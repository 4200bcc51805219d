//! JSON bodies and answers, and problems as answers.

use axum::RequestExt as _;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Body as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::{Problem, ProblemKind};

/// Seconds after which a client may retry a request that was refused because the service is busy or stopping.
const RETRY: &str = "5";

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = as_json(status, &self);
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY));
        }
        response
    }
}

/// Returns a value as a JSON answer.
pub(super) fn as_json(status: StatusCode, value: &impl Serialize) -> Response {
    // Serialization fails only for maps with non-string keys; there are none.
    let text = serde_json::to_vec(value).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(text)).into_response()
}

/// Returns text that is already JSON as an answer.
pub(super) fn json_text(text: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// JSON body of a request.
#[derive(Debug)]
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        if !is_json(kind.unwrap_or_default()) {
            return Err(Problem::new(ProblemKind::WrongType).hint("content-type: application/json"));
        }
        let too_large = || Problem::new(ProblemKind::TooLarge).detail("the body");
        // Applies the route's limit; a body with a larger stated length is not read at all.
        let stated = request.body().size_hint().lower();
        let request = request.with_limited_body();
        if request.body().size_hint().upper().is_some_and(|most| most < stated) {
            return Err(too_large());
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| {
            let is_broken_off = error.status() != StatusCode::PAYLOAD_TOO_LARGE;
            if is_broken_off {
                Problem::new(ProblemKind::BadRequest).detail("the body was interrupted")
            } else {
                too_large()
            }
        })?;
        let value = serde_json::from_slice(&body);
        let value =
            value.map_err(|error| Problem::new(ProblemKind::BadRequest).detail(error.to_string()));
        Ok(Self(value?))
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
