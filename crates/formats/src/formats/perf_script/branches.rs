//! Branches of a sample, as `perf script -F brstack` prints them:
//! ` <from>/<to>/<prediction>/<transaction>/<abort>/<cycles>/<kind> ` for each, newest first.

use address::{Avma, ModuleId};
use profile::{BranchOutcome, BranchRow, Profile};

use crate::render::escaped::Escaped;
use crate::render::text::{push_hex, push_number};

/// Names of `PERF_BR_*`, then of `PERF_BR_NEW_*`, as perf 6.1 prints them.
///
/// Source: `include/uapi/linux/perf_event.h`.
const KINDS: [&str; 23] = [
    "",
    "COND",
    "UNCOND",
    "IND",
    "CALL",
    "IND_CALL",
    "RET",
    "SYSCALL",
    "SYSRET",
    "COND_CALL",
    "COND_RET",
    "ERET",
    "IRQ",
    "SERROR",
    "NO_TX",
    "FAULT_ALGN",
    "FAULT_DATA",
    "FAULT_INST",
    "ARCH_1",
    "ARCH_2",
    "ARCH_3",
    "ARCH_4",
    "ARCH_5",
];

/// Appends a branch. `modules` also prints the modules of its addresses.
pub(super) fn push_branch(
    out: &mut Vec<u8>,
    branch: &BranchRow,
    profile: &Profile,
    strings: &Escaped<'_>,
    modules: bool,
) {
    let Some(edge) = profile.fields.branches.edges.get(branch.edge) else { return };
    let mut address = |before: &[u8], address: Avma, module: Option<ModuleId>| {
        out.extend_from_slice(before);
        out.extend_from_slice(b"0x");
        push_hex(out, address.0);
        if modules {
            let module = module.and_then(|id| profile.modules.get(id));
            out.push(b'(');
            out.extend_from_slice(module.map_or(b"[unknown]", |it| strings.get(it.path)));
            out.push(b')');
        }
    };
    address(b" ", edge.from, edge.from_module);
    address(b"/", edge.to, edge.to_module);
    let BranchOutcome { predicted, in_transaction, aborts, kind } = branch.outcome;
    let flag = |is_set: bool, letter: u8| if is_set { letter } else { b'-' };
    let prediction = predicted.map_or(b'-', |predicted| if predicted { b'P' } else { b'M' });
    let flags = [prediction, flag(in_transaction, b'X'), flag(aborts, b'A')];
    for letter in flags {
        out.extend_from_slice(&[b'/', letter]);
    }
    out.push(b'/');
    push_number(out, branch.cycles);
    out.push(b'/');
    let kind = KINDS.get(usize::from(kind)).copied().unwrap_or_default();
    out.extend_from_slice(kind.as_bytes());
    out.push(b' ');
}
