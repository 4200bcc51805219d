//! Quick check that a call leads directly to the start of a function. Only code of a linkage table is followed.

use address::Avma;
use image_store::CallSlot;

use crate::arch::{CallTarget, Flow, FlowDecoder, Processor};
use crate::code::called::{Called, ImageAddress, locate};
use crate::state::WalkContext;

/// Size of a linkage table entry, in bytes and instructions.
const LINKAGE_BYTES: usize = 16;
const LINKAGE_INSTRUCTIONS: usize = 3;

/// Decides whether the call before a return address, an address in the process, is one of the function that begins at
/// `start`. The call may be direct, through a linkage table, or through a word that the loader fills. `Never` if no
/// call is there, or one of another function, which may still continue in this one.
pub(crate) fn enters(
    return_address: u64,
    start: ImageAddress<'_>,
    context: &WalkContext<'_>,
) -> Called {
    let (memory, arch) = (&context.memory, context.arch);
    let (pc, len) = (Avma(return_address), arch.longest_call());
    let Some(code) = memory.code(pc.sub(len as u64), len) else { return Called::Perhaps };
    match arch.call_target(code, return_address) {
        None => Called::Never,
        Some(CallTarget::Address(target)) => match locate(Avma(target), memory) {
            Some(target) if is_one(target, start) => Called::Proven,
            Some(target) => match linkage_slot(target, arch) {
                Some(slot) => leads_to(target, slot, start),
                None => Called::Never,
            },
            None => Called::Never,
        },
        Some(CallTarget::Indirect) => {
            let Some(caller) = locate(pc.sub(1), memory) else { return Called::Perhaps };
            match arch.slot_of_call(code, caller.svma.add(1).0) {
                Some(slot) => leads_to(caller, slot, start),
                None => Called::Perhaps,
            }
        }
    }
}

/// Decides whether a word of the file of `from` refers to a function.
fn leads_to(from: ImageAddress<'_>, slot: u64, start: ImageAddress<'_>) -> Called {
    let function = match from.file.call_slot(slot) {
        Some(CallSlot::Address(svma)) => Some(ImageAddress { svma, ..from }),
        Some(CallSlot::Symbol(symbol)) => {
            let name = from.file.image().dynamic_name(symbol);
            let svma = name.and_then(|name| start.file.image().exported_function(&name));
            svma.map(|svma| ImageAddress { svma, ..start })
        }
        None => None,
    };
    match function {
        Some(function) if is_one(function, start) => Called::Proven,
        Some(_) => Called::Never,
        // A resolver decides, or it belongs to another file, which can continue in this one.
        None => Called::Perhaps,
    }
}

fn is_one(one: ImageAddress<'_>, other: ImageAddress<'_>) -> bool {
    (one.file.serial, one.svma) == (other.file.serial, other.svma)
}

/// Returns the word that an entry of a linkage table jumps through.
fn linkage_slot(at: ImageAddress<'_>, arch: Processor) -> Option<u64> {
    let code = at.file.image().read_only_bytes(at.svma, LINKAGE_BYTES)?;
    let steps = FlowDecoder::new(arch, code, at.svma.0)?.take(LINKAGE_INSTRUCTIONS);
    match steps.map(|step| step.flow).find(|flow| *flow != Flow::Next) {
        Some(Flow::JumpSlot(slot)) => Some(slot),
        _ => None,
    }
}
