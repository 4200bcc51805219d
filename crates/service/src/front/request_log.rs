//! Choice of logged requests.

/// Requests that are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestLog {
    /// None.
    Off,
    /// All except successful ones for assets and health checks.
    Usual,
    /// All.
    Full,
}

/// Routes of assets and health checks.
const QUIET: &[&str] = &["/assets/{*path}", "/healthz", "/readyz"];

impl RequestLog {
    /// Returns true if a request with that answer is logged.
    pub(crate) fn has(self, route: Option<&str>, status: u16) -> bool {
        match self {
            Self::Off => false,
            Self::Usual => status >= 400 || route.is_none_or(|route| !QUIET.contains(&route)),
            Self::Full => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_and_health_checks_are_logged_on_failure_or_request() {
        for (log, route, status, expected) in [
            (RequestLog::Usual, Some("/assets/{*path}"), 200, false),
            (RequestLog::Usual, Some("/assets/{*path}"), 404, true),
            (RequestLog::Usual, Some("/healthz"), 200, false),
            (RequestLog::Usual, Some("/readyz"), 503, true),
            (RequestLog::Usual, Some("/api/v1/status"), 200, true),
            (RequestLog::Usual, None, 404, true),
            (RequestLog::Full, Some("/assets/{*path}"), 200, true),
            (RequestLog::Off, Some("/api/v1/status"), 500, false),
        ] {
            assert_eq!(log.has(route, status), expected, "{log:?} {route:?} {status}");
        }
    }
}
