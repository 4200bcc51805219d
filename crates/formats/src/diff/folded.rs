//! Folded stacks with two costs, `thread;outermost;…;innermost before after`: the format that `inferno-diff-folded`
//! writes and `inferno-flamegraph` draws as a differential flame graph.

use std::io;

use profile::query::diff::Diff;

use super::labels::full_function;
use super::stacks::stacks;
use crate::render::text::{push_label, push_number};
use crate::render::truncation::push_repeated;

/// Prints a line for each distinct stack, sorted by the bytes of the line.
pub(super) fn print(diff: &Diff, out: &mut dyn io::Write) -> io::Result<()> {
    let mut lines: Vec<(Vec<u8>, [u64; 2])> = Vec::new();
    for stack in stacks(diff) {
        let mut line = Vec::new();
        let thread = stack.thread.map_or(&b""[..], |name| diff.text(name));
        push_repeated(&mut line, thread, push_label);
        if stack.truncated {
            line.extend_from_slice(b";[truncated]");
        }
        for function in stack.functions.iter().rev() {
            line.push(b';');
            let row = diff.functions.get(*function);
            let name = row.map_or_else(Default::default, |row| full_function(diff, row));
            push_repeated(&mut line, &name, push_label);
        }
        lines.push((line, stack.costs));
    }
    lines.sort_unstable();
    // Functions of the same name in different modules have equal lines; their costs are summed.
    lines.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            for (sum, cost) in first.1.iter_mut().zip(next.1) {
                *sum = sum.saturating_add(cost);
            }
        }
        is_same
    });
    let mut text = Vec::new();
    for (line, costs) in lines {
        text.extend_from_slice(&line);
        for cost in costs {
            text.push(b' ');
            push_number(&mut text, cost);
        }
        text.push(b'\n');
    }
    out.write_all(&text)
}
