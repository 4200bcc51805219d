//! The vocabulary of options: every option of a run and every closed choice, as plain types with one JSON form.
//!
//! The command, the service, its worker, bundles and the Python package use these types. To add an option, add a field
//! here, an argument of the command, and the code that uses the field.
//!
//! # JSON
//! The options of a run are one flat object, read by [`Options::from_json`] and written by [`Options::to_json`].
//! All names are optional. An unknown name is an error that names it. The writer omits options with their default
//! value.
//! The reader accepts more forms than the writer produces: one value for a list of one, and texts as a user types them
//! (`"pid": "1,2"`, `"max_memory": "2G"`, `"symbols": "false"`).
//!
//! Paths and names of threads are bytes. They are JSON strings if they are UTF-8, else `{"hex": "2f61ff"}` with two
//! lower-case digits per byte ([`Bytes`]). Numbers of 64 bits are JSON numbers.

mod cache_location;
mod choice;
mod choice_or_value;
mod choices;
mod example;
mod files;
mod json;
mod limits;
mod names;
mod pattern;
mod query_filter;
mod remedy;
mod run;
mod samples;
mod value_options;
mod values;

pub use cache_location::CacheLocation;
pub use choice::{Choice, UnknownChoice};
pub use choice_or_value::ChoiceOrValue;
pub use choices::{CostKind, Demangle, GroupBy, Join, StackRoot, TopFormat, Weight};
pub use example::every_option;
pub use files::{FileSearch, FolderOption, PathMap, Servers, parse_module_file, parse_path_map};
pub use json::OptionsError;
pub use limits::Limits;
pub use names::NameOptions;
pub use pattern::{fits_event, matches_pattern, without_modifiers};
pub use query_filter::QueryFilter;
pub use remedy::{
    DebugInfo, DebugProof, OptionName, Remedy, ShortRemedy, Spelling, SymbolPresence,
    UntriedOptions,
};
pub use run::{MAX_FRAMES, Options};
pub use samples::{
    Condition, ConditionError, FieldSelection, LabelError, LabelOptions, LabelRule, SampleFilter,
    SpanError, SpanEvent, SpanLimit, SpanOptions, SpanRule, SpanTime,
};
pub use value_options::ValueOptions;
pub use values::{
    Bytes, Hint, HintError, HintScope, MemoryLimit, Normalization, Percent, TimePoint, TimeRange,
    from_hex, parse_cpus, parse_duration, parse_memory, parse_percent, parse_seconds, parse_share,
    parse_size, to_hex,
};
