//! Fields in the text of `perf script`, by the names of its option `-F`.

/// Field names, in the order of printing.
const NAMES: [&str; 11] =
    ["comm", "pid", "tid", "cpu", "time", "period", "event", "ip", "sym", "symoff", "dso"];

/// Names of fields that are printed only if they are selected: source lines, values of tracepoints and probes, and
/// branches; as are [`ScriptFields::MEMORY`].
const SELECTABLE: [&str; 3] = ["srcline", ScriptFields::TRACE, ScriptFields::BRANCHES];

/// A set of output fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScriptFields(u32);

impl ScriptFields {
    /// Name of the field for the values of tracepoints and probes.
    pub const TRACE: &'static str = "trace";

    /// Name of the field for recent branches.
    pub const BRANCHES: &'static str = "brstack";

    /// Numbers that the processor takes with the sample of a memory access, with the names of these fields.
    pub const MEMORY: [&'static str; 5] = ["addr", "weight", "ins_lat", "data_src", "phys_addr"];

    /// The fields if none are selected: all except those that must be selected.
    pub const DEFAULT: Self = Self((1 << NAMES.len()) - 1);

    /// Parses comma-separated names. If the list begins with `+` or `-`, names are added to the default fields or
    /// removed from them.
    ///
    /// # Errors
    /// Returns a sentence that names the unknown field, or the field that a selected one requires.
    pub fn parse(text: &str) -> Result<Self, String> {
        let changes = text.starts_with(['+', '-']);
        let mut fields = if changes { Self::DEFAULT } else { Self(0) };
        for word in text.split(',') {
            let (adds, name) = match word.split_at_checked(1) {
                Some(("+", name)) if changes => (true, name),
                Some(("-", name)) if changes => (false, name),
                _ => (true, word),
            };
            let bit = Self::bit(name).ok_or_else(|| {
                let names: Vec<_> = names().collect();
                format!("{word} is none of {}", names.join(", "))
            })?;
            fields.0 = if adds { fields.0 | bit } else { fields.0 & !bit };
        }
        for (name, needed) in [("symoff", "sym"), ("sym", "ip"), ("dso", "ip"), ("srcline", "ip")] {
            if fields.has(name) && !fields.has(needed) {
                return Err(format!("{name} needs {needed}"));
            }
        }
        Ok(fields)
    }

    /// Returns the selected numbers of [`Self::MEMORY`].
    pub fn memory(self) -> impl Iterator<Item = &'static str> {
        Self::MEMORY.into_iter().filter(move |name| self.has(name))
    }

    /// Returns the set with the values of tracepoints and probes.
    #[must_use]
    pub fn with_trace(self) -> Self {
        Self(self.0 | Self::bit(Self::TRACE).unwrap_or(0))
    }

    /// Returns true if the set contains the field `name`.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        Self::bit(name).is_some_and(|bit| self.0 & bit != 0)
    }

    fn bit(name: &str) -> Option<u32> {
        names().enumerate().find(|&(_, known)| known == name).map(|(at, _)| 1 << at)
    }
}

/// The names of all fields; the place of one is its bit.
fn names() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(SELECTABLE).chain(ScriptFields::MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let joined = |text| {
            let selected = |fields: ScriptFields| names().filter(move |name| fields.has(name));
            ScriptFields::parse(text).map(|fields| selected(fields).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(joined("ip,comm"), Ok("comm ip".to_owned()));
        assert_eq!(
            joined("+srcline,-cpu,-pid"),
            Ok("comm tid time period event ip sym symoff dso srcline".to_owned())
        );
        assert_eq!(joined("comm,sym"), Err("sym needs ip".to_owned()));
        assert_eq!(joined("-sym"), Err("symoff needs sym".to_owned()));
        let error = joined("comm,x").expect_err("unknown");
        let expected = format!("x is none of {}", names().collect::<Vec<_>>().join(", "));
        assert_eq!(error, expected);
        assert_eq!(joined("addr,pid,data_src"), Ok("pid addr data_src".to_owned()));
        assert_eq!(ScriptFields::parse(&NAMES.join(",")), Ok(ScriptFields::DEFAULT));
    }
}
