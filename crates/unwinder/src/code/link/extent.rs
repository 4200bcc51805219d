//! The code that the paths from a function's start pass through.

use address::Svma;
use hashbrown::HashSet;
use image_store::Image;

use crate::arch::{Flow, MemoryWords, PathState};
use crate::code::link::explorer::{LinkExplorer, LinkRun};
use crate::code::paths::Extent;

/// Maximum number of instructions to follow from a function's start.
const MOST: usize = 16_000;
/// Maximum number of repeated searches after finding calls that do not return.
const MOST_ROUNDS: usize = 12;

/// Returns the extent of a function that begins at `start`, which has its lowest bit set for Thumb. The code after a
/// call that does not return is another function, which contradicts the path: it saves the link register, or returns by
/// it, while that still has the call's value. The paths are then followed again without the code after that call.
pub(in crate::code) fn extent(image: &Image, start: Svma) -> Option<Extent> {
    let mut explorer = LinkExplorer::new(image, start, MOST)?;
    for round in 1.. {
        let (found, contradicted) = follow(&mut explorer, start);
        let is_known = contradicted.iter().all(|call| explorer.endless.contains(call));
        if is_known || round == MOST_ROUNDS || explorer.left == 0 {
            return Some(found.finish(is_known && explorer.left > 0, explorer.cost));
        }
        explorer.endless.extend(contradicted);
    }
    None
}

fn follow(explorer: &mut LinkExplorer<'_>, start: Svma) -> (Extent, Vec<u64>) {
    let arch = explorer.arch();
    let mut found = Extent::default();
    found.complete = true;
    let mut contradicted = Vec::new();
    let mut words = MemoryWords::default();
    let mut seen = HashSet::new();
    while explorer.next().is_some() {}
    explorer.push(LinkRun {
        at: start.0,
        state: PathState::new(arch),
        call: None,
        is_doubtful: false,
    });
    while let Some(mut open) = explorer.next() {
        if !seen.insert(open.at) {
            continue;
        }
        let (begin, is_doubtful) = (arch.code_address(open.at), open.is_doubtful);
        let end = explorer.run(&mut open, &mut words);
        found.add(begin, arch.code_address(end.at), is_doubtful);
        if !is_doubtful {
            contradicted.extend(end.contradicts);
        }
        match end.next {
            Flow::JumpSlot(slot) => found.tails.push(slot),
            Flow::JumpIndirect => found.complete = false,
            _ => {}
        }
    }
    (found, contradicted)
}
