//! Kernel names: a list that belongs to the recorded kernel, or none. Names of another kernel are worse than none.

use std::fs;
use std::path::Path;

use address::{Avma, BuildId};
use module_map::{ModuleKind, Timeline};
use symbolizer::Kallsyms;

use crate::cli::SymbolArgs;

/// The kernel's names and what is to be said about them.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) symbols: Option<KernelNames>,
    /// Why there are none, in plain words; only where kernel code was mapped.
    pub(crate) refused: Option<String>,
}

/// A kernel symbol list in memory, and how far the recorded kernel lay from it.
#[derive(Debug)]
pub(crate) struct KernelNames {
    text: Vec<u8>,
    slide: u64,
}

impl KernelNames {
    /// The parsed list.
    pub(crate) fn parse(&self) -> Option<Kallsyms<'_>> {
        Kallsyms::parse(&self.text).ok()
    }

    /// The address in the list of an address of the recorded kernel.
    pub(crate) const fn in_list(&self, address: Avma) -> Avma {
        address.sub(self.slide)
    }

    /// The address in the recorded kernel of an address of the list.
    pub(crate) const fn in_kernel(&self, address: Avma) -> Avma {
        address.add(self.slide)
    }
}

/// The names of the recorded kernel: from the file that the user named, else from the running kernel where its
/// build-id is the recorded one.
pub(crate) fn load(args: &SymbolArgs, timeline: &Timeline) -> Kernel {
    if args.no_symbols || timeline.kernel().is_empty() {
        return Kernel::default();
    }
    let path = match &args.kallsyms {
        Some(path) => path.as_path(),
        None => match running_kernel_is_recorded(timeline) {
            Ok(()) => Path::new("/proc/kallsyms"),
            Err(reason) => return Kernel { symbols: None, refused: Some(reason) },
        },
    };
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) => {
            return Kernel {
                symbols: None,
                refused: Some(format!("cannot read {}: {error}", path.display())),
            };
        }
    };
    if let Err(error) = Kallsyms::parse(&text) {
        return Kernel { symbols: None, refused: Some(format!("{}: {error}", path.display())) };
    }
    let slide = timeline
        .kernel_reference()
        .and_then(|(symbol, recorded)| Some(recorded.since(address_of(&text, symbol)?)));
    Kernel { symbols: Some(KernelNames { text, slide: slide.unwrap_or(0) }), refused: None }
}

fn running_kernel_is_recorded(timeline: &Timeline) -> Result<(), String> {
    let recorded = timeline
        .modules()
        .iter()
        .find(|module| {
            module.kind == ModuleKind::Kernel && module.path.starts_with(b"[kernel.kallsyms]")
        })
        .and_then(|module| module.identity.build_id);
    let running = fs::read("/sys/kernel/notes").ok().and_then(|notes| build_id_of_notes(&notes));
    match (recorded, running) {
        (Some(recorded), Some(running)) if recorded.matches(&running) => Ok(()),
        (Some(recorded), Some(running)) => Err(format!(
            "the recorded kernel has build-id {recorded}, the running one {running}; name its symbols with --kallsyms"
        )),
        (None, _) => {
            Err("the recording does not say which kernel it was; name its symbols with --kallsyms"
                .to_owned())
        }
        (_, None) => {
            Err("the running kernel tells no build-id; name the symbols with --kallsyms".to_owned())
        }
    }
}

/// The build-id in a notes section.
///
/// Source: ELF notes: name size, descriptor size, type, each of 4 bytes; name and descriptor padded to 4.
fn build_id_of_notes(notes: &[u8]) -> Option<BuildId> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let (header, body) = rest.split_first_chunk::<12>()?;
        let word = |at: usize| {
            header
                .get(at..at + 4)
                .and_then(|w| w.first_chunk::<4>())
                .map(|w| u32::from_ne_bytes(*w))
        };
        let (name_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let name = body.get(..name_size)?;
        let start = name_size.checked_next_multiple_of(4)?;
        let content = body.get(start..start.checked_add(size)?)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return BuildId::new(content);
        }
        rest = body.get(start.checked_add(size.checked_next_multiple_of(4)?)?..)?;
    }
}

/// The address of a symbol in the list.
fn address_of(text: &[u8], symbol: &[u8]) -> Option<Avma> {
    text.split(|&byte| byte == b'\n').find_map(|line| {
        let mut words = line.split(|&byte| byte == b' ' || byte == b'\t');
        let address = std::str::from_utf8(words.next()?).ok()?;
        (words.nth(1)? == symbol).then(|| u64::from_str_radix(address, 16).ok().map(Avma)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_searched_for_the_build_id() {
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let sizes = [name.len() as u32, content.len() as u32, kind];
            let mut bytes: Vec<u8> = sizes.iter().flat_map(|word| word.to_ne_bytes()).collect();
            for part in [name, content] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let mut notes = note(b"Linux\0", 0x100, &[1, 2, 3]);
        notes.extend(note(b"GNU\0", 3, &[0xab, 0xcd]));
        assert_eq!(build_id_of_notes(&notes).map(|id| id.to_string()).as_deref(), Some("abcd"));
        assert_eq!(build_id_of_notes(&notes[..notes.len() - 4]), None);
        assert_eq!(build_id_of_notes(&[]), None);
    }

    #[test]
    fn the_reference_symbol_is_found() {
        let text = b"ffffffff81000000 T _text\nffffffff81000040 T startup_64\nffffffffc0000000 t x\t[mod]\n";
        assert_eq!(address_of(text, b"_text"), Some(Avma(0xffff_ffff_8100_0000)));
        assert_eq!(address_of(text, b"_stext"), None);
    }
}
