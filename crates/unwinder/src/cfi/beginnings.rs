//! The starts of a program's stacks.

use std::sync::OnceLock;

use address::Svma;
use iced_x86::{FlowControl, Mnemonic};
use image_store::Image;

use crate::cfi::UnwindInfo;

/// The outermost addresses of a program's stacks, each computed once.
#[derive(Default, Debug)]
pub(crate) struct Beginnings {
    /// In the call of `_start` that does not return.
    of_program: OnceLock<Option<Svma>>,
    /// In `runtime.goexit`.
    of_goroutines: OnceLock<Option<Svma>>,
}

impl UnwindInfo {
    /// Returns the outermost address of a program's first stack.
    pub(crate) fn program_begins(&self, image: &Image) -> Option<Svma> {
        let find = || call_of_entry(image).filter(|_| image.begins_at_entry());
        *self.beginnings.of_program.get_or_init(find)
    }

    /// Returns the outermost address of the goroutine that runs code at an address of a Go program; `None` if other
    /// stacks can run it, too.
    pub(crate) fn goroutine_begins(&self, image: &Image, at: Svma) -> Option<Svma> {
        let find = || self.go.goroutine_begins(image).filter(|_| !image.has_loader());
        let begins = (*self.beginnings.of_goroutines.get_or_init(find))?;
        self.go.is_of_goroutine(image, at).then_some(begins)
    }
}

/// Returns the last address of the call that ends a program's entry code.
///
/// Source: `sysdeps/x86_64/start.S` of glibc: `call *__libc_start_main@GOTPCREL(%rip); hlt`.
fn call_of_entry(image: &Image) -> Option<Svma> {
    const BYTES: usize = 64;
    let code = (1..=BYTES).rev().find_map(|len| image.read_only_bytes(image.entry(), len))?;
    let entry = image.entry().0;
    let mut decoder = iced_x86::Decoder::with_ip(64, code, entry, iced_x86::DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        match instruction.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => {
                let after = instruction.next_ip();
                let is_last = decoder.can_decode() && decoder.decode().mnemonic() == Mnemonic::Hlt;
                return is_last.then_some(Svma(after.wrapping_sub(1)));
            }
            _ => return None,
        }
    }
    None
}
