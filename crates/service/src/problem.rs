//! Reasons for refusing a request, readable by programs and by people.
//!
//! Source: RFC 9457, "Problem Details for HTTP APIs".

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum number of names in a problem.
const MOST_NAMES: usize = 1_000;

/// Reason for refusing or failing a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Kind of the problem, for programs; the values are part of the API.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// One-line description, equal for all problems of a kind.
    pub(crate) title: String,
    /// HTTP status of the answer.
    pub(crate) status: u16,
    /// Description of this case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// Suggested remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The names that exist, if the request names another one.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) known: Box<[String]>,
}

impl Problem {
    /// Returns a problem without detail or hint.
    pub(crate) fn new(kind: ProblemKind) -> Self {
        let (name, status, title) = kind.facts();
        Self {
            kind: format!("urn:unwind-perf:{name}"),
            title: title.to_owned(),
            status,
            detail: None,
            hint: None,
            known: Box::default(),
        }
    }

    /// Adds the description of this case.
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a suggested remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the names that exist.
    pub(crate) fn known(mut self, names: &[String]) -> Self {
        self.known = names.iter().take(MOST_NAMES).cloned().collect();
        self
    }

    /// Returns true if the problem is of that kind.
    pub(crate) fn is(&self, kind: ProblemKind) -> bool {
        self.kind.strip_prefix("urn:unwind-perf:") == Some(kind.facts().0)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

macro_rules! kinds {
    ($($(#[$about:meta])* $variant:ident = $name:literal, $status:literal, $title:literal;)*) => {
        /// Kinds of problems.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ProblemKind {
            $($(#[$about])* $variant,)*
        }

        impl ProblemKind {
            /// All kinds.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name, the status and the title.
            pub(crate) const fn facts(self) -> (&'static str, u16, &'static str) {
                match self {
                    $(Self::$variant => ($name, $status, $title),)*
                }
            }
        }
    };
}

kinds! {
    /// The request has not the form that it must have.
    BadRequest = "bad-request", 400, "The request is invalid";
    /// No token, or a wrong one.
    NoToken = "no-token", 401, "The token is missing or wrong";
    /// A name or origin that is not this service's.
    WrongHost = "wrong-host", 403, "The host name or origin is not this service's";
    /// A page of another origin asks.
    WrongOrigin = "wrong-origin", 403, "Pages of other origins cannot request this";
    /// A path that leaves the roots.
    Outside = "outside-roots", 403, "The path is outside the served directories";
    /// Something that is switched off.
    NotAllowed = "not-allowed", 403, "This is disabled";
    /// Nothing of that name.
    NotFound = "not-found", 404, "Not found";
    /// The method means nothing here.
    WrongMethod = "wrong-method", 405, "The method is not supported here";
    /// The job was cancelled.
    Cancelled = "cancelled", 409, "The job was cancelled";
    /// The recording changed while it was read.
    Changed = "changed", 409, "The recording changed while it was read";
    /// There is no result, or it no longer exists.
    Gone = "gone", 410, "There is no result for this recording";
    /// The body or the recording is larger than allowed.
    TooLarge = "too-large", 413, "The body or recording exceeds the limit";
    /// The body is of another type.
    WrongType = "wrong-type", 415, "The type of the body is not supported";
    /// A part of a file that it does not have.
    WrongRange = "wrong-range", 416, "The range is outside the file";
    /// The named file is not a recording, or is damaged.
    NotARecording = "not-a-recording", 422, "This is not a readable recording";
    /// The request does not fit the recording.
    DoesNotFit = "does-not-fit", 422, "The recording lacks the requested data";
    /// No field of the recording and no label of the request has the name.
    UnknownName = "unknown-name", 422, "The recording has no field or label of this name";
    /// A part of a program that cannot be shown.
    NoCode = "no-code", 422, "There is no code to show";
    /// The job exceeds the memory limit.
    MemoryLimit = "memory-limit", 422, "The job exceeds the memory limit";
    /// The worker failed on our side.
    Internal = "internal", 500, "The service failed";
    /// The worker ended while it was at this job.
    WorkerEnded = "worker-ended", 500, "The worker process ended during the job";
    /// Too many jobs are waiting.
    Busy = "busy", 503, "Too many jobs are waiting";
    /// The service is stopping.
    Stopping = "stopping", 503, "The service is stopping";
    /// The job exceeded its time limit.
    Deadline = "deadline", 504, "The job exceeded its time limit";
    /// The disk with the results is full.
    NoSpace = "no-space", 507, "There is no space for the result";
}

/// Returns the description of a file of another type.
pub(crate) fn not_a_recording(name: &str) -> String {
    format!("{name} is not a perf recording")
}

/// Converts the error of a run.
impl From<pipeline::Error> for Problem {
    fn from(error: pipeline::Error) -> Self {
        use pipeline::{Error, RecordingError};

        let kind = match &error {
            Error::Empty { .. } | Error::Recording { .. } | Error::NoRecordingInFolder { .. } => {
                ProblemKind::NotARecording
            }
            Error::UnknownProcessor
            | Error::NoSampleTimes
            | Error::NoCgroups
            | Error::NoStacks { .. }
            | Error::NoSwitches
            | Error::NoBranches
            | Error::NoReturns { .. }
            | Error::NothingRan { .. }
            | Error::NoOffCpuSamples { .. }
            | Error::OffCpuWhileGrowing
            | Error::NeedsWholeRecording
            | Error::FunctionVariable { .. }
            | Error::UnknownSpan { .. }
            | Error::InsideNeedsLabel { .. }
            | Error::UnknownEvent { .. }
            | Error::FieldNotNumber { .. }
            | Error::ConditionType { .. } => ProblemKind::DoesNotFit,
            Error::UnknownField { .. } => ProblemKind::UnknownName,
            Error::CutShort { .. } | Error::BrokenOff => ProblemKind::Changed,
            Error::MemoryLimit { .. } => ProblemKind::MemoryLimit,
            Error::Cancelled => ProblemKind::Cancelled,
            Error::Host(_) => ProblemKind::NotFound,
            _ => ProblemKind::Internal,
        };
        if let Error::Recording { path, source: RecordingError::NotPerfData { .. } } = &error {
            return Self::new(kind).detail(not_a_recording(&path.to_string_lossy()));
        }
        let (mut text, known) = match &error {
            Error::UnknownField { pattern, recorded, .. }
            | Error::FieldNotNumber { pattern, recorded, .. } => {
                (format!("{pattern}: {error}"), recorded.as_slice())
            }
            Error::UnknownEvent { recorded, .. } => (error.to_string(), recorded.as_slice()),
            Error::ConditionType { condition, .. } => (format!("{condition}: {error}"), &[][..]),
            Error::UnknownSpan { name, .. } => (format!("{name}: {error}"), &[][..]),
            _ => (error.to_string(), &[][..]),
        };
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        Self::new(kind).detail(text).known(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_name_and_status() {
        let problem = Problem::new(ProblemKind::Busy).detail("16 jobs").hint("wait");
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"type":"urn:unwind-perf:busy","title":"Too many jobs are waiting","status":503,"detail":"16 jobs","hint":"wait"}"#
        );
        assert!(problem.is(ProblemKind::Busy) && !problem.is(ProblemKind::NotFound));
        let mut names: Vec<_> = ProblemKind::ALL.iter().map(|kind| kind.facts().0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ProblemKind::ALL.len());
    }
}
