//! Comparison of the samples that hotspot decodes from two backends.
//!
//! For a function with inlined code, its own backend states the place of the call, ours the address of the frame. It
//! also treats names of inlined functions and compiler suffixes differently. So frames are compared by number and
//! address. Names are compared by their last part, which is reported and not judged. Ours may have more inlined
//! functions. `docs/COMPARE.md` explains the other differences.

use anyhow::{Context, Result, bail};

/// Result of comparing the samples of two backends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) samples: usize,
    /// Samples with the same frames.
    pub(super) equal: usize,
    /// Samples with our frames as the inner part of the stock backend's.
    pub(super) joined: usize,
    /// Samples with the stock backend's frames as the inner part of ours.
    pub(super) longer: usize,
    /// Samples that are equal up to a gap of ours, at which the stock backend ends or guesses.
    pub(super) across_gap: usize,
    /// Samples that are equal except for our frames that tail calls removed.
    pub(super) with_tail_calls: usize,
    /// All other samples.
    pub(super) other: usize,
    /// Number of frames with ours, and with the stock backend.
    pub(super) frames: [usize; 2],
    /// Share of the compared frames with equal names, in percent.
    pub(super) names: String,
    /// First of the other samples, from both backends.
    pub(super) first: Option<String>,
}

/// A decoded sample.
struct Sample<'a> {
    /// Name, thread, time, cost, event.
    head: &'a str,
    frames: Vec<(u64, &'a str)>,
}

/// Compares the output with our backend and with the stock one.
pub(super) fn compare(ours: &str, stock: &str) -> Result<Verdict> {
    let (ours, stock) = (read(ours)?, read(stock)?);
    if ours.len() != stock.len() {
        bail!("{} samples with ours, {} with its own backend", ours.len(), stock.len());
    }
    let mut verdict = Verdict { samples: ours.len(), ..Verdict::default() };
    let (mut named, mut compared) = (0_u64, 0_u64);
    for (one, other) in ours.iter().zip(&stock) {
        if one.head != other.head {
            bail!("{:?} with ours, {:?} with its own backend", one.head, other.head);
        }
        verdict.frames[0] += one.frames.len();
        verdict.frames[1] += other.frames.len();
        match relation(&one.frames, &other.frames) {
            FrameRelation::Equal => verdict.equal += 1,
            FrameRelation::Joined => verdict.joined += 1,
            FrameRelation::Longer => verdict.longer += 1,
            FrameRelation::AcrossGap => verdict.across_gap += 1,
            FrameRelation::WithTailCalls => verdict.with_tail_calls += 1,
            FrameRelation::Other => {
                verdict.other += 1;
                let both = || Some(format!("ours:\n{}its own:\n{}", shown(one), shown(other)));
                verdict.first = verdict.first.take().or_else(both);
            }
        }
        for (one, other) in one.frames.iter().zip(&other.frames) {
            compared += 1;
            named += u64::from(last_part(one.1) == last_part(other.1));
        }
    }
    verdict.names = format!("{:.1} %", 100.0 * named as f64 / compared.max(1) as f64);
    Ok(verdict)
}

fn read(text: &str) -> Result<Vec<Sample<'_>>> {
    let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
    let sample = |block| {
        let block: &str = block;
        let mut lines = block.trim_start_matches('\n').lines();
        let head = lines.next().context("a sample without a line")?;
        let frame = |line: &'_ str| -> Option<(u64, usize)> {
            let (address, _) = line.strip_prefix('\t')?.split_once(' ')?;
            Some((u64::from_str_radix(address, 16).ok()?, 2 + address.len()))
        };
        let frames = lines.map(|line| {
            let (address, name) = frame(line).with_context(|| line.to_owned())?;
            let name = line.get(name..).unwrap_or_default();
            Ok((address, name.rsplit_once(" (").map_or(name, |(name, _)| name)))
        });
        Ok(Sample { head, frames: frames.collect::<Result<_>>()? })
    };
    blocks.map(sample).collect()
}

/// Mask of the offset in a page. The stock backend defines a location once for all processes, with its address in the
/// first. If a process has the module elsewhere, only the offset in the page can be compared.
const IN_PAGE: u64 = 0xfff;

/// Our frame that represents unknown ones.
const GAP: &str = "[gap]";

/// The function that the stock backend omits: it called a function without call frame information.
const LEFT_OUT: &str = "_dl_fini";

/// Returns true if the stock backend has a made-up function at the start of the kernel (or of another module of 2 MiB
/// pages) that ours lacks: a repetition of the previous one, or one with an arbitrary name.
fn is_made_up(ours: u64, stock: &[(u64, &str)], at: usize) -> bool {
    const PAGES: u64 = 0x1f_ffff;
    let starts = stock.get(at).is_some_and(|frame| frame.0 & PAGES == 0);
    at > 0 && starts && ours & IN_PAGE != 0
}

/// Relation of the frames of a sample.
enum FrameRelation {
    Equal,
    Joined,
    Longer,
    AcrossGap,
    WithTailCalls,
    Other,
}

/// Maximum number of consecutive frames that tail calls removed.
const MOST_TAIL_CALLS: usize = 8;

