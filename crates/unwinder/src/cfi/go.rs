//! Rules of Go functions: the table of Go's linker gives the frame size at each instruction. Stripped programs have it,
//! too. `.debug_frame`, which they lack, states neither the ends of stacks nor the switches between them.
//!
//! Source: `traceback.go` and `stack.go` in src/runtime of Go, `FuncFlagTopFrame` and `FuncFlagSPWrite` in
//! src/internal/abi/symtab.go.

use std::sync::OnceLock;

use address::Svma;
use budget::{Budget, Exhausted, Meter, Resource, SharedAllowance};
use gopclntab::{GoFunction, GoTable, GoValueKind};
use image_store::Image;

use crate::arch::{N_SLOTS, X86_64};
use crate::rule::{Rule, SimpleRule};

/// Frame information from a file's table of Go functions.
#[derive(Debug)]
pub(crate) struct GoRules {
    table: OnceLock<Option<GoTable>>,
    /// Budget for steps through the tables of large functions.
    steps: SharedAllowance,
    budget: Budget,
    exhausted: OnceLock<Exhausted>,
    scheduler_frames: OnceLock<Vec<(Svma, SimpleRule)>>,
}

/// Steps of a look-up that are free. Frame sizes change a few times in a function.
const FREE_STEPS: usize = 512;

/// Functions of one name that are examined: Go has two calling conventions, each with its own function.
const MOST_NAMED: usize = 8;

/// Size of a word, in bytes.
const WORD: i32 = 8;

/// Exclusive limit of frame sizes, in bytes: the stacks of Go end at 1 GB.
const LARGEST: i32 = 1 << 30;

impl GoRules {
    /// Creates the rules of a file of `file_bytes` bytes.
    pub(crate) fn new(budget: &Budget, file_bytes: u64) -> Self {
        Self {
            table: OnceLock::new(),
            steps: budget.shared_allowance(Resource::FrameInstructions, file_bytes),
            budget: *budget,
            exhausted: OnceLock::new(),
            scheduler_frames: OnceLock::new(),
        }
    }

    /// The exhausted resource, if there is one.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get().copied()
    }

    /// Returns the rule of an address of an x86-64 file; `None` if no Go function covers it.
    pub(crate) fn rule(&self, image: &Image, svma: Svma) -> Option<Rule> {
        let table = self.table(image)?;
        // A goroutine's first function returns to the address after the first instruction of `goexit`, which is not a
        // call.
        let (function, meant) = table.functions(image).returned_to(svma.0)?;
        let svma = Svma(meant);
        let name = function.name().unwrap_or_default();
        if is_outermost(&function, name) {
            return Some(Rule::Outermost);
        }
        // `cgocallback` is on both stacks, as if it had been called on each.
        if function.writes_sp() && name != b"runtime.cgocallback" {
            return Some(Rule::OtherStack);
        }
        let size = self.frame_size(&function, svma)?;
        Some(Rule::Simple(simple_rule(&function, size, has_saved_fp(image, svma))))
    }

    /// Returns the functions that a scheduler's stack continues from while it runs a goroutine's code: they stored
    /// their stack pointers for that. Each has its start and its frame at full size.
    ///
    /// Source: `mstart1`, which stores that of `mstart0`, in src/runtime/proc.go, `cgocallback` in
    /// `src/runtime/asm_amd64.s`.
    pub(crate) fn scheduler_frames(&self, image: &Image) -> &[(Svma, SimpleRule)] {
        const NAMES: [&[u8]; 2] = [b"runtime.mstart0", b"runtime.cgocallback"];
        self.scheduler_frames.get_or_init(|| {
            let Some(table) = self.table(image) else { return Vec::new() };
            let functions = table.functions(image);
            let of_name = |name| {
                let named: Vec<_> =
                    functions.iter().filter(|it| it.is_named(name)).take(MOST_NAMED).collect();
                // One of the two has no frame, and jumps to the other.
                let frame = named.iter().find_map(full_frame);
                named.into_iter().filter_map(move |function| Some((Svma(function.start), frame?)))
            };
            NAMES.into_iter().flat_map(of_name).collect()
        })
    }

    /// Returns the outermost address of each goroutine of a program: the first instruction of `goexit`. The goroutine's
    /// first function returns to the second instruction. `None` if C code can begin goroutines.
    ///
    /// Source: `newproc1` in src/runtime/proc.go of Go; `src/runtime/cgo/asm_amd64.s`.
    pub(crate) fn goroutine_begins(&self, image: &Image) -> Option<Svma> {
        let functions = self.table(image)?.functions(image);
        if functions.iter().any(|function| function.is_named(b"crosscall2")) {
            return None;
        }
        let mut named = functions.iter().filter(|it| it.is_named(b"runtime.goexit"));
        let begins = named.find(GoFunction::is_top_frame)?.start;
        Some(Svma(begins)).filter(|_| !named.any(|it| it.is_top_frame()))
    }

    /// Returns true if only goroutines run a function: its package is one that Go's runtime does not use.
    pub(crate) fn is_of_goroutine(&self, image: &Image, svma: Svma) -> bool {
        let returned_to = |table: &GoTable| {
            let (function, _) = table.functions(image).returned_to(svma.0)?;
            Some(is_outside_runtime(function.name()?))
        };
        self.table(image).and_then(returned_to).unwrap_or(false)
    }

    fn table(&self, image: &Image) -> Option<&GoTable> {
        let find = || {
            let meter = Meter::new(&self.budget, image.bytes().len());
            match GoTable::find(image, &|| meter.steps(1).is_ok())? {
                Ok(table) => Some(table),
                Err(_) => {
                    meter.exhausted().map(|exhausted| self.exhausted.get_or_init(|| exhausted));
                    None
                }
            }
        };
        self.table.get_or_init(find).as_ref()
    }

    /// Returns the distance from the stack pointer to the return address, in bytes.
    fn frame_size(&self, function: &GoFunction<'_>, svma: Svma) -> Option<i32> {
        let offset = svma.since(Svma(function.start));
        for (step, piece) in function.values(GoValueKind::FrameSize).enumerate() {
            if step >= FREE_STEPS
                && let Err(exhausted) = self.steps.take(1)
            {
                self.exhausted.get_or_init(|| exhausted);
                return None;
            }
            if offset < piece.end {
                return Some(piece.value)
                    .filter(|&size| (0..LARGEST).contains(&size) && size % WORD == 0);
            }
        }
        None
    }
}

