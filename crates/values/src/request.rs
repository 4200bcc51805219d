//! Requests as users write them: `FUNCTION(PATH)`, or `thread-local(PATH)`.

use std::fmt;

use crate::error::Error;

/// A value of a function's frames: `handle(request->path)`, or of a thread: `thread-local(request_id)`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Request {
    /// Function: a plain or qualified name, with or without arguments of templates, a signature, or a linkage name.
    pub function: String,
    /// Path from a parameter or local to the value.
    pub path: Path,
}

/// A path from a variable to a value: `name`, `name.field`, `name->field`, `name[3]`, `*name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Path {
    /// Name of a parameter or local.
    pub variable: String,
    /// Steps from its value, in order of application.
    pub steps: Vec<PathStep>,
}

/// A step of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathStep {
    /// A field, also through pointers and references.
    Field(String),
    /// An element of an array, or behind a pointer.
    Index(u64),
    /// The object behind a pointer or reference.
    Deref,
}

/// Stands for the function in requests for thread-local variables. No function has a `-` in its name.
const THREAD_LOCAL: &str = "thread-local";
/// Maximum number of steps of a path.
const MAX_STEPS: usize = 32;

impl Request {
    /// Parses `FUNCTION(PATH)`. The last parentheses hold the path: `f(int)(x)` is `x` of `f(int)`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the missing or superfluous part.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let error =
            |problem: &str| Error::Syntax { text: text.to_owned(), problem: problem.to_owned() };
        let inner = text.trim().strip_suffix(')').ok_or_else(|| error("no ) at the end"))?;
        let (function, path) = inner.rsplit_once('(').ok_or_else(|| error("no ("))?;
        let function = function.trim();
        if function.is_empty() {
            return Err(error("no function before ("));
        }
        let path = Path::parse(path).map_err(|problem| error(&problem))?;
        Ok(Self { function: function.to_owned(), path })
    }

    /// Returns true if a thread-local variable is requested.
    #[must_use]
    pub fn is_thread_local(&self) -> bool {
        self.function == THREAD_LOCAL
    }
}

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// The problem as a phrase.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let rest = text.trim_start_matches(['*', ' ']);
        let stars = text.get(..text.len() - rest.len()).unwrap_or_default().matches('*').count();
        let end = rest.find(['.', '[', '-']).unwrap_or(rest.len());
        let (variable, mut rest) = rest.split_at(end);
        let variable = variable.trim();
        if variable.is_empty() {
            return Err("no variable".to_owned());
        }
        if variable.contains(char::is_whitespace) {
            return Err(format!("a space in the variable {variable}"));
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            rest = step(rest, &mut steps)?;
            if steps.len() + stars > MAX_STEPS {
                return Err(format!("more than {MAX_STEPS} steps"));
            }
        }
        // As in C: `*a.b` is what `a.b` points to.
        if stars > MAX_STEPS {
            return Err(format!("more than {MAX_STEPS} steps"));
        }
        steps.extend(std::iter::repeat_n(PathStep::Deref, stars));
        Ok(Self { variable: variable.to_owned(), steps })
    }
}

/// Parses one step at the start of `text`; returns the rest.
fn step<'a>(text: &'a str, steps: &mut Vec<PathStep>) -> Result<&'a str, String> {
    if let Some(index) = text.strip_prefix('[') {
        let (index, rest) = index.split_once(']').ok_or("no ] after [")?;
        let number = index.trim().parse().map_err(|_| format!("{index} is not a number"))?;
        steps.push(PathStep::Index(number));
        return Ok(rest.trim_start());
    }
    let field = text.strip_prefix("->").or_else(|| text.strip_prefix('.'));
    let field = field.ok_or_else(|| format!("unexpected {text}"))?.trim_start();
    let end = field.find(['.', '[', '-']).unwrap_or(field.len());
    let (name, rest) = field.split_at(end);
    if name.trim().is_empty() {
        return Err("no field after . or ->".to_owned());
    }
    steps.push(PathStep::Field(name.trim().to_owned()));
    Ok(rest)
}

impl fmt::Display for Path {
    /// Formats the path as it is parsed, with `.` for all fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stars = self.steps.iter().rev().take_while(|&step| *step == PathStep::Deref).count();
        for _ in 0..stars {
            f.write_str("*")?;
        }
        f.write_str(&self.variable)?;
        for step in self.steps.iter().take(self.steps.len() - stars) {
            match step {
                PathStep::Field(name) => write!(f, ".{name}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Deref => f.write_str("[0]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Request {
    /// Formats the request as it is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.function, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match Request::parse(text) {
            Ok(Request { function, path }) => {
                format!("{function} | {} | {:?}", path.variable, path.steps)
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn forms_of_requests() {
        assert_eq!(parsed("exec_query(query)"), "exec_query | query | []");
        assert_eq!(parsed("ns::A<int, B>::f(size)"), "ns::A<int, B>::f | size | []");
        assert_eq!(parsed("f(int, char*)(x)"), "f(int, char*) | x | []");
        assert_eq!(parsed("operator()(x)"), "operator() | x | []");
        assert_eq!(parsed("f(a->b.c[3])"), r#"f | a | [Field("b"), Field("c"), Index(3)]"#);
        assert_eq!(parsed("main.(*T).Do( *p )"), "main.(*T).Do | p | [Deref]");
        assert_eq!(parsed("f(**p.q)"), r#"f | p | [Field("q"), Deref, Deref]"#);
    }

    #[test]
    fn problems_are_named() {
        assert_eq!(parsed("f"), "f: expected FUNCTION(PATH): no ) at the end");
        assert_eq!(parsed("f)"), "f): expected FUNCTION(PATH): no (");
        assert_eq!(parsed("(x)"), "(x): expected FUNCTION(PATH): no function before (");
        assert_eq!(parsed("f()"), "f(): expected FUNCTION(PATH): no variable");
        assert_eq!(parsed("f(a[b])"), "f(a[b]): expected FUNCTION(PATH): b is not a number");
        assert_eq!(parsed("f(a[1)"), "f(a[1): expected FUNCTION(PATH): no ] after [");
        assert_eq!(parsed("f(a.)"), "f(a.): expected FUNCTION(PATH): no field after . or ->");
        assert_eq!(parsed("f(a-b)"), "f(a-b): expected FUNCTION(PATH): unexpected -b");
        assert_eq!(
            parsed("f(a b)"),
            "f(a b): expected FUNCTION(PATH): a space in the variable a b"
        );
        let deep = format!("f({}p)", "*".repeat(33));
        assert!(parsed(&deep).ends_with("more than 32 steps"));
    }

    #[test]
    fn requests_are_written_as_they_are_parsed() {
        for text in ["f(x)", "f(int)(a.b[3].c)", "f(**p.q)"] {
            assert_eq!(Request::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
    }
}
