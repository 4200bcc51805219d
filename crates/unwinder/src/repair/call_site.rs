//! Whether a call can have been that of a function: a direct call says which function it calls.

use address::Svma;

use crate::arch::{Arch, CallTarget};
use crate::frame::Place;
use crate::repair::functions::{Code, Functions};

/// Whether the instruction before the place where `caller` goes on can have called the function of `callee`.
pub(crate) fn can_have_called(
    caller: &Place,
    callee: &Place,
    functions: &mut Functions,
    code: Code<'_>,
) -> bool {
    let target = (|| {
        let module = code.modules.get(caller.module?.index())?;
        let file = code.images.outcome(module)?.ok()?;
        let arch = Arch::of(file.image().machine())?;
        let len = arch.longest_call();
        // The looked-up address is the last byte of the call.
        let return_address = Svma(caller.relative.wrapping_add(1));
        let bytes = file.image().read_only_bytes(return_address.sub(len as u64), len)?;
        arch.call_target(bytes, return_address.0)
    })();
    match target {
        None => false,
        Some(CallTarget::Indirect) => true,
        Some(CallTarget::Address(svma)) => {
            let target = Place { relative: svma, ..*caller };
            target.module == callee.module
                && target.bias == callee.bias
                && functions.start(callee, code) == Some(svma)
        }
    }
}