/// Returns true if a function's package is not part of Go's runtime.
fn is_outside_runtime(name: &[u8]) -> bool {
    const OF_RUNTIME: [&[u8]; 7] =
        [b"runtime", b"internal", b"type", b"go", b"syscall", b"sync", b"reflect"];
    let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric());
    let Some((first, rest)) = end.map(|end| name.split_at(end)) else { return false };
    rest.contains(&b'.') && !first.is_empty() && !OF_RUNTIME.contains(&first)
}

/// Returns true if a stack begins with a function: its caller does not continue when it returns. `mcall` leaves the
/// goroutine for good; others resume that. For signal handlers, Go's flag means the signal's stack: they return to the
/// kernel, which resumes the interrupted code. `mstart` has a caller, possibly C.
fn is_outermost(function: &GoFunction<'_>, name: &[u8]) -> bool {
    match name {
        b"runtime.goexit" | b"runtime.rt0_go" | b"runtime.clone" | b"runtime.mcall" => true,
        b"runtime.mstart" => false,
        _ if name.starts_with(b"runtime.sig") => false,
        _ => function.is_top_frame() || name.starts_with(b"_rt0_"),
    }
}

/// Returns the frame of a function at its full size; `None` if it has none.
fn full_frame(function: &GoFunction<'_>) -> Option<SimpleRule> {
    let sizes = function.values(GoValueKind::FrameSize).take(FREE_STEPS);
    let size = sizes.map(|piece| piece.value).max()?;
    (WORD..LARGEST).contains(&size).then(|| simple_rule(function, size, true))
}

/// Returns false if the instruction at an address is the one that saves the frame pointer in an already allocated
/// frame.
fn has_saved_fp(image: &Image, svma: Svma) -> bool {
    // mov %rbp, 8-bit or 32-bit offset(%rsp)
    let saves = [[0x48, 0x89, 0x6c, 0x24], [0x48, 0x89, 0xac, 0x24]];
    let code = image.read_only_bytes(svma, saves[0].len());
    !code.is_some_and(|code| saves.iter().any(|saves| code == saves))
}

/// Builds a rule. Functions with a frame, except assembly, save the frame pointer below the return address.
fn simple_rule(function: &GoFunction<'_>, size: i32, has_saved_fp: bool) -> SimpleRule {
    let arch = X86_64;
    let mut saved = [0; N_SLOTS];
    saved[0] = -1;
    let slot = arch.slots.iter().position(|&register| register == arch.fp);
    if let Some(slot) = slot.and_then(|slot| saved.get_mut(slot))
        && size > 0
        && has_saved_fp
        && !function.is_assembly()
    {
        *slot = -2;
    }
    SimpleRule { cfa_register: arch.sp, signal: false, cfa_offset: size + WORD, saved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_only_goroutines_run() {
        let of_goroutines: [&[u8]; 4] =
            [b"main.work", b"main.main.func1", b"github.com/a/b.F", b"encoding/json.Marshal"];
        let of_all: [&[u8]; 7] = [
            b"runtime.mallocgc",
            b"runtime/internal/atomic.Load",
            b"internal/runtime/maps.newTable",
            b"type:.eq.main.T",
            b"sync/atomic.LoadInt64",
            b"crosscall2",
            b"",
        ];
        assert!(of_goroutines.into_iter().all(is_outside_runtime));
        assert!(!of_all.into_iter().any(is_outside_runtime));
    }
}
