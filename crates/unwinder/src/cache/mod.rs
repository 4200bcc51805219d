//! Caches that speed up walks without changing their results: rules of addresses, mappings of spaces, the outer frames
//! of the previous sample.

mod mapping_cache;
mod rules;
mod stack_cache;

pub(crate) use mapping_cache::{CachedMapping, MappingCache};
pub(crate) use rules::{LocalRules, RuleCache, RuleKey};
pub(crate) use stack_cache::{Followed, StackCache, WalkState};
