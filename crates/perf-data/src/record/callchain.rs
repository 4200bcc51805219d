//! Recorded callchains: addresses, with markers for the context of the following addresses.
//!
//! Source: `include/uapi/linux/perf_event.h`, `enum perf_callchain_context`.

use address::Avma;

use crate::bytes::Words;

/// Context of an address in a callchain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallchainContext {
    /// There was no marker before: the context is the mode of the sample.
    Unmarked,
    /// Hypervisor.
    Hypervisor,
    /// Kernel.
    Kernel,
    /// Process.
    User,
    /// Guest.
    Guest,
    /// Kernel of a guest.
    GuestKernel,
    /// Process of a guest.
    GuestUser,
}

/// All values from this one to the top of u64 are markers.
const FIRST_MARKER: u64 = -4095_i64 as u64;
const HYPERVISOR: u64 = -32_i64 as u64;
const KERNEL: u64 = -128_i64 as u64;
const USER: u64 = -512_i64 as u64;
const USER_DEFERRED: u64 = -640_i64 as u64;
const GUEST: u64 = -2048_i64 as u64;
const GUEST_KERNEL: u64 = -2176_i64 as u64;
const GUEST_USER: u64 = -2560_i64 as u64;

/// A recorded callchain, innermost entry first.
#[derive(Clone, Copy, Debug)]
pub struct Callchain<'d> {
    words: Words<'d>,
}

impl<'d> Callchain<'d> {
    pub(crate) fn new(words: Words<'d>) -> Self {
        Self { words }
    }

    /// Number of entries, including markers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns true if there are no entries, as in user-mode samples with a stack dump.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the entries as recorded, including markers.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = u64> + use<'d> {
        self.words.iter()
    }

    /// Returns the addresses with their context. The first address of each context was executing; all later
    /// ones are return addresses as stored on the stack.
    /// Unknown markers and the cookie of a deferred user part are omitted.
    pub fn frames(&self) -> impl Iterator<Item = (CallchainContext, Avma)> + use<'d> {
        let mut words = self.words.iter();
        let mut context = CallchainContext::Unmarked;
        std::iter::from_fn(move || {
            loop {
                let word = words.next()?;
                if word < FIRST_MARKER {
                    return Some((context, Avma(word)));
                }
                context = match word {
                    HYPERVISOR => CallchainContext::Hypervisor,
                    KERNEL => CallchainContext::Kernel,
                    USER => CallchainContext::User,
                    GUEST => CallchainContext::Guest,
                    GUEST_KERNEL => CallchainContext::GuestKernel,
                    GUEST_USER => CallchainContext::GuestUser,
                    USER_DEFERRED => {
                        words.next()?;
                        CallchainContext::User
                    }
                    _ => context,
                };
            }
        })
    }

    /// Returns the cookie that identifies the user part in a later `CALLCHAIN_DEFERRED` record.
    pub(crate) fn deferred_cookie(&self) -> Option<u64> {
        let mut words = self.words.iter();
        words.find(|&word| word == USER_DEFERRED)?;
        words.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;

    fn frames(words: &[i64]) -> (Vec<(CallchainContext, u64)>, Option<u64>) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let chain = Callchain::new(Words::new(&bytes, Endian::Little));
        assert_eq!(chain.entries().len(), words.len());
        (chain.frames().map(|(context, ip)| (context, ip.0)).collect(), chain.deferred_cookie())
    }

    #[test]
    fn every_marker() {
        let words = [1, -32, 2, -128, 3, 4, -512, 5, -2048, 6, -2176, 7, -2560, 8, -3000, 9, -4096];
        let (frames, cookie) = frames(&words);
        assert_eq!(
            frames,
            [
                (CallchainContext::Unmarked, 1),
                (CallchainContext::Hypervisor, 2),
                (CallchainContext::Kernel, 3),
                (CallchainContext::Kernel, 4),
                (CallchainContext::User, 5),
                (CallchainContext::Guest, 6),
                (CallchainContext::GuestKernel, 7),
                (CallchainContext::GuestUser, 8),
                (CallchainContext::GuestUser, 9),
                (CallchainContext::GuestUser, -4096_i64 as u64),
            ]
        );
        assert_eq!(cookie, None);
    }

    #[test]
    fn deferred_user_part() {
        assert_eq!(frames(&[-128, 3, -640, 77]), (vec![(CallchainContext::Kernel, 3)], Some(77)));
        assert_eq!(frames(&[-128, 3, -640]), (vec![(CallchainContext::Kernel, 3)], None));
        assert_eq!(frames(&[]), (vec![], None));
    }
}
