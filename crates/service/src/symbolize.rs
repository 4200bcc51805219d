//! Symbolization query over HTTP, without a recording. Every part is bounded.

use options::Demangle;
use pipeline::BuildId;
use serde::Deserialize;

use crate::problem::{Problem, ProblemKind};
use crate::protocol::{AddressSpace, RequestedModule, SymbolizeTask};
use crate::store::FilePaths;

/// Maximum number of files in a query.
const MOST_MODULES: usize = 1000;

/// Maximum number of addresses in a query.
pub(crate) const MOST_ADDRESSES: usize = 50_000;

/// Symbolization query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Symbolize {
    /// Files.
    modules: Vec<ModuleQuery>,
    /// Index of the file, and address.
    addresses: Vec<(usize, Address)>,
    /// Address space of the addresses.
    #[serde(default)]
    space: AddressSpace,
    /// True to look up inlined functions.
    #[serde(default = "yes")]
    inlines: bool,
    /// Demangling of names.
    #[serde(default)]
    demangle: Demangle,
}

const fn yes() -> bool {
    true
}

/// File in a query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModuleQuery {
    build_id: String,
    /// Name in a recording; for the kernel `[kernel.kallsyms]`.
    name: Option<String>,
}

/// Address: a number, or hexadecimal digits after `0x`, since many JSON parsers lack 64-bit integers.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Address {
    Number(u64),
    Text(String),
}

impl Address {
    fn value(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => from_hex(text),
        }
    }
}

/// Parses hexadecimal digits after `0x`.
pub(crate) fn from_hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| plain)
}

impl Symbolize {
    /// Returns the task for the worker.
    ///
    /// # Errors
    /// If the query is too large or has an invalid value.
    pub(crate) fn task(&self, file_paths: &FilePaths) -> Result<SymbolizeTask, Problem> {
        let bad = |text: String| Problem::new(ProblemKind::BadRequest).detail(text);
        if self.modules.len() > MOST_MODULES || self.addresses.len() > MOST_ADDRESSES {
            let text = format!("more than {MOST_MODULES} modules or {MOST_ADDRESSES} addresses");
            return Err(bad(text));
        }
        let modules = self.modules.iter().map(|module| {
            let id = BuildId::from_hex(&module.build_id);
            let id = id.ok_or_else(|| bad(format!("{} is no build-id", module.build_id)))?;
            Ok::<_, Problem>(requested_module(&id.to_string(), module.name.clone(), file_paths))
        });
        let addresses = self.addresses.iter().map(|(module, address)| {
            if *module >= self.modules.len() {
                return Err(bad(format!("there is no module {module}")));
            }
            let address = address.value();
            Ok((*module, address.ok_or_else(|| bad("an address is a number or 0x…".to_owned()))?))
        });
        Ok(SymbolizeTask {
            modules: modules.collect::<Result<_, _>>()?,
            addresses: addresses.collect::<Result<_, _>>()?,
            space: self.space,
            inlines: self.inlines,
            demangle: self.demangle,
        })
    }
}

/// Returns the file with a build-id and its known paths.
pub(crate) fn requested_module(
    id: &str,
    name: Option<String>,
    file_paths: &FilePaths,
) -> RequestedModule {
    RequestedModule { build_id: id.to_owned(), name, paths: file_paths.paths(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> Result<SymbolizeTask, String> {
        let question: Symbolize = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let task = question.task(&FilePaths::default());
        task.map_err(|problem| problem.detail.unwrap_or_default())
    }

    #[test]
    fn addresses_are_numbers_or_digits() {
        let text =
            r#"{"modules":[{"build_id":"AB01"}],"addresses":[[0,16],[0,"0xffffffff81000010"]]}"#;
        let task = task(text).unwrap();
        assert_eq!(task.addresses, [(0, 16), (0, 0xffff_ffff_8100_0010)]);
        assert_eq!((&*task.modules[0].build_id, task.inlines), ("ab01", true));
        assert_eq!(task.space, AddressSpace::Svma);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for (text, why) in [
            (r#"{"modules":[{"build_id":"xy"}],"addresses":[]}"#, "xy is no build-id"),
            (r#"{"modules":[],"addresses":[[0,1]]}"#, "there is no module 0"),
            (
                r#"{"modules":[{"build_id":"ab"}],"addresses":[[0,"12"]]}"#,
                "an address is a number or 0x…",
            ),
            (
                r#"{"modules":[{"build_id":"ab"}],"addresses":[[0,"0x+1"]]}"#,
                "an address is a number or 0x…",
            ),
        ] {
            assert_eq!(task(text).unwrap_err(), why);
        }
        let many = vec!["[0,1]"; MOST_ADDRESSES + 1].join(",");
        let text = format!(r#"{{"modules":[{{"build_id":"ab"}}],"addresses":[{many}]}}"#);
        assert_eq!(task(&text).unwrap_err(), "more than 1000 modules or 50000 addresses");
    }
}
