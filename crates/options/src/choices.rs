//! The closed choices that users make.

use crate::choice::choices;

choices! {
    /// Spelling of function names.
    Demangle, default Full {
        /// With parameters
        Full = "full",
        /// Without parameters and template arguments
        Short = "short",
        /// Without parameters, as perf script
        Perf = "perf",
        /// Mangled, as in the symbol table
        None = "none",
    }

    /// Continuation of truncated callchains with frames from other samples of the thread.
    #[allow(rustdoc::broken_intra_doc_links, reason = "`[gap]` is the name of a frame")]
    Join, default Gaps {
        /// Not at all
        Off = "off",
        /// Only frames that other samples show, without a gap
        Exact = "exact",
        /// To the root, with a frame [gap] for frames that no sample shows
        Gaps = "gaps",
    }

    /// Weight of a sample in formats and tables that add samples up.
    Weight, default Samples {
        /// The number of samples
        Samples = "samples",
        /// The sum of their periods
        Period = "period",
        /// The time of their threads off the processor; needs context switches
        OffCpu = "off-cpu",
    }

    /// Grouping of samples in tables.
    GroupBy, default Function {
        /// Functions
        Function = "function",
        /// Programs and libraries
        Module = "module",
        /// Lines of source
        Line = "line",
        /// Threads
        Thread = "thread",
        /// Processes
        Process = "process",
        /// Names of threads
        Comm = "comm",
        /// Control groups, if they were recorded
        Cgroup = "cgroup",
        /// Events
        Event = "event",
        /// Processors, if samples state them
        Cpu = "cpu",
        /// Kinds of waits, with --weight off-cpu
        Wait = "wait",
    }

    /// Outermost frame of a folded stack.
    StackRoot, default Comm {
        /// The thread's name
        Comm = "comm",
        /// The process, NAME-pid
        Process = "process",
        /// comm-pid/tid
        Thread = "thread",
        /// Nothing
        None = "none",
    }

    /// Format of a table of costs.
    TopFormat, default Text {
        /// A table for people
        Text = "text",
        /// One JSON object
        Json = "json",
        /// Comma-separated values with a header
        Csv = "csv",
    }

    /// Cost of a function in a table or a comparison.
    CostKind, default Own {
        /// The cost of the function itself
        Own = "own",
        /// The cost of the function and its callees
        Inclusive = "inclusive",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{Choice, UnknownChoice};

    fn check<T>()
    where
        T: Choice + Display + FromStr<Err = UnknownChoice> + Serialize + DeserializeOwned,
    {
        let words: BTreeSet<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
        assert_eq!(words.len(), T::ALL.len());
        for &value in T::ALL {
            let word = value.as_str();
            assert_eq!(value.to_string(), word);
            assert_eq!(word.parse(), Ok(value));
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<T>(&json).unwrap(), value);
            assert!(!value.about().is_empty() && !value.about().ends_with('.'), "{word}");
        }
        assert!("of no choice".parse::<T>().is_err());
        assert!(serde_json::from_str::<T>("\"of no choice\"").is_err());
    }

    #[test]
    fn every_choice_round_trips() {
        check::<Demangle>();
        check::<Join>();
        check::<Weight>();
        check::<GroupBy>();
        check::<StackRoot>();
        check::<CostKind>();
        check::<TopFormat>();
    }

    #[test]
    fn an_unknown_keyword_names_the_known_ones() {
        let error = "x".parse::<Demangle>().unwrap_err();
        assert_eq!(error.to_string(), r#""x" is none of full, short, perf, none"#);
        let error = serde_json::from_str::<Demangle>("\"x\"").unwrap_err().to_string();
        assert!(error.starts_with("unknown variant `x`, expected one of"), "{error}");
    }
}
