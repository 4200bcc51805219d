//! Other programs' rules for chains that the dump truncated, tried on our own walks of the same samples. Only the rule
//! differs, neither the call frame information nor its interpretation.

mod hotspot;
mod replay;
mod simpleperf;
mod slots;
mod walk;

use std::path::Path;

use anyhow::{Result, bail};
use image_store::ImageStore;
use unwinder::{EndReason, Engine, Frame, FrameAddress, Walker};

use crate::strings::StringTable;
use crate::truth::chains::{Chains, FunctionsByAddress};
use crate::truth::unwound::MAX_FRAMES;
use hotspot::{Dump, StackValues};
use replay::{Recording, Sampled};
use slots::Slots;
use walk::{Node, Walk};

/// The rules that are tried, with their descriptions.
pub(super) const RULES: [(&str, &str); 2] = [
    (
        "simpleperf",
        "a chain goes on as the last other chain of its thread did from the same frame (address and stack pointer); \
         from the last sample to the first, then from the first to the last (`CallChainJoiner`, min_matching_nodes 1, \
         with a cache that forgets nothing)",
    ),
    (
        "hotspot",
        "a word beyond the dump is what an earlier sample of the process showed at that address when it was unwound, \
         of several the last (hotspot-perfparser, `memoryRead`; without its limit of 64 frames)",
    ),
];

/// Returns the chains of a recording by each of [`RULES`], for the samples of the truth. Modules and functions are
/// those of the truth at an address of a process.
pub(super) fn chains(
    recording: &Path,
    truth: &Chains,
    places: &FunctionsByAddress,
    words: &mut StringTable,
) -> Result<[Chains; RULES.len()]> {
    let (mut own, guessed) = walks(recording)?;
    simpleperf::join(&mut own);
    let [own, guessed] = [own, guessed].map(|walks| chains_of(&walks, truth, places, words));
    Ok([own?, guessed?])
}

/// Returns the number of chains of a recording that reach their root by each of [`RULES`].
pub(super) fn rooted(recording: &Path) -> Result<[u64; RULES.len()]> {
    let (mut own, guessed) = walks(recording)?;
    simpleperf::join(&mut own);
    let rooted =
        |walks: &[Walk]| walks.iter().filter(|walk| walk.end == EndReason::Root).count() as u64;
    Ok([rooted(&own), rooted(&guessed)])
}

/// Returns the walks of all samples, from their own dump and by hotspot's rule.
fn walks(recording: &Path) -> Result<(Vec<Walk>, Vec<Walk>)> {
    let recording = Recording::open(recording)?;
    let images = ImageStore::new(recording.files());
    let engine = Engine::new();
    let mut walker = Walker::new(&engine, &images, MAX_FRAMES);
    let (mut own, mut guessed) = (Vec::new(), Vec::new());
    let mut values = StackValues::default();
    let mut slots = Slots::default();
    recording.replay(&mut |sample| {
        let (mut end, mut frames) = walked(&mut walker, sample, None);
        own.push(walk_of(sample, end, &frames));
        let dump = dump_of(sample, &frames);
        let mut joined = false;
        if end != EndReason::Root
            && let Some(stack) = values.continued(dump)
        {
            let (reached, more) = walked(&mut walker, sample, Some(&stack));
            joined = more.len() > frames.len() || reached == EndReason::Root;
            if joined {
                // If a word is missing, the end reason is that of its own walk.
                end = if reached == EndReason::Root { reached } else { end };
                frames = more;
            }
        }
        let walk = Walk { joined, ..walk_of(sample, end, &frames) };
        values.remember(dump, &walk.nodes, &mut |index| {
            slots_of(frames.get(index), sample, &images, &mut slots)
        });
        guessed.push(walk);
    });
    Ok((own, guessed))
}

/// Walks a sample, with `stack` instead of its own stack if there is one.
fn walked(
    walker: &mut Walker<'_>,
    sample: &Sampled<'_>,
    stack: Option<&[u8]>,
) -> (EndReason, Vec<Frame>) {
    let mut frames = Vec::new();
    let Some((registers, state)) = &sample.user else { return (EndReason::NoUserRegs, frames) };
    let mut state = *state;
    state.stack = stack.unwrap_or(state.stack);
    let end = walker.walk(&state, registers.iter().copied(), &mut frames);
    (end, frames)
}

fn walk_of(sample: &Sampled<'_>, end: EndReason, frames: &[Frame]) -> Walk {
    let Sampled { time, pid, tid, .. } = *sample;
    Walk { time, pid, tid, end, joined: false, nodes: frames.iter().map(Node::of).collect() }
}

/// Returns the dump of a sample; empty if its stack pointer is unknown.
fn dump_of<'a>(sample: &Sampled<'a>, frames: &[Frame]) -> Dump<'a> {
    let sp = frames.first().and_then(Frame::sp);
    let stack = sample.user.as_ref().map(|(_, state)| state.stack);
    let bytes = stack.filter(|_| sp.is_some()).unwrap_or_default();
    Dump { pid: sample.pid, sp: sp.unwrap_or(0), bytes }
}

/// Returns the offsets from the CFA at which a frame saved registers.
fn slots_of(
    frame: Option<&Frame>,
    sample: &Sampled<'_>,
    images: &ImageStore,
    slots: &mut Slots,
) -> Vec<i64> {
    let place = frame.and_then(|frame| {
        let module = frame.module?;
        let FrameAddress::Svma(svma) = frame.address() else { return None };
        Some((module, svma, images.image(sample.modules.get(module.index())?).ok()?))
    });
    match place {
        Some((module, svma, file)) => slots.at(module, file.image(), svma),
        None => Slots::without_file(),
    }
}

/// Converts walks to chains that can be compared with the truth.
fn chains_of(
    walks: &[Walk],
    truth: &Chains,
    places: &FunctionsByAddress,
    words: &mut StringTable,
) -> Result<Chains> {
    if walks.len() != truth.len() {
        bail!("{} samples, and {} where the rules of peers are tried", truth.len(), walks.len());
    }
    let mut chains = Chains::default();
    for (number, (walk, identity)) in walks.iter().zip(truth.identities()).enumerate() {
        let (time, pid, tid) = (identity.time.unwrap_or(0), identity.pid, identity.tid);
        if (walk.time, i64::from(walk.pid), i64::from(walk.tid)) != (time, pid, tid) {
            bail!("sample {number} is not that of the truth where the rules of peers are tried");
        }
        let end = words.intern(walk.end.as_str());
        let frames = walk.nodes.iter().map(|node| places.frame(pid, node.ip));
        chains.push(identity, end, walk.joined, frames);
    }
    Ok(chains)
}
