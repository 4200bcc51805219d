//! The stated target function of a call, and the calls in a function.

use std::sync::Arc;

use address::Avma;
use iced_x86::{FlowControl, Instruction};
use image_store::SlotValue;

use crate::arch::CallTarget;
use crate::code::bytes::CodeBytes;
use crate::code::called::{FunctionAnalyses, ImageAddress, MAX_CACHED, locate};
use crate::state::WalkContext;

/// A function in a process.
#[derive(Clone, Copy)]
pub(crate) struct MappedFunction<'a> {
    /// Its start in its file.
    pub(crate) at: ImageAddress<'a>,
    /// Number to add to addresses of the file.
    pub(crate) bias: u64,
}

/// Size of an entry of a procedure linkage table, which only jumps elsewhere.
const LINKAGE: u64 = 16;
/// Calls of a function that are examined.
const MOST_CALLS: usize = 4096;

impl FunctionAnalyses {
    /// Returns the function that the call before a return address calls, directly or through a procedure linkage table.
    /// In the latter case, it is looked up in the file of `near`, at `near_bias`.
    pub(crate) fn callee<'m>(
        &mut self,
        return_address: u64,
        near: ImageAddress<'m>,
        near_bias: u64,
        context: &WalkContext<'m>,
    ) -> Option<MappedFunction<'m>> {
        let (memory, arch) = (&context.memory, context.arch);
        let len = arch.longest_call();
        let code = memory.code(Avma(return_address).sub(len as u64), len)?;
        let CallTarget::Address(target) = arch.call_target(code, return_address)? else {
            return None;
        };
        let at = locate(Avma(target), memory)?;
        let bias = target.wrapping_sub(at.svma.0);
        let extent = self.extent(at)?;
        let slot = match extent.tails[..] {
            [slot] if extent.len() <= LINKAGE => slot,
            _ => return Some(MappedFunction { at, bias }),
        };
        let slots = self.slots(at.file);
        let known = slots.binary_search_by_key(&slot, |&(known, _)| known).ok()?;
        match slots.get(known)?.1 {
            SlotValue::Address(svma) => {
                Some(MappedFunction { at: ImageAddress { svma, ..at }, bias })
            }
            SlotValue::Symbol(name) => {
                let svma = self.symbol(near.file, name)?;
                Some(MappedFunction { at: ImageAddress { svma, ..near }, bias: near_bias })
            }
        }
    }

    /// Returns true if all paths from the start of a function are known and stay in code of files. Words that the
    /// dynamic loader fills lead to such code.
    pub(crate) fn stays_in_file(&mut self, function: ImageAddress<'_>) -> bool {
        let Some(extent) = self.extent(function).filter(|extent| extent.complete) else {
            return false;
        };
        let slots = self.slots(function.file);
        let is_linked = |slot: &u64| slots.binary_search_by_key(slot, |&(known, _)| known).is_ok();
        extent.tails.iter().all(is_linked)
    }

    /// Returns the return addresses of the calls in a function, as its file states them.
    pub(crate) fn calls_of(&mut self, function: ImageAddress<'_>) -> Arc<[u64]> {
        let key = (function.file.serial, function.svma.0);
        if let Some(known) = self.calls.get(&key) {
            return Arc::clone(known);
        }
        if self.calls.len() >= MAX_CACHED {
            self.calls.clear();
        }
        let found: Arc<[u64]> = self.find_calls(function).unwrap_or_default().into();
        self.calls.insert(key, Arc::clone(&found));
        found
    }

    fn find_calls(&mut self, function: ImageAddress<'_>) -> Option<Vec<u64>> {
        let extent = self.extent(function)?;
        let code = CodeBytes::around(function.file.image(), function.svma)?;
        let mut calls = Vec::new();
        let mut instruction = Instruction::default();
        for &(start, end) in extent.runs() {
            let mut decoder = code.decoder(start)?;
            while decoder.ip() < end && decoder.can_decode() && calls.len() < MOST_CALLS {
                decoder.decode_out(&mut instruction);
                let flow = instruction.flow_control();
                if matches!(flow, FlowControl::Call | FlowControl::IndirectCall) {
                    calls.push(instruction.next_ip());
                }
            }
        }
        Some(calls)
    }
}
