//! Reliability of weak evidence in this recording: each sample that shows the true caller is a trial of such evidence.

use address::ModuleId;
use hashbrown::HashMap;
use unwinder::CodeLocation;

use crate::join::call::{ActiveCall, Link};

/// Outcomes by kind of evidence: per return location, and per module of the callee.
/// The modules' outcomes are separate for calls that one sample showed and that several did.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    sites: HashMap<(Link, ModuleId, u64), TrialOutcomes>,
    modules: Vec<ByLink>,
}

/// Outcomes of a module by kind of evidence: of calls that one sample showed, and that several did.
type ByLink = [[TrialOutcomes; 2]; Link::Gap as usize];

#[derive(Clone, Copy, Debug, Default)]
struct TrialOutcomes {
    right: u32,
    wrong: u32,
}

impl TrialOutcomes {
    fn note(&mut self, right: bool) {
        let count = if right { &mut self.right } else { &mut self.wrong };
        *count = count.saturating_add(1);
    }

    const fn add(&mut self, other: Self) {
        self.right = self.right.saturating_add(other.right);
        self.wrong = self.wrong.saturating_add(other.wrong);
    }

    /// Returns true if at most one in `many` was wrong.
    const fn at_most_one_wrong_of(self, many: u32) -> bool {
        self.wrong.saturating_mul(many) <= self.right
    }
}

/// Minimum number of successful trials for support.
const SUPPORT: u32 = 4;

impl Trials {
    /// Records whether evidence for a function's return to the location of `call` was right.
    pub(crate) fn note(&mut self, link: Link, call: &ActiveCall, right: bool) {
        if let Some(module) = call.caller.module {
            self.sites.entry((link, module, call.caller.relative)).or_default().note(right);
        }
        if let Some(module) = call.callee.module {
            let at = module.index();
            if self.modules.len() <= at {
                self.modules.resize(at + 1, ByLink::default());
            }
            let by_link = self.modules.get_mut(at).and_then(|it| it.get_mut(link as usize));
            if let Some([once, often]) = by_link {
                if call.samples > 1 { often } else { once }.note(right);
            }
        }
    }

    /// Records the trials of a call that returns to `caller`, with samples before and after that show it.
    /// `right` samples in between showed the call, `wrong` ones did not.
    pub(crate) fn note_lasting(&mut self, caller: &CodeLocation, right: u32, wrong: u32) {
        if let Some(module) = caller.module {
            let key = (Link::Gap, module, caller.relative);
            self.sites.entry(key).or_default().add(TrialOutcomes { right, wrong });
        }
    }

    /// Returns true if a call shown before and after a sample counts as active in between: unless trials contradict it.
    pub(crate) fn lasts(&self, call: &ActiveCall) -> bool {
        self.site(Link::Gap, call).at_most_one_wrong_of(200)
    }

    /// Adds the outcomes of another thread group.
    pub(crate) fn add(&mut self, other: &Self) {
        for (key, outcomes) in &other.sites {
            self.sites.entry(*key).or_default().add(*outcomes);
        }
        if self.modules.len() < other.modules.len() {
            self.modules.resize(other.modules.len(), ByLink::default());
        }
        for (own, more) in self.modules.iter_mut().zip(&other.modules) {
            let pairs = own.as_flattened_mut().iter_mut().zip(more.as_flattened());
            pairs.for_each(|(own, more)| own.add(*more));
        }
    }

    /// Returns true if evidence of this kind proves that a function returns to the location of `call`.
    /// Strong evidence does unless trials contradict it.
    /// Weak evidence never does, because complete samples are not representative.
    pub(crate) fn prove(&self, link: Link, call: &ActiveCall) -> bool {
        let (site, module) = (self.site(link, call), self.module(link, call));
        link <= Link::Observed
            || link == Link::SameFrame
                && site.at_most_one_wrong_of(200)
                && module.at_most_one_wrong_of(200)
    }

    /// Returns true if evidence of this kind was mostly right: two agreeing pieces of it are then reliable.
    pub(crate) fn support(&self, link: Link, call: &ActiveCall) -> bool {
        if self.prove(link, call) {
            return true;
        }
        let site = self.site(link, call);
        site.right >= SUPPORT && site.at_most_one_wrong_of(10)
    }

    fn site(&self, link: Link, call: &ActiveCall) -> TrialOutcomes {
        let site = call.caller.module.map(|module| (link, module, call.caller.relative));
        site.and_then(|key| self.sites.get(&key)).copied().unwrap_or_default()
    }

    fn module(&self, link: Link, call: &ActiveCall) -> TrialOutcomes {
        // Modules after the last one with a trial have none.
        let by_link = call.callee.module.and_then(|module| self.modules.get(module.index()));
        let outcomes = by_link.and_then(|it| it.get(link as usize));
        outcomes
            .map(|[once, often]| if call.samples > 1 { *often } else { *once })
            .unwrap_or_default()
    }
}
