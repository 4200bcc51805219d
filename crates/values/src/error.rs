//! Errors of requests: no value of a run can come of them.

use std::fmt;

use budget::Exhausted;

/// A request that cannot be answered for any frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// Text that is not `FUNCTION(PATH)`: the text, and the expectation.
    Syntax {
        /// The text as given.
        text: String,
        /// The missing or superfluous part.
        problem: String,
    },
    /// Text that is not a request of a probe: the text, and the problem.
    ProbeSyntax {
        /// The text as given.
        text: String,
        /// The missing or superfluous part.
        problem: String,
    },
    /// No function of the image has the name.
    UnknownFunction {
        /// The name as given.
        name: String,
        /// Names in the image that are alike, best first.
        similar: Vec<String>,
    },
    /// The function has no such parameter or local.
    UnknownVariable {
        /// Function as the image names it.
        function: String,
        /// The name as given.
        name: String,
        /// Names of its parameters and locals.
        existing: Vec<String>,
    },
    /// The image has no thread-local variable of the name, or several.
    ThreadLocal {
        /// The name as given.
        name: String,
        /// Number of variables with the name.
        count: usize,
    },
    /// The type has no such field.
    UnknownField {
        /// Type as the image names it.
        of: String,
        /// The name as given.
        name: String,
        /// Names of its fields.
        existing: Vec<String>,
    },
    /// A step of the path does not fit the type.
    Path {
        /// Type as the image names it.
        of: String,
        /// The step that does not fit.
        step: String,
    },
    /// Damaged debug information.
    Dwarf(gimli::Error),
    /// The image needs more work than its size allows.
    Exhausted(Exhausted),
}

impl fmt::Display for Error {
    /// Formats the expected and the found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { text, problem } => {
                write!(f, "{text}: expected FUNCTION(PATH): {problem}")
            }
            Self::ProbeSyntax { text, problem } => {
                write!(f, "{text}: expected FUNCTION(ARGUMENT,…) or FUNCTION%return: {problem}")
            }
            Self::UnknownFunction { name, similar } => {
                write!(f, "no function {name}")?;
                list(f, "similar", similar)
            }
            Self::UnknownVariable { function, name, existing } => {
                write!(f, "{function} has no variable {name}")?;
                list(f, "it has", existing)
            }
            Self::ThreadLocal { name, count: 0 } => write!(f, "no thread-local variable {name}"),
            Self::ThreadLocal { name, count } => {
                write!(f, "{count} thread-local variables {name}; name one with its namespace")
            }
            Self::UnknownField { of, name, existing } => {
                write!(f, "{of} has no field {name}")?;
                list(f, "it has", existing)
            }
            Self::Path { of, step } => write!(f, "{step} cannot be applied to {of}"),
            Self::Dwarf(error) => write!(f, "damaged debug information: {error}"),
            Self::Exhausted(error) => write!(f, "debug information: {error}"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, head: &str, names: &[String]) -> fmt::Result {
    if names.is_empty() { Ok(()) } else { write!(f, "; {head}: {}", names.join(", ")) }
}

impl std::error::Error for Error {}

impl From<gimli::Error> for Error {
    fn from(error: gimli::Error) -> Self {
        Self::Dwarf(error)
    }
}

impl From<Exhausted> for Error {
    fn from(error: Exhausted) -> Self {
        Self::Exhausted(error)
    }
}
