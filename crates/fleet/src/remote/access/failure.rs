//! Failure of a request to a store, with a message without secrets.

use object_store::Error;

use crate::manifest::Status;

/// Maximum length of a message of a store, in characters.
const LONGEST: usize = 400;
/// Text after which an answer of the server follows. It can repeat the request with its signature.
const ANSWERS: [&str; 2] = ["Server returned error response", "status code: "];

/// A recording that cannot be downloaded now. Another call can succeed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    /// `Unreadable` if the object or a right is missing, `GaveUp` for defects of the network, the server and the disk.
    pub(crate) status: Status,
    /// Message for people, without the address.
    pub(crate) message: String,
}

impl Failure {
    pub(super) fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Returns the failure of a request.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::NotFound { .. } => Self::new(Status::Unreadable, "there is no such object"),
            Error::PermissionDenied { .. } => {
                Self::new(Status::Unreadable, "access denied (403 Forbidden)")
            }
            Error::Unauthenticated { .. } => {
                Self::new(Status::Unreadable, "access denied (401 Unauthorized)")
            }
            Error::InvalidPath { .. }
            | Error::NotSupported { .. }
            | Error::NotImplemented { .. }
            | Error::UnknownConfigurationKey { .. } => {
                Self::new(Status::Unreadable, text_of(error))
            }
            _ => Self::new(Status::GaveUp, text_of(error)),
        }
    }
}

/// Returns the message of an error with that of its first cause, without secrets.
fn text_of(error: &Error) -> String {
    let mut text = without_secrets(&error.to_string());
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    if let Some(first) = causes.last() {
        let first = without_secrets(&first.to_string());
        if !text.contains(&first) {
            text = format!("{text}: {first}");
        }
    }
    text.chars().take(LONGEST).collect()
}

/// Returns a message as one line, without users and queries of URLs and without answers of servers.
fn without_secrets(text: &str) -> String {
    let mut text = text;
    for answer in ANSWERS {
        if let Some((before, after)) = text.split_once(answer) {
            let keyword = after.split([':', '<', '\n']).next().unwrap_or_default();
            let end = before.len() + answer.len() + keyword.len();
            text = text.get(..end).unwrap_or(text);
        }
    }
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words = words.filter(|word| !word.is_empty()).map(word_without_secrets);
    words.collect::<Vec<_>>().join(" ")
}

fn word_without_secrets(word: &str) -> String {
    let word = word.split(['?', '#']).next().unwrap_or_default();
    match word.split_once("://") {
        Some((scheme, rest)) => {
            let shown = rest.rsplit_once('@').map_or(rest, |(_, shown)| shown);
            format!("{scheme}://{shown}")
        }
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Box<dyn std::error::Error + Send + Sync> {
        text.to_owned().into()
    }

    #[test]
    fn statuses_of_requests() {
        let path = || "x".to_owned();
        for (error, status, message) in [
            (
                Error::NotFound { path: path(), source: source("secret") },
                Status::Unreadable,
                "there is no such object",
            ),
            (
                Error::PermissionDenied { path: path(), source: source("secret") },
                Status::Unreadable,
                "access denied (403 Forbidden)",
            ),
            (
                Error::Unauthenticated { path: path(), source: source("secret") },
                Status::Unreadable,
                "access denied (401 Unauthorized)",
            ),
            (
                Error::Generic { store: "S3", source: source("connection reset") },
                Status::GaveUp,
                "Generic S3 error: connection reset",
            ),
        ] {
            assert_eq!(Failure::of(&error), Failure::new(status, message));
        }
    }

    #[test]
    fn messages_have_no_secrets() {
        for (text, expected) in [
            (
                "Error performing GET https://u:secret@h/k?sig=secret in 1ms",
                "Error performing GET https://h/k in 1ms",
            ),
            ("for url (https://h/k?a=secret)", "for url (https://h/k"),
            (
                "Server returned non-2xx status code: 503 Slow Down: <Error>secret</Error>",
                "Server returned non-2xx status code: 503 Slow Down",
            ),
            ("Server returned error response: secret", "Server returned error response"),
            ("status code: 400 Bad Request\nsecret", "status code: 400 Bad Request"),
            ("/k?sig=secret#x\u{7}a\n b", "/k a b"),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }

    #[test]
    fn long_messages_are_truncated() {
        let error = Error::Generic { store: "S3", source: source(&"ä".repeat(1000)) };
        assert_eq!(text_of(&error).chars().count(), LONGEST);
    }
}
