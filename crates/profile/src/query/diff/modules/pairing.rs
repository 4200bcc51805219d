//! Pairing of modules that exist only before or only after: by soname, by name without hash or version, or by common
//! functions. Ambiguous modules get no partner.

use hashbrown::HashMap;

use super::stem::{soname, stem};

/// Reason that a module before and one after are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedBy {
    /// Their names are equal.
    Name,
    /// The user paired them.
    Option,
    /// Their names have the same soname: `libx.so.1.0.0` and `libx.so.1.0.1`.
    Soname,
    /// Their names are equal without hash, version, and words such as `old` and `new`.
    Stem,
    /// Most of their functions have equal names.
    Functions,
}

impl PairedBy {
    /// Keyword in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Option => "option",
            Self::Soname => "soname",
            Self::Stem => "stem",
            Self::Functions => "functions",
        }
    }
}

/// A module that exists only before or only after.
#[derive(Debug)]
pub(super) struct Single {
    /// Name without path.
    pub(super) name: Vec<u8>,
    /// Whether it has samples.
    pub(super) sampled: bool,
    /// By compared function name: number of its addresses with samples.
    pub(super) functions: HashMap<Vec<u8>, u64>,
}

/// A pair: index before, index after, and reason.
pub(super) type Pair = (usize, usize, PairedBy);

/// Pairs modules that exist only before or only after, at most once each. At least one module of a pair has samples.
pub(super) fn pairs(before: &[Single], after: &[Single]) -> Vec<Pair> {
    let mut pairing = Pairing { sides: [before, after], pairs: Vec::new() };
    // Partners with samples take precedence.
    for both_sampled in [true, false] {
        pairing.by_names(both_sampled);
        if both_sampled {
            pairing.by_functions();
            // Pairing by functions may leave a unique pair of modules with the same stem.
            pairing.by_names(both_sampled);
        }
    }
    pairing.pairs
}

/// Minimum share of the modules in common functions.
const COMMON: f64 = 0.5;

/// Minimum distance to the second-best candidate.
const AHEAD: f64 = 0.2;

/// Minimum number of common functions, without those that every program has.
const FEWEST: usize = 2;

/// Maximum number of pairs to compare by functions.
const COMPARISONS: usize = 1 << 16;

struct Pairing<'a> {
    sides: [&'a [Single]; 2],
    pairs: Vec<Pair>,
}

impl Pairing<'_> {
    /// Returns the modules without a partner, before (`side` 0) or after (1).
    fn unpaired(&self, side: usize) -> Vec<usize> {
        let taken = |at: &usize| {
            self.pairs.iter().any(|pair| if side == 0 { pair.0 == *at } else { pair.1 == *at })
        };
        let all = self.sides.get(side).map_or(0, |side| side.len());
        (0..all).filter(|at| !taken(at)).collect()
    }

    fn single(&self, side: usize, at: usize) -> Option<&Single> {
        self.sides.get(side)?.get(at)
    }

    fn by_names(&mut self, both_sampled: bool) {
        let soname_of = |single: &Single| soname(&single.name).map(<[u8]>::to_vec);
        self.by_key(PairedBy::Soname, both_sampled, soname_of);
        // A name in brackets is not a file name.
        let stem_of =
            |single: &Single| (!single.name.starts_with(b"[")).then(|| stem(&single.name));
        self.by_key(PairedBy::Stem, both_sampled, stem_of);
    }

    /// Pairs modules with a key that is unique both before and after.
    fn by_key(
        &mut self,
        by: PairedBy,
        both_sampled: bool,
        key: impl Fn(&Single) -> Option<Vec<u8>>,
    ) {
        let mut groups: HashMap<Vec<u8>, [Vec<usize>; 2]> = HashMap::new();
        let mut order = Vec::new();
        for side in [0, 1] {
            for at in self.unpaired(side) {
                let Some(single) = self.single(side, at) else { continue };
                let Some(key) = key(single).filter(|_| single.sampled || !both_sampled) else {
                    continue;
                };
                let group = groups.entry(key.clone()).or_insert_with(|| {
                    order.push(key);
                    Default::default()
                });
                if let Some(members) = group.get_mut(side) {
                    members.push(at);
                }
            }
        }
        for group in order.iter().filter_map(|key| groups.get(key)) {
            let ([before], [after]) = (&*group[0], &*group[1]) else { continue };
            let is_sampled = |side, at: usize| self.single(side, at).is_some_and(|one| one.sampled);
            if is_sampled(0, *before) || is_sampled(1, *after) {
                self.pairs.push((*before, *after, by));
            }
        }
    }

    /// Pairs modules that have clearly more functions in common with each other than with any other module.
    fn by_functions(&mut self) {
        let [before, after] = [0, 1].map(|side| {
            let unpaired = self.unpaired(side).into_iter();
            let singles = unpaired.filter_map(|at| Some((at, self.single(side, at)?)));
            let named =
                singles.filter(|(_, single)| single.sampled && !single.functions.is_empty());
            named.collect::<Vec<_>>()
        });
        if before.len().saturating_mul(after.len()) > COMPARISONS {
            return;
        }
        let mut scores = Vec::new();
        for &(one, first) in &before {
            for &(other, second) in &after {
                let score = in_common(first, second);
                if score > 0.0 {
                    scores.push((score, one, other));
                }
            }
        }
        let is_best = |&&(score, one, other): &&(f64, usize, usize)| {
            let rivals = scores.iter().filter(|rival| (rival.1 == one) != (rival.2 == other));
            score >= COMMON
                && rivals.fold(0.0, |best: f64, rival| best.max(rival.0)) <= score - AHEAD
        };
        let best = scores.iter().filter(is_best);
        let found: Vec<Pair> =
            best.map(|&(_, one, other)| (one, other, PairedBy::Functions)).collect();
        self.pairs.extend(found);
    }
}

