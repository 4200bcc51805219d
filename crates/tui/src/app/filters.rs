//! Filters as a stack: each restricts the ones before it, and the last one can be undone.

use options::QueryFilter;

use crate::data::{Query, exactly, file_name, safe};

/// A filter that the user added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Only stacks with a function of this name.
    Focus(String),
    /// Without stacks with a function of this name.
    Ignore(String),
    /// Functions of this name are removed from stacks.
    Hide(String),
    /// Functions of this name are removed together with their callees.
    Charge(String),
    /// Only functions of modules with this path.
    Module(String),
    /// Only samples of this thread while it had this name.
    Thread(i32, Vec<u8>),
    /// Only samples of this process; its label.
    Process(i32, String),
    /// Only rows with this text in their name. The costs stay.
    Text(String),
}

/// The filters of the command line, and those that the user added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    /// The query without added filters.
    pub(crate) base: Query,
    pub(crate) steps: Vec<Step>,
}

impl Filters {
    /// Returns the query with all filters.
    pub(crate) fn query(&self) -> Query {
        let mut query = self.base.clone();
        for step in &self.steps {
            let filter = &mut query.filter;
            match step {
                Step::Focus(name) => query.narrowing.push(exactly(name.as_bytes())),
                Step::Ignore(name) => filter.ignore.push(exactly(name.as_bytes())),
                Step::Hide(name) => filter.hide.push(exactly(name.as_bytes())),
                Step::Charge(name) => filter.charge.push(exactly(name.as_bytes())),
                Step::Module(path) => filter.module = vec![exactly(path.as_bytes())],
                Step::Thread(tid, name) => {
                    filter.threads = vec![*tid];
                    filter.comm = vec![exactly(name)];
                }
                Step::Process(pid, _) => filter.processes = vec![*pid],
                Step::Text(_) => {}
            }
        }
        query
    }

    /// Adds a filter. One of the same module, thread, process or text replaces the former one of its kind.
    pub(crate) fn add(&mut self, step: Step) {
        let is_single = |step: &Step| {
            use Step::{Module, Process, Text, Thread};
            matches!(step, Module(_) | Thread(..) | Process(..) | Text(_))
        };
        let same = |it: &Step| std::mem::discriminant(it) == std::mem::discriminant(&step);
        self.steps.retain(|it| *it != step && !(is_single(&step) && same(it)));
        let is_empty_text = matches!(&step, Step::Text(text) if text.is_empty());
        if !is_empty_text {
            self.steps.push(step);
        }
    }

    /// Returns the text that rows are filtered by.
    pub(crate) fn text(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match step {
            Step::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the labels of all filters.
    pub(crate) fn chips(&self, short: impl Fn(&str) -> String) -> Vec<String> {
        let QueryFilter { focus, ignore, hide, charge, module, collapse_recursion, .. } =
            &self.base.filter;
        let given = |word: &'static str, list: &[String]| -> Vec<String> {
            list.iter().map(|text| format!("{word} /{}/", safe(text.as_bytes()))).collect()
        };
        let mut chips = [
            given("focus", focus),
            given("ignore", ignore),
            given("hide", hide),
            given("charge", charge),
            given("module", module),
        ]
        .concat();
        if *collapse_recursion {
            chips.push("no recursion".to_owned());
        }
        chips.extend(self.steps.iter().map(|step| match step {
            Step::Focus(name) => format!("focus {}", short(name)),
            Step::Ignore(name) => format!("ignore {}", short(name)),
            Step::Hide(name) => format!("hide {}", short(name)),
            Step::Charge(name) => format!("charge {}", short(name)),
            Step::Module(path) => format!("module {}", safe(file_name(path.as_bytes()))),
            Step::Thread(tid, name) => format!("thread {} {tid}", safe(name)),
            Step::Process(_, label) => format!("process {label}"),
            Step::Text(text) => format!("/{}", safe(text.as_bytes())),
        }));
        chips
    }
}

/// Returns true if a name has the text. Upper case in the text makes case count.
pub(crate) fn has_text(name: &str, text: &str) -> bool {
    if text.chars().any(char::is_uppercase) {
        name.contains(text)
    } else {
        name.to_lowercase().contains(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_a_stack() {
        let mut filters = Filters::default();
        filters.add(Step::Focus("a::b<c>(int)".to_owned()));
        filters.add(Step::Focus("main".to_owned()));
        filters.add(Step::Thread(7, b"worker".to_vec()));
        filters.add(Step::Thread(8, b"worker".to_vec()));
        filters.add(Step::Text("x".to_owned()));
        let query = filters.query();
        assert_eq!(query.narrowing, [r"^a::b<c>\(int\)$", "^main$"]);
        assert_eq!(query.filter.threads, [8]);
        assert_eq!(query.filter.comm, ["^worker$"]);
        assert_eq!(filters.text(), Some("x"));
        let chips = filters.chips(str::to_owned);
        assert_eq!(chips, ["focus a::b<c>(int)", "focus main", "thread worker 8", "/x"]);
        filters.add(Step::Text(String::new()));
        assert_eq!(filters.text(), None);
        filters.steps.pop();
        assert_eq!(filters.query().filter.threads, [0; 0]);
    }

    #[test]
    fn names_need_not_be_text() {
        assert_eq!(exactly(b"a.b"), r"^a\.b$");
        let pattern = regex::bytes::Regex::new(&exactly(b"a.\xff")).expect("a pattern");
        assert!(pattern.is_match(b"a.\xff") && !pattern.is_match(b"ax\xff"));
    }

    #[test]
    fn upper_case_makes_case_count() {
        assert!(has_text("Parser::Run", "run"));
        assert!(has_text("Parser::Run", "Run"));
        assert!(!has_text("Parser::run", "Run"));
    }
}
