//! The function that a program's entry code passes to the C library: `main`.

use address::Svma;
use iced_x86::InstructionInfoFactory;
use image_store::Image;

use crate::arch::{Arch, Flow, FlowDecoder, MemoryWords, PathState, Sum, processor};
use crate::code::bytes::CodeBytes;
use crate::code::called::{FunctionAnalyses, ImageAddress};
use crate::code::effect::{X86Successor, run};

/// Instructions of the entry code that are examined.
const INSTRUCTIONS: usize = 24;

impl FunctionAnalyses {
    /// Returns the `main` function of a file: the address that its entry code passes to the C library.
    pub(crate) fn main_of(&mut self, at: ImageAddress<'_>) -> Option<Svma> {
        let file = at.file;
        if let Some(&known) = self.mains.get(&file.serial) {
            return known;
        }
        let slots = self.slots(file);
        let linked = |slot: u64| {
            let known = slots.binary_search_by_key(&slot, |&(known, _)| known).ok()?;
            match slots.get(known)?.1 {
                image_store::SlotValue::Address(svma) => Some(svma),
                image_store::SlotValue::Symbol(_) => None,
            }
        };
        let found = main_argument(file.image(), linked);
        self.mains.insert(file.serial, found);
        found
    }
}

/// Returns the first argument of the entry code's first call, if it is an address of code.
fn main_argument(image: &Image, linked: impl Fn(u64) -> Option<Svma>) -> Option<Svma> {
    let arch = image.arch().and_then(processor)?;
    let given = if arch.is(Arch::X86_64) {
        argument_on_x86(image, linked)?
    } else {
        argument_by_flow(image, linked)?
    };
    CodeBytes::of(image, given).map(|_| given)
}

/// Returns that argument on x86-64.
///
/// Source: psABI x86-64, section 3.4.1, "Initial Stack and Register State"; `sysdeps/x86_64/start.S` of glibc.
fn argument_on_x86(image: &Image, linked: impl Fn(u64) -> Option<Svma>) -> Option<Svma> {
    const ARGUMENT: u8 = 5;
    let code = CodeBytes::around(image, image.entry()).filter(|code| code.arch.is(Arch::X86_64))?;
    let mut decoder = code.decoder(image.entry().0)?;
    let (mut state, mut words) = (PathState::new(code.arch), MemoryWords::default());
    let mut factory = InstructionInfoFactory::new();
    let mut given = None;
    for instruction in decoder.iter().take(INSTRUCTIONS) {
        let before = state.get(ARGUMENT);
        let next = run(&instruction, &mut state, &mut words, &mut factory);
        match next {
            X86Successor::Next => {}
            X86Successor::Call => {
                return before.and_then(Sum::as_constant).map(Svma).or(given);
            }
            _ => return None,
        }
        if state.get(ARGUMENT) != before {
            given = instruction
                .is_ip_rel_memory_operand()
                .then(|| linked(instruction.ip_rel_memory_address()))
                .flatten();
        }
    }
    None
}

/// Returns that argument on processors with a link register, by the flow of control.
///
/// Source: `sysdeps/aarch64/start.S` of glibc, and counterparts of other processors: `__libc_start_main(main, …)`.
fn argument_by_flow(image: &Image, linked: impl Fn(u64) -> Option<Svma>) -> Option<Svma> {
    let code = CodeBytes::with_link(image, image.entry())?;
    let argument = code.arch.conventions.first_argument?;
    let entry = image.entry().0;
    let bytes = code.from(code.arch.code_address(entry))?;
    let mut decoder = FlowDecoder::new(code.arch, bytes, entry)?;
    for _ in 0..INSTRUCTIONS {
        let given = decoder.leads_to(argument);
        match decoder.next()?.flow {
            Flow::Next => {}
            Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect => match given {
                Some(Flow::Jump(address)) => return Some(Svma(address)),
                Some(Flow::JumpSlot(slot)) => return linked(slot),
                // A call that sets up a register, as on RISC-V.
                _ => {}
            },
            _ => return None,
        }
    }
    None
}
