//! Matching of positions before and after: numbers by their order in the file, files and folders by their names.

/// Matched members: before and after.
type Matched<T> = [Option<T>; 2];

/// Maximum number of pairs to examine; larger groups are matched in order.
const PAIRS: usize = 1 << 20;

/// Matches positions in order; `sides` must be ascending. The largest set that is equal after one common shift is
/// matched first. Positions between these are matched if their numbers are equal.
pub(super) fn match_numbers(sides: &[Vec<u64>; 2]) -> Vec<Matched<u64>> {
    let [before, after] = sides;
    let mut matched: Vec<Matched<u64>> = Vec::new();
    let mut partner = vec![None; before.len()];
    if before.len() == after.len() || before.len().saturating_mul(after.len()) > PAIRS {
        let n = before.len().min(after.len());
        partner.iter_mut().zip(0..n).for_each(|(partner, at)| *partner = Some(at));
    } else {
        fit(before, after, &mut partner);
    }
    let mut next = 0;
    for (&one, partner) in before.iter().zip(partner) {
        if let Some(at) = partner {
            while next < at {
                matched.push([None, after.get(next).copied()]);
                next += 1;
            }
            matched.push([Some(one), after.get(at).copied()]);
            next = at + 1;
        } else {
            matched.push([Some(one), None]);
        }
    }
    matched.extend(after.get(next..).unwrap_or_default().iter().map(|&other| [None, Some(other)]));
    matched
}

