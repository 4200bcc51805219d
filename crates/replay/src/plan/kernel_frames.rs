//! The frames of a sample outside of processes: the kernel part of its recorded chain, and the frames of a guest or of
//! the hypervisor.
//!
//! Addresses of a guest are unrelated to the host's kernel and processes: guests have their own modules.
//! The registers and the stack of such a sample belong to the process that runs the guest,
//! and are not part of its chain.
//!
//! Source: `perf_guest_state` in `perf_callchain_kernel` and `perf_misc_flags` of `arch/*/events`; `perf_sample_regs_user`
//! in kernel/events/core.c.

use address::Avma;
use module_map::MappedKind;
use perf_data::{CallchainContext, CpuMode, Sample};
use profile::FoundBy;
use unwinder::Frame;

use crate::plan::spaces::KernelSpaces;

/// Owner of the code at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CodeOwner {
    Kernel,
    Hypervisor,
    GuestKernel,
    GuestUser,
}

impl CodeOwner {
    /// Owner for a processor mode; `None` for a process of the host.
    const fn of_mode(mode: CpuMode) -> Option<Self> {
        match mode {
            CpuMode::Kernel => Some(Self::Kernel),
            CpuMode::Hypervisor => Some(Self::Hypervisor),
            CpuMode::GuestKernel => Some(Self::GuestKernel),
            CpuMode::GuestUser => Some(Self::GuestUser),
            CpuMode::User | CpuMode::Unknown => None,
        }
    }

    /// Owner for a callchain entry of a sample in that mode; `None` for a process of the host.
    const fn of_entry(context: CallchainContext, mode: CpuMode) -> Option<Self> {
        match context {
            CallchainContext::Kernel => Some(Self::Kernel),
            CallchainContext::Hypervisor => Some(Self::Hypervisor),
            CallchainContext::GuestKernel => Some(Self::GuestKernel),
            CallchainContext::GuestUser => Some(Self::GuestUser),
            CallchainContext::Guest if matches!(mode, CpuMode::GuestUser) => Some(Self::GuestUser),
            CallchainContext::Guest => Some(Self::GuestKernel),
            CallchainContext::Unmarked => Self::of_mode(mode),
            CallchainContext::User => None,
        }
    }

    const fn is_guest(self) -> bool {
        matches!(self, Self::GuestKernel | Self::GuestUser)
    }

    /// Creates the frame at a lookup address.
    fn frame(self, lookup: Avma, found_by: FoundBy, spaces: KernelSpaces<'_>) -> Frame {
        let KernelSpaces { host, guest } = spaces;
        let module = match self {
            Self::Kernel => host.lookup(lookup).map(|mapping| mapping.module),
            Self::Hypervisor => guest.and_then(|guest| guest.hypervisor_module()),
            Self::GuestKernel => guest.and_then(|guest| guest.kernel_module(lookup)),
            Self::GuestUser => guest.and_then(|guest| guest.user_module(lookup)),
        };
        let mut frame = Frame::of_kernel(module, lookup, found_by);
        frame.kernel = self != Self::GuestUser;
        frame
    }
}

/// Kind of guest module that a sample of that mode needs; `None` for the host's modes.
pub(crate) const fn guest_kind(mode: CpuMode) -> Option<MappedKind> {
    match mode {
        CpuMode::Hypervisor => Some(MappedKind::Hypervisor),
        CpuMode::GuestKernel => Some(MappedKind::GuestKernel),
        CpuMode::GuestUser => Some(MappedKind::GuestUser),
        CpuMode::Unknown | CpuMode::Kernel | CpuMode::User => None,
    }
}

/// Appends the frames outside of processes, innermost first.
/// The first address was running, the others are return addresses.
/// A user-mode sample has none: if the processor stated a precise address, its chain was taken shortly afterwards.
///
/// Returns true if the chain belongs to a guest, which has no caller on the host.
pub(crate) fn kernel_frames(
    sample: &Sample<'_>,
    spaces: KernelSpaces<'_>,
    frames: &mut Vec<Frame>,
) -> bool {
    let mode = sample.cpu_mode;
    let own = CodeOwner::of_mode(mode);
    let of_guest = mode.is_guest();
    let chain = sample.callchain.iter().filter(|_| mode != CpuMode::User);
    let entries = chain.flat_map(|chain| chain.frames()).filter_map(|(context, address)| {
        let whose = CodeOwner::of_entry(context, mode)?;
        // The chain of a guest sample is entirely in the guest.
        (!of_guest || whose.is_guest()).then_some((whose, address))
    });
    let mut entries = entries.peekable();
    let sampled = own.zip(sample.ip).filter(|&(own, ip)| match entries.peek() {
        // A kernel chain begins with the sampled address.
        Some((whose, first)) => *whose != own || (own != CodeOwner::Kernel && *first != ip),
        None => true,
    });
    let first = frames.len();
    let mut last: Option<CodeOwner> = None;
    for (whose, address) in sampled.into_iter().chain(entries) {
        let back_to_host = last.is_some_and(CodeOwner::is_guest) && !whose.is_guest();
        if back_to_host {
            break;
        }
        let is_first = frames.len() == first;
        let same_mode = last
            .is_some_and(|last| (last == CodeOwner::GuestUser) == (whose == CodeOwner::GuestUser));
        // At a mode transition the address was running: it is not a return address.
        let lookup = if same_mode && !is_first { address.sub(1) } else { address };
        let found_by = if is_first { FoundBy::Sampled } else { FoundBy::Callchain };
        frames.push(whose.frame(lookup, found_by, spaces));
        last = Some(whose);
    }
    of_guest || last.is_some_and(CodeOwner::is_guest)
}