/// Returns the share of two modules in common functions, from 0 to 1: the sum of the smaller share of each function.
/// Functions that are in every program are not counted.
fn in_common(one: &Single, other: &Single) -> f64 {
    let own = |single: &Single| -> Vec<(Vec<u8>, u64)> {
        let functions = single.functions.iter().filter(|(name, _)| !is_everywhere(name));
        functions.map(|(name, count)| (name.clone(), *count)).collect()
    };
    let (first, second) = (own(one), own(other));
    let total = |functions: &[(Vec<u8>, u64)]| {
        functions.iter().map(|(_, count)| *count).sum::<u64>() as f64
    };
    let (all_first, all_second) = (total(&first), total(&second));
    let mut common = 0;
    let mut score = 0.0;
    for (name, count) in &first {
        let Some(there) = other.functions.get(name) else { continue };
        common += 1;
        score += (*count as f64 / all_first).min(*there as f64 / all_second);
    }
    if common < FEWEST { 0.0 } else { score }
}

/// Returns true for function names that unrelated programs share: program startup, and templates of standard libraries.
fn is_everywhere(name: &[u8]) -> bool {
    const STARTS: [&[u8]; 7] =
        [b"main", b"_start", b"_init", b"_fini", b"start", b"frame_dummy", b"std::rt::lang_start"];
    const LIBRARIES: [&[u8]; 4] = [b"std::", b"core::", b"alloc::", b"__"];
    let end = name.iter().skip(1).position(|byte| matches!(byte, b'<' | b'(')).map(|at| at + 1);
    let front = name.get(..end.unwrap_or(name.len())).unwrap_or(name);
    // The type of a demangled template precedes its name.
    let own = front.rsplit(|&byte| byte == b' ').next().unwrap_or(front);
    let own = own.strip_prefix(b"<").unwrap_or(own);
    STARTS.contains(&own) || LIBRARIES.iter().any(|library| own.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(name: &str, functions: &[(&str, u64)]) -> Single {
        let functions = functions.iter().map(|&(name, count)| (name.as_bytes().to_vec(), count));
        Single { name: name.as_bytes().to_vec(), sampled: true, functions: functions.collect() }
    }

    fn named(names: &[&str]) -> Vec<Single> {
        names.iter().map(|name| single(name, &[])).collect()
    }

    #[test]
    fn names_pair_if_they_are_alone() {
        let before =
            named(&["a-0123456789abcdef", "b.old", "libx.so.1.0.0", "libx.so.2.0.0", "c-1"]);
        let after =
            named(&["libx.so.1.0.1", "b.new", "a-fedcba9876543210", "c-2", "c-3", "libx.so.2.1"]);
        let expected = [
            (2, 0, PairedBy::Soname),
            (3, 5, PairedBy::Soname),
            (0, 2, PairedBy::Stem),
            (1, 1, PairedBy::Stem),
        ];
        assert_eq!(pairs(&before, &after), expected);
    }

    #[test]
    fn functions_pair_programs_of_other_names() {
        let ours = [("main", 9), ("hash", 4), ("parse", 4), ("gone", 1)];
        let before = [single("one", &ours), single("x", &[("std::sort<int>(int)", 90), ("f", 9)])];
        let after = [
            single("y", &[("void std::sort<int>(int)", 90), ("std::sort<int>(int)", 9), ("g", 9)]),
            single("two", &[("main", 3), ("hash", 5), ("parse", 5), ("new", 1)]),
        ];
        assert_eq!(pairs(&before, &after), [(0, 1, PairedBy::Functions)]);
        // Two equally good candidates are ambiguous.
        let twice = [single("two", &ours), single("three", &ours)];
        assert_eq!(pairs(&before[..1], &twice), []);
        // A single common function is not sufficient.
        let few = [("main", 9), ("hash", 4)];
        assert_eq!(pairs(&[single("one", &few)], &[single("two", &few)]), []);
    }

    #[test]
    fn functions_decide_between_copies_of_one_stem() {
        let unit = [("a", 5), ("b", 5)];
        let test = [("c", 5), ("d", 5)];
        let before =
            [single("x-0123456789abcdef", &unit), single("x-1123456789abcdef", &[("e", 1)])];
        let after = [single("x-2123456789abcdef", &test), single("x-3123456789abcdef", &unit)];
        let expected = [(0, 1, PairedBy::Functions), (1, 0, PairedBy::Stem)];
        assert_eq!(pairs(&before, &after), expected);
    }

    #[test]
    fn what_is_mapped_without_samples_is_a_partner_too() {
        let mut after = named(&["app.new", "app.old"]);
        after[1].sampled = false;
        assert_eq!(pairs(&named(&["app"]), &after), [(0, 0, PairedBy::Stem)]);
        after.remove(0);
        assert_eq!(pairs(&named(&["app"]), &after), [(0, 0, PairedBy::Stem)]);
        let unseen: Vec<Single> =
            named(&["app"]).into_iter().map(|one| Single { sampled: false, ..one }).collect();
        assert_eq!(pairs(&unseen, &after), []);
    }
}
