//! How far weak evidence can be relied on in this recording: whenever a sample shows what such evidence would have said
//! of it, that is a trial.

use address::ModuleId;
use hashbrown::HashMap;

use crate::frame::Place;
use crate::repair::call::{Call, Link};

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

/// Fewer trials of one place of the code prove nothing.
const OF_SITE: u32 = 32;
/// Fewer trials of a module prove nothing.
const OF_MODULE: u32 = 50;
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
    /// trials speak against it; weak evidence does where there are enough trials.
    pub(crate) fn prove(&self, link: Link, call: &Call) -> bool {
        if link <= Link::Seen {
            return true;
        }
        let (site, module) = (self.site(link, call), self.module(link, call));
        let by_site = site.right >= OF_SITE && site.at_most_one_wrong_of(100);
        let by_module = module.right >= OF_MODULE && module.at_most_one_wrong_of(100);
        match link {
            Link::Root | Link::Seen => true,
            Link::SameFrame => site.at_most_one_wrong_of(200) && module.at_most_one_wrong_of(200),
            Link::Outer => site.at_most_one_wrong_of(100) && module.at_most_one_wrong_of(50),
            Link::SameCall | Link::SameFunction => by_site || site.wrong == 0 && by_module,
            Link::OtherFunction => by_site,
            Link::Gap => false,
        }
    }

    /// Whether evidence of a kind was mostly right, so that two of it that agree can be relied on.
    pub(crate) fn support(&self, link: Link, call: &Call) -> bool {
        if self.prove(link, call) {
            return true;
        }
        let site = self.site(link, call);
        site.right >= SUPPORT && site.at_most_one_wrong_of(10)
    }

    /// Whether a frame of a function of `callee`'s module, in the same place and called the same, always returned to the
    /// same `caller`, or nearly so.
    pub(crate) fn repeats(&self, callee: &Place, caller: &Place) -> bool {
        let site = self.at_site(Link::SameCall, caller);
        let [once, often] =
            [false, true].map(|often| self.of_module(Link::SameCall, callee, often));
        let module = Outcomes { right: once.right + often.right, wrong: once.wrong + often.wrong };
        let by_site = site.right >= SUPPORT && site.at_most_one_wrong_of(100);
        let by_module = module.right >= OF_MODULE && module.at_most_one_wrong_of(50);
        by_site || site.wrong == 0 && by_module
    }

    fn site(&self, link: Link, call: &Call) -> Outcomes {
        self.at_site(link, &call.caller)
    }

    fn at_site(&self, link: Link, caller: &Place) -> Outcomes {
        let site = caller.module.map(|module| (tried_as(link), module, caller.relative));
        site.and_then(|key| self.sites.get(&key)).copied().unwrap_or_default()
    }

    fn module(&self, link: Link, call: &Call) -> Outcomes {
        self.of_module(link, &call.callee, call.seen > 1)
    }

    fn of_module(&self, link: Link, callee: &Place, often_seen: bool) -> Outcomes {
        let by_link = callee.module.and_then(|module| self.modules.get(module.index()));
        let outcomes = by_link.and_then(|it| it.get(tried_as(link) as usize));
        outcomes.map(|[once, often]| if often_seen { *often } else { *once }).unwrap_or_default()
    }
}

/// The kind of evidence by whose trials another one is judged.
const fn tried_as(link: Link) -> Link {
    if matches!(link, Link::Outer) { Link::SameCall } else { link }
}
