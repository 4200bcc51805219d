//! The rule of a frame's address: cached, or newly made.

use std::sync::Arc;

use address::{Avma, Svma};

use crate::arch::{NARROW, WIDE};
use crate::cache::{CachedMapping, RuleKey};
use crate::rule::{FullRow, Rule};
use crate::state::{SampleMemory, WalkContext};
use crate::walk::{Walker, file_at};

impl Walker<'_> {
    /// Returns the rule of an address in a mapping.
    #[inline(always)]
    pub(super) fn rule_in<const WORD: u64>(
        &mut self,
        mapping: &CachedMapping,
        svma: Svma,
        lookup: Avma,
        memory: &SampleMemory<'_>,
    ) -> Rule {
        let file = mapping.file;
        file.map_or(Rule::NoInfo, |file| self.rule::<WORD>(file, svma, lookup, memory))
    }

    /// Returns the row of an address that has no simple rule.
    #[inline]
    pub(super) fn full_row(
        &mut self,
        index: u32,
        svma: Svma,
        lookup: Avma,
        memory: &SampleMemory<'_>,
    ) -> Option<Arc<FullRow>> {
        let file = file_at(lookup, memory)?;
        self.engine.row_of(index, file, svma, memory.images, &mut self.cache.scratch)
    }

    /// Returns the rule of an address. It is inlined because each step of a walk needs it.
    #[inline(always)]
    fn rule<const WORD: u64>(
        &mut self,
        file: u32,
        svma: Svma,
        lookup: Avma,
        memory: &SampleMemory<'_>,
    ) -> Rule {
        let known = &mut self.cache.rules;
        let key = RuleKey::new::<WORD>(file, svma);
        if let Some(rule) = key.and_then(|key| self.engine.cached(key, known)) {
            self.hits += 1;
            return rule;
        }
        self.misses += 1;
        match file_at(lookup, memory) {
            Some(file) => {
                let scratch = &mut self.cache.scratch;
                self.engine.make_rule::<WORD>(file, svma, memory.images, scratch, self.stored_rules)
            }
            None => Rule::NoInfo,
        }
    }

    /// Returns the rule of an address for a processor.
    pub(super) fn rule_of(
        &mut self,
        file: u32,
        svma: Svma,
        lookup: Avma,
        context: &WalkContext<'_>,
    ) -> Rule {
        if context.arch.word == NARROW {
            self.rule::<NARROW>(file, svma, lookup, &context.memory)
        } else {
            self.rule::<WIDE>(file, svma, lookup, &context.memory)
        }
    }
}
