//! The unwind rules of earlier runs: read from the cache, and stored in it after a run.

use std::sync::Arc;

use address::Svma;
use budget::MemoryBudget;
use cache::{Cache, CacheKey, RuleRows};
use image_store::Image;
use rayon::prelude::*;
use unwinder::{NewRules, RULES_VERSION, RuleBytes, RuleStore, RuleTable, StoredRules};

/// Returns the cached rules for one run.
pub(crate) fn stored_rules(cache: &Arc<Cache>, memory: &Arc<MemoryBudget>) -> StoredRules {
    StoredRules::new(Box::new(CachedRules(Arc::clone(cache))), memory)
}

/// Stores the new rules of a run. A file that was truncated meanwhile has no key, so its rules are not stored.
pub(crate) fn store_rules(rules: &StoredRules, cache: &Cache) {
    rules.take_new().into_par_iter().for_each(|NewRules { file, rules }| {
        if let Some(key) = CacheKey::of_rules(file.image(), RULES_VERSION) {
            let rules = rules.into_iter().map(|(svma, RuleBytes(rule))| (svma.0, rule));
            let fits = |old: &RuleRows| table_of(file.image(), old.clone()).is_some();
            cache.store_rules(&key, &rules.collect::<Vec<_>>(), fits);
        }
    });
}

/// Returns the rules of a file; `None` if they cannot belong to it.
fn table_of(image: &Image, rows: RuleRows) -> Option<RuleTable> {
    let RuleRows { first, offsets, numbers, rules } = rows;
    let rules: Vec<RuleBytes> = rules.into_iter().map(RuleBytes).collect();
    RuleTable::new(image, Svma(first), offsets, numbers, &rules)
}

/// The cache as a rule store of the unwinder.
#[derive(Debug)]
struct CachedRules(Arc<Cache>);

impl RuleStore for CachedRules {
    fn rules(&self, image: &Image) -> Option<RuleTable> {
        let key = CacheKey::of_rules(image, RULES_VERSION)?;
        let table = self.0.rules(&key).and_then(|rows| table_of(image, rows));
        Some(table.unwrap_or_default())
    }
}
