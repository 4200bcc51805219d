//! Lists of functions in memory: of the kernel, and of code that run-time compilers made.

use std::collections::BTreeMap;

use address::{Avma, Pid};

/// Functions of the kernel by their addresses.
#[derive(Debug, Default)]
pub(super) struct KernelList {
    starts: BTreeMap<u64, Vec<u8>>,
    last: u64,
}

impl KernelList {
    /// Adds the function of an address. An address without one gets a line of its own, or that of the function before it
    /// would be taken for it.
    pub(super) fn add(&mut self, address: Avma, function: Option<(&[u8], u64)>) {
        let (name, offset) = function.unwrap_or((b"[unknown]", 0));
        let is_word = !name.is_empty() && !name.iter().any(u8::is_ascii_whitespace);
        let name = if is_word { name } else { b"[unknown]" };
        self.starts.entry(address.0.wrapping_sub(offset)).or_insert_with(|| name.to_vec());
        self.last = self.last.max(address.0);
    }

    /// The list as `/proc/kallsyms` has it; `reference` is the symbol by which the recording says where the kernel lay.
    pub(super) fn text(mut self, reference: Option<(&[u8], Avma)>) -> Option<Vec<u8>> {
        if self.starts.values().all(|name| name == b"[unknown]") {
            return None;
        }
        // The last function ends there.
        self.starts.entry(self.last.saturating_add(1)).or_insert_with(|| b"[end]".to_vec());
        let mut text = Vec::new();
        if let Some((symbol, at)) = reference {
            // Of a type that names no code.
            text.extend(
                format!("{:016x} A {}\n", at.0, String::from_utf8_lossy(symbol)).into_bytes(),
            );
        }
        for (start, name) in &self.starts {
            text.extend(format!("{start:016x} T ").into_bytes());
            text.extend(name);
            text.push(b'\n');
        }
        Some(text)
    }
}

/// Functions of code that was made at run time, by process and start, each with where it ends and its name.
#[derive(Debug, Default)]
pub(super) struct ScriptLists(BTreeMap<i32, BTreeMap<u64, (u64, Vec<u8>)>>);

impl ScriptLists {
    /// Adds the function of an address, which is so far past its start.
    pub(super) fn add(&mut self, pid: Pid, address: Avma, offset: u64, name: Vec<u8>) {
        let end = address.0.saturating_add(1);
        let functions = self.0.entry(pid.0).or_default();
        let function = functions.entry(address.0.wrapping_sub(offset)).or_insert((end, name));
        function.0 = function.0.max(end);
    }

    /// The map of each process that has one.
    ///
    /// Source: `tools/perf/Documentation/jit-interface.txt`.
    pub(super) fn texts(self) -> impl Iterator<Item = (i32, Vec<u8>)> {
        self.0.into_iter().map(|(pid, functions)| {
            let mut text = Vec::new();
            for (start, (end, name)) in functions {
                text.extend(format!("{start:x} {:x} ", end.saturating_sub(start)).into_bytes());
                text.extend(name);
                text.push(b'\n');
            }
            (pid, text)
        })
    }
}
