//! How far weak evidence can be relied on in this recording: whenever a sample shows what such evidence would have said
//! of it, that is a trial.

use address::ModuleId;
use hashbrown::HashMap;
use unwinder::Place;

use crate::join::call::{Call, Link};

/// Outcomes by the kind of evidence: of each place of the code that calls were told to return to, and of all calls of
/// the functions of a module, apart for what one sample showed and for what several did.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    sites: HashMap<(Link, ModuleId, u64), Outcomes>,
    modules: Vec<ByLink>,
}

/// The outcomes of a module by the kind of evidence, for what one sample showed and for what several did.
type ByLink = [[Outcomes; 2]; Link::Gap as usize];

#[derive(Clone, Copy, Debug, Default)]
struct Outcomes {
    right: u32,
    wrong: u32,
}

impl Outcomes {
    fn note(&mut self, right: bool) {
        let count = if right { &mut self.right } else { &mut self.wrong };
        *count = count.saturating_add(1);
    }

    const fn add(&mut self, other: Self) {
        self.right = self.right.saturating_add(other.right);
        self.wrong = self.wrong.saturating_add(other.wrong);
    }

    /// Whether at most one of so many was wrong.
    const fn at_most_one_wrong_of(self, many: u32) -> bool {
        self.wrong.saturating_mul(many) <= self.right
    }
}

/// Fewer trials support nothing.
const SUPPORT: u32 = 4;

impl Trials {
    /// Notes whether evidence of a kind was right that a function returns to where `call` does.
    pub(crate) fn note(&mut self, link: Link, call: &Call, right: bool) {
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
                if call.seen > 1 { often } else { once }.note(right);
            }
        }
    }

    /// Notes how many samples did and did not show a call that returns to `caller`, while samples before them and after
    /// them did.
    pub(crate) fn note_lasting(&mut self, caller: &Place, right: u32, wrong: u32) {
        if let Some(module) = caller.module {
            let key = (Link::Gap, module, caller.relative);
            self.sites.entry(key).or_default().add(Outcomes { right, wrong });
        }
    }

    /// Whether a call that samples before and after showed was under way all the time, unless trials speak against it.
    pub(crate) fn lasts(&self, call: &Call) -> bool {
        self.site(Link::Gap, call).at_most_one_wrong_of(200)
    }

    /// Adds the outcomes of others.
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

    /// Whether evidence of a kind proves that a function returns to where `call` does. Strong evidence does, unless
    /// trials speak against it; weak evidence never does, for what samples show in full is not a fair choice.
    pub(crate) fn prove(&self, link: Link, call: &Call) -> bool {
        let (site, module) = (self.site(link, call), self.module(link, call));
        link <= Link::Seen
            || link == Link::SameFrame
                && site.at_most_one_wrong_of(200)
                && module.at_most_one_wrong_of(200)
    }

    /// Whether evidence of a kind was mostly right, so that two of it that agree can be relied on.
    pub(crate) fn support(&self, link: Link, call: &Call) -> bool {
        if self.prove(link, call) {
            return true;
        }
        let site = self.site(link, call);
        site.right >= SUPPORT && site.at_most_one_wrong_of(10)
    }

    fn site(&self, link: Link, call: &Call) -> Outcomes {
        let site = call.caller.module.map(|module| (link, module, call.caller.relative));
        site.and_then(|key| self.sites.get(&key)).copied().unwrap_or_default()
    }

    fn module(&self, link: Link, call: &Call) -> Outcomes {
        // Modules behind the last one with a trial have none.
        let by_link = call.callee.module.and_then(|module| self.modules.get(module.index()));
        let outcomes = by_link.and_then(|it| it.get(link as usize));
        outcomes.map(|[once, often]| if call.seen > 1 { *often } else { *once }).unwrap_or_default()
    }
}