/// Compares our frames with those of the stock backend, innermost first. In ours, a function with inlined code has the
/// address of its inlined frames; the stock backend may miss it, or gives it another address.
fn relation(ours: &[(u64, &str)], stock: &[(u64, &str)]) -> FrameRelation {
    let own = |at: usize| ours.get(at).map(|frame| frame.0);
    let inlined_into = |at: usize| at > 0 && own(at).is_some() && own(at) == own(at - 1);
    // The stock backend continues with one of the next frames of ours.
    let is_tail_call = |at: usize, other: u64| {
        let mut next = (at + 1..).map_while(own).take(MOST_TAIL_CALLS);
        at > 0 && next.any(|address| address & IN_PAGE == other & IN_PAGE)
    };
    let (mut at, mut theirs, mut n_tail_calls) = (0, 0, 0);
    while let Some(address) = own(at) {
        if ours.get(at).is_some_and(|frame| frame.1 == GAP) {
            return FrameRelation::AcrossGap;
        }
        theirs += usize::from(is_made_up(address, stock, theirs));
        let Some(&(other, _)) = stock.get(theirs) else {
            let rest_is_inlined = (at..ours.len()).all(inlined_into);
            return if rest_is_inlined { equal(n_tail_calls) } else { FrameRelation::Longer };
        };
        if address & IN_PAGE == other & IN_PAGE {
            theirs += 1;
        } else if inlined_into(at) {
            let mut next = at + 1;
            while inlined_into(next) {
                next += 1;
            }
            // If it continues with the next frame, it has fewer inlined functions.
            theirs += usize::from(own(next).is_none_or(|it| it & IN_PAGE != other & IN_PAGE));
        } else if ours.get(at).is_none_or(|frame| frame.1 != LEFT_OUT) {
            if !is_tail_call(at, other) {
                return FrameRelation::Other;
            }
            n_tail_calls += 1;
        }
        at += 1;
    }
    if theirs == stock.len() { equal(n_tail_calls) } else { FrameRelation::Joined }
}

const fn equal(n_tail_calls: usize) -> FrameRelation {
    if n_tail_calls == 0 { FrameRelation::Equal } else { FrameRelation::WithTailCalls }
}

/// Returns a name without scopes, parameters and compiler suffixes.
fn last_part(name: &str) -> &str {
    let name = name.split(['(', '<', '.', '@']).next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

fn shown(sample: &Sample<'_>) -> String {
    let mut text = format!("{}\n", sample.head);
    for (address, name) in &sample.frames {
        text.push_str(&format!("  {address:x} {name}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "a\t1\t2.5:\t7 e\n\t00ff in (r)\n\t00ff out.constprop.0 (r)\n\t00a0 main (r)\n\na\t1\t3.5:\t7 e\n\t00a0 main (r)\n\n";

    #[test]
    fn inlined_frames_and_joined_chains() {
        let stock = "a\t1\t2.5:\t7 e\n\t00ff out::in (r)\n\t00f0 out (r)\n\t00a0 main (r)\n\na\t1\t3.5:\t7 e\n\t00a0 main (r)\n\t0001 _start (r)\n\n";
        let verdict = compare(OURS, stock).expect("the same samples");
        assert_eq!((verdict.samples, verdict.equal, verdict.joined), (2, 1, 1));
        assert_eq!((verdict.other, verdict.names.as_str()), (0, "100.0 %"));
        let moved = compare(OURS, &stock.replace("00a0", "70a0")).expect("the same samples");
        assert_eq!((moved.equal, moved.joined, moved.other), (1, 1, 0));
        let fini = OURS.replace("\t00a0 main", "\t0111 _dl_fini (r)\n\t00a0 main");
        assert_eq!(compare(&fini, OURS).expect("the same samples").equal, 2);
        let tail = OURS.replace("\t00a0 main", "\t0111 left (r)\n\t0122 left_too (r)\n\t00a0 main");
        let verdict = compare(&tail, OURS).expect("the same samples");
        assert_eq!((verdict.equal, verdict.with_tail_calls, verdict.other), (0, 1, 1));
        let repeated = OURS
            .replace("\t00a0 main (r)\n", "\t00a0 main (r)\n\t81200000 main (r)\n\t00a8 b (r)\n");
        let without = repeated.replace("\t81200000 main (r)\n", "");
        let verdict = compare(&without, &repeated).expect("the same samples");
        assert_eq!((verdict.equal, verdict.other), (2, 0));
        let other = compare(OURS, &stock.replace("00a0", "00a1")).expect("the same samples");
        assert_eq!((other.equal, other.other), (0, 2));
        assert!(other.first.expect("an example").contains("  a1 main"));
        let gap = OURS.replace("\t00a0 main (r)\n\na", "\t0 [gap] (?)\n\t0001 _start (r)\n\na");
        let verdict = compare(&gap, stock).expect("the same samples");
        assert_eq!((verdict.across_gap, verdict.other, verdict.frames), (1, 0, [5, 5]));
        let fewer =
            compare(OURS, &OURS.replace("\t00ff out.constprop.0 (r)\n", "")).expect("samples");
        assert_eq!((fewer.equal, fewer.other), (2, 0), "functions that only we know of");
    }

    #[test]
    fn number_time_and_cost_have_to_be_the_same() {
        let error = |stock: &str| compare(OURS, stock).expect_err("a difference").to_string();
        assert_eq!(
            error(&OURS.replace("7 e", "8 e")),
            "\"a\\t1\\t2.5:\\t7 e\" with ours, \"a\\t1\\t2.5:\\t8 e\" with its own backend"
        );
        let one = OURS.split("\n\n").next().expect("a sample");
        assert_eq!(error(one), "2 samples with ours, 1 with its own backend");
    }
}