/// Stores, for each of `before`, the index of its match in `after`.
fn fit(before: &[u64], after: &[u64], partner: &mut [Option<usize>]) {
    // Unprocessed ranges before and after; and whether nothing outside of them is matched.
    let mut pending = vec![(0..before.len(), 0..after.len(), true)];
    while let Some((here, there, is_all)) = pending.pop() {
        let (ours, theirs) = (before.get(here.clone()), after.get(there.clone()));
        let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
        if ours.is_empty() || theirs.is_empty() {
            continue;
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        if ours.len() != theirs.len()
            && let Some(shift) = best_shift(ours, theirs)
        {
            let there_of = |value: u64| {
                theirs.binary_search_by_key(&(i128::from(value) + shift), |&other| other.into())
            };
            let pairs = ours
                .iter()
                .enumerate()
                .filter_map(|(at, &value)| Some((at, there_of(value).ok()?)));
            found.extend(pairs);
        }
        if found.is_empty() {
            if ours.len() == theirs.len() || is_all {
                let pairs = here.zip(there);
                pairs.for_each(|(one, other)| {
                    partner.get_mut(one).into_iter().for_each(|slot| *slot = Some(other));
                });
            }
            continue;
        }
        let (mut one, mut other) = (here.start, there.start);
        for (ours, theirs) in found {
            let (ours, theirs) = (here.start + ours, there.start + theirs);
            pending.push((one..ours, other..theirs, false));
            partner.get_mut(ours).into_iter().for_each(|slot| *slot = Some(theirs));
            (one, other) = (ours + 1, theirs + 1);
        }
        pending.push((one..here.end, other..there.end, false));
    }
}

/// Returns the shift that makes most positions equal; of several, the smallest. A shift by a single position is
/// accepted only if it is 0.
fn best_shift(before: &[u64], after: &[u64]) -> Option<i128> {
    let mut shifts: Vec<i128> = Vec::with_capacity(before.len() * after.len());
    for &one in before {
        shifts.extend(after.iter().map(|&other| i128::from(other) - i128::from(one)));
    }
    shifts.sort_unstable();
    let runs = shifts.chunk_by(|one, other| one == other);
    let votes = runs.filter_map(|run| Some((run.len(), *run.first()?)));
    let proven = votes.filter(|&(votes, shift)| votes > 1 || shift == 0);
    let best =
        proven.max_by_key(|&(votes, shift)| (votes, std::cmp::Reverse((shift.abs(), shift))));
    best.map(|(_, shift)| shift)
}

/// Matches folders and returns them with distinguishing texts. Equal paths are matched first, then those with the most
/// common trailing components, and finally a single remaining pair.
pub(super) fn match_folders(sides: &[Vec<Vec<u8>>; 2]) -> Vec<(Vec<u8>, Matched<Vec<u8>>)> {
    let mut matched = equal_members(sides);
    let mut left = sides.clone().map(|side| side.into_iter().map(Some).collect::<Vec<_>>());
    let is_matched = |side: usize, path: &[u8], matched: &[Matched<Vec<u8>>]| {
        matched
            .iter()
            .any(|slot| slot.get(side).is_some_and(|known| known.as_deref() == Some(path)))
    };
    for (side, paths) in left.iter_mut().enumerate() {
        paths.retain(|path| path.as_ref().is_some_and(|path| !is_matched(side, path, &matched)));
    }
    let [before, after] = &mut left;
    let mut scores = Vec::new();
    if before.len().saturating_mul(after.len()) <= PAIRS {
        for (one, path) in before.iter().enumerate() {
            for (other, there) in after.iter().enumerate() {
                let common = common_end(path.as_deref(), there.as_deref());
                scores.extend((common > 0).then_some((common, one, other)));
            }
        }
    }
    scores.sort_by_key(|&(common, one, other)| (std::cmp::Reverse(common), one, other));
    for (_, one, other) in scores {
        let pair = before.get_mut(one).zip(after.get_mut(other));
        if let Some((one, other)) = pair
            && one.is_some()
            && other.is_some()
        {
            matched.push([one.take(), other.take()]);
        }
    }
    add_unmatched(&mut matched, left.map(|side| side.into_iter().flatten().collect()));
    with_ends(matched)
}

/// Adds members without a match: a single one before and after as a pair, several separately.
fn add_unmatched(matched: &mut Vec<Matched<Vec<u8>>>, mut rest: [Vec<Vec<u8>>; 2]) {
    if let [[_], [_]] = rest.each_ref().map(Vec::as_slice) {
        matched.push([rest[0].pop(), rest[1].pop()]);
    }
    let [before, after] = rest;
    matched.extend(before.into_iter().map(|one| [Some(one), None]));
    matched.extend(after.into_iter().map(|other| [None, Some(other)]));
}

/// Returns the slots with the shortest distinct ends of their paths.
fn with_ends(matched: Vec<Matched<Vec<u8>>>) -> Vec<(Vec<u8>, Matched<Vec<u8>>)> {
    if matched.len() <= 1 {
        return matched.into_iter().map(|slot| (Vec::new(), slot)).collect();
    }
    let path = |slot: &Matched<Vec<u8>>| slot.iter().flatten().next().cloned().unwrap_or_default();
    let end = |path: &[u8], names: usize| -> Vec<u8> {
        let parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        parts.get(parts.len().saturating_sub(names)..).unwrap_or_default().join(&b"/"[..])
    };
    const LONGEST: usize = 8;
    let differ = |names: usize| {
        let mut ends: Vec<Vec<u8>> = matched.iter().map(|slot| end(&path(slot), names)).collect();
        ends.sort_unstable();
        ends.windows(2).all(|pair| pair[0] != pair[1])
    };
    let names = (1..LONGEST).find(|&names| differ(names)).unwrap_or(usize::MAX);
    let text = |slot: &Matched<Vec<u8>>| [b" (", &*end(&path(slot), names), b")"].concat();
    matched.into_iter().map(|slot| (text(&slot), slot)).collect()
}

/// Returns the number of common trailing components of two paths.
fn common_end(one: Option<&[u8]>, other: Option<&[u8]>) -> usize {
    let names = |path: Option<&[u8]>| -> Vec<Vec<u8>> {
        let names = path.unwrap_or_default().rsplit(|&byte| byte == b'/');
        names.map(<[u8]>::to_vec).collect()
    };
    names(one).iter().zip(&names(other)).take_while(|(one, other)| one == other).count()
}

/// Returns the members that are equal before and after.
fn equal_members(sides: &[Vec<Vec<u8>>; 2]) -> Vec<Matched<Vec<u8>>> {
    let [before, after] = sides;
    let both = before.iter().filter(|path| after.binary_search(path).is_ok());
    both.map(|path| [Some(path.clone()), Some(path.clone())]).collect()
}

/// Matches names of source files and returns them with distinguishing texts. Equal names are matched first, then a
/// single remaining pair.
pub(super) fn match_files(sides: &[Vec<Vec<u8>>; 2]) -> Vec<(Vec<u8>, Matched<Vec<u8>>)> {
    let mut matched = equal_members(sides);
    let rest = sides.clone().map(|side| {
        let is_new = |name: &Vec<u8>| !matched.iter().any(|slot| slot[0].as_ref() == Some(name));
        side.into_iter().filter(is_new).collect::<Vec<_>>()
    });
    add_unmatched(&mut matched, rest);
    let only = matched.len() <= 1;
    let text = |slot: &Matched<Vec<u8>>| {
        let name = slot.iter().flatten().next().cloned().unwrap_or_default();
        if only { Vec::new() } else { [b" (", &*name, b")"].concat() }
    };
    matched.into_iter().map(|slot| (text(&slot), slot)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(before: &[u64], after: &[u64]) -> Vec<(u64, u64)> {
        let matched = match_numbers(&[before.to_vec(), after.to_vec()]);
        let pair = |slot: [Option<u64>; 2]| (slot[0].unwrap_or(0), slot[1].unwrap_or(0));
        matched.into_iter().map(pair).collect()
    }

    #[test]
    fn positions_go_together_in_order() {
        assert_eq!(pairs(&[10, 20], &[15, 90]), [(10, 15), (20, 90)]);
        // One was not sampled or is new; the others are unchanged or shifted alike.
        assert_eq!(pairs(&[40], &[34, 40]), [(0, 34), (40, 40)]);
        assert_eq!(
            pairs(&[10, 20, 30, 41], &[120, 130, 141]),
            [(10, 0), (20, 120), (30, 130), (41, 141)]
        );
        // Lines were added in the middle.
        let expected = [(10, 10), (20, 20), (30, 33), (40, 43), (0, 60)];
        assert_eq!(pairs(&[10, 20, 30, 40], &[10, 20, 33, 43, 60]), expected);
        assert_eq!(pairs(&[10, 31], &[10, 20, 40]), [(10, 10), (31, 0), (0, 20), (0, 40)]);
        assert_eq!(pairs(&[], &[7]), [(0, 7)]);
    }

    #[test]
    fn folders_go_together_by_their_ends() {
        let paths = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let texts = |before: &[&str], after: &[&str]| -> Vec<(String, bool)> {
            let matched = match_folders(&[paths(before), paths(after)]).into_iter();
            let text = |(text, slot): (Vec<u8>, [Option<Vec<u8>>; 2])| {
                (String::from_utf8(text).unwrap(), slot.iter().all(Option::is_some))
            };
            matched.map(text).collect()
        };
        let slot = |text: &str, is_pair: bool| (text.to_owned(), is_pair);
        assert_eq!(texts(&["/v1"], &["/v2"]), [slot("", true)]);
        let expected = [slot(" (a)", true), slot(" (b)", true)];
        assert_eq!(texts(&["/v1/a", "/v1/b"], &["/v2/a", "/v2/b"]), expected);
        let expected = [slot(" (x/a)", true), slot(" (y/a)", false)];
        assert_eq!(texts(&["/x/a", "/y/a"], &["/v2/x/a"]), expected);
    }

    #[test]
    fn files_go_together_by_their_names() {
        let names =
            |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
        let texts = |before: &[&str], after: &[&str]| -> Vec<(String, bool)> {
            let matched = match_files(&[names(before), names(after)]).into_iter();
            matched
                .map(|(text, slot)| {
                    (String::from_utf8(text).unwrap(), slot.iter().all(Option::is_some))
                })
                .collect()
        };
        let pair = |text: &str| (text.to_owned(), true);
        assert_eq!(texts(&["a.c", "b.c"], &["a.c", "b.c"]), [pair(" (a.c)"), pair(" (b.c)")]);
        assert_eq!(texts(&["a.c", "b.c"], &["a.c", "c.c"]), [pair(" (a.c)"), pair(" (b.c)")]);
        assert_eq!(texts(&["a.c"], &["c.c"]), [pair("")]);
        assert_eq!(
            texts(&["a.c"], &["a.c", "c.c"]),
            [pair(" (a.c)"), (" (c.c)".to_owned(), false)]
        );
    }
}
