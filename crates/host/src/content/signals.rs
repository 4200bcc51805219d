//! Signals raised by memory reads: handled here for addresses in our mappings, else as before.
#![allow(unsafe_code, reason = "signal handlers; argued for at each place")]

use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

/// A signal, and its previous handler.
pub(super) struct Fault {
    signal: c_int,
    previous: OnceLock<libc::sigaction>,
    installed: OnceLock<Result<(), i32>>,
}

/// Signature of a handler.
pub(super) type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Page size in bytes, once a handler is installed. May be called by handlers.
pub(super) fn page_size() -> usize {
    PAGE.load(Ordering::Relaxed)
}

impl Fault {
    pub(super) const fn new(signal: c_int) -> Self {
        Self { signal, previous: OnceLock::new(), installed: OnceLock::new() }
    }

    /// Installs a handler for the signal.
    ///
    /// # Errors
    /// If it cannot be handled.
    pub(super) fn install(&'static self, handler: Handler) -> io::Result<()> {
        let install = || {
            // SAFETY: sysconf has no preconditions.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            PAGE.store(usize::try_from(page).unwrap_or(4096), Ordering::Relaxed);
            let error = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
            // SAFETY: an all-zero sigaction is valid (SIG_DFL, no flags, empty mask),
            // and the pointers are to live values of the right type.
            // The previous action is read and stored before the handler can run;
            // the handler has the three-argument form that SA_SIGINFO requires.
            // SA_ONSTACK preserves the standard library's detection of stack overflows.
            unsafe {
                let mut previous: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(self.signal, ptr::null(), &raw mut previous) != 0 {
                    return Err(error());
                }
                self.previous.get_or_init(|| previous);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                if libc::sigaction(self.signal, &raw const action, ptr::null_mut()) != 0 {
                    return Err(error());
                }
            }
            Ok(())
        };
        self.installed.get_or_init(install).map_err(io::Error::from_raw_os_error)
    }

    /// Calls the previous handler. For use in a handler.
    pub(super) fn call_previous(&self, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let handler = self.previous.get().map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // SAFETY: an all-zero sigaction is SIG_DFL. The read that raised the signal is repeated when this returns,
            // and ends the process, as without this handler.
            unsafe {
                let action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
            return;
        }
        let has_info = self.previous.get().is_some_and(|it| it.sa_flags & libc::SA_SIGINFO != 0);
        // SAFETY: the handler that sigaction returned is the address of a function
        // with the signature given by its flags, and it is called with the kernel's arguments.
        unsafe {
            if has_info {
                let handler: Handler = std::mem::transmute(handler);
                handler(signal, info, context);
            } else {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
