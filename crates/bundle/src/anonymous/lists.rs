//! Lists of functions in memory: of the kernel, and of run-time compiled code.

use std::collections::BTreeMap;

use address::{Avma, Pid};

/// Kernel functions by address.
#[derive(Debug, Default)]
pub(super) struct KernelList {
    starts: BTreeMap<u64, Vec<u8>>,
    last: u64,
}

impl KernelList {
    /// Adds the function of an address. An address without a function gets its own line, since it would otherwise
    /// belong to the preceding function.
    pub(super) fn add(&mut self, address: Avma, function: Option<(&[u8], u64)>) {
        let (name, offset) = function.unwrap_or((b"[unknown]", 0));
        let is_word = !name.is_empty() && !name.iter().any(u8::is_ascii_whitespace);
        let name = if is_word { name } else { b"[unknown]" };
        self.starts.entry(address.0.wrapping_sub(offset)).or_insert_with(|| name.to_vec());
        self.last = self.last.max(address.0);
    }

    /// Returns the list in the format of `/proc/kallsyms`; `reference` is the symbol that states the kernel's load
    /// address in the recording.
    pub(super) fn text(mut self, reference: Option<(&[u8], Avma)>) -> Option<Vec<u8>> {
        if self.starts.values().all(|name| name == b"[unknown]") {
            return None;
        }
        // End of the last function.
        self.starts.entry(self.last.saturating_add(1)).or_insert_with(|| b"[end]".to_vec());
        let mut text = Vec::new();
        if let Some((symbol, at)) = reference {
            // Type `A` does not denote code.
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

/// Functions of run-time compiled code: for each process, the addresses of frames with the start and name of their
/// function. `None` if memory was reused for another function, since a list cannot state times.
#[derive(Debug, Default)]
pub(super) struct ScriptLists(BTreeMap<i32, ScriptFunctions>);

/// Start and name of the function at an address.
type ScriptFunctions = BTreeMap<u64, Option<(u64, Vec<u8>)>>;

impl ScriptLists {
    /// Adds the function of an address, at `offset` bytes from its start.
    pub(super) fn add(&mut self, pid: Pid, address: Avma, offset: u64, name: Vec<u8>) {
        let function = Some((address.0.wrapping_sub(offset), name));
        let addresses = self.0.entry(pid.0).or_default();
        let known = addresses.entry(address.0).or_insert_with(|| function.clone());
        if *known != function {
            *known = None;
        }
    }

    /// Returns the map of each process with such functions.
    ///
    /// Source: `tools/perf/Documentation/jit-interface.txt`.
    pub(super) fn texts(self) -> impl Iterator<Item = (i32, Vec<u8>)> {
        self.0.into_iter().map(|(pid, addresses)| (pid, text(&addresses)))
    }
}

fn text(addresses: &ScriptFunctions) -> Vec<u8> {
    let mut functions: BTreeMap<(u64, &[u8]), u64> = BTreeMap::new();
    for (&address, function) in addresses {
        let Some((start, name)) = function else { continue };
        functions.insert((*start, name), address.saturating_add(1));
    }
    let mut text = Vec::new();
    for ((start, name), end) in functions {
        // A function is listed only if all addresses from its start to its last one belong to it.
        let others = addresses.range(start..end).map(|(_, function)| function.as_ref());
        let is_alone =
            others.into_iter().all(|it| it.is_some_and(|it| it.0 == start && it.1 == name));
        if is_alone {
            text.extend(format!("{start:x} {:x} ", end - start).into_bytes());
            text.extend(name);
            text.push(b'\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_used_again_has_no_name() {
        let mut lists = ScriptLists::default();
        let mut add = |address: u64, offset, name: &str| {
            lists.add(Pid(7), Avma(address), offset, name.as_bytes().to_vec());
        };
        add(0x110, 0x10, "first");
        add(0x120, 0x20, "first");
        add(0x210, 0x10, "second");
        add(0x210, 0x10, "third");
        add(0x310, 0x10, "second");
        add(0x310, 0x10, "second");
        let texts: Vec<_> = lists.texts().collect();
        assert_eq!(texts, [(7, b"100 21 first\n300 11 second\n".to_vec())]);
    }

    #[test]
    fn the_kernel_has_a_list() {
        let mut list = KernelList::default();
        list.add(Avma(0xff10), Some((b"one", 0x10)));
        list.add(Avma(0xff80), None);
        let text = list.text(Some((b"_text", Avma(0xf000)))).expect("names");
        let expected = "000000000000f000 A _text\n000000000000ff00 T one\n\
                        000000000000ff80 T [unknown]\n000000000000ff81 T [end]\n";
        assert_eq!(String::from_utf8(text).expect("text"), expected);
        assert_eq!(KernelList::default().text(None), None);
    }
}
