//! The names of functions that instructions jump to or call, whether they have samples or not.

use address::{ModuleId, Svma};
use hashbrown::HashMap;
use options::Demangle;
use profile::Strings;
use symbolizer::{Instruction, SymbolRequest, SymbolSource, SymbolizeOptions, symbolize};

use crate::runs::Analysis;

impl Analysis {
    /// Returns for each file address the name of its function from the file, such as `parse`, `parse+0x10` or
    /// `memcpy@plt`; `None` if it has none. Names that have an offset are not those of a call.
    #[must_use]
    pub fn target_names(
        &self,
        targets: &[(ModuleId, Svma)],
        demangle: Demangle,
    ) -> Vec<Option<Vec<u8>>> {
        let Some(images) = self.sources.images() else { return vec![None; targets.len()] };
        let files = self.by_module(targets);
        let requests: Vec<SymbolRequest<'_>> = files
            .iter()
            .map(|it| SymbolRequest {
                source: SymbolSource::of_loaded(it.file, images),
                addresses: &it.addresses,
            })
            .collect();
        let options = SymbolizeOptions {
            inlines: false,
            lines: false,
            demangle,
            budget: images.options().budget,
            memory: Some(&images.options().memory),
            observer: None,
        };
        let mut strings = Strings::default();
        let symbols = symbolize(&requests, &options, &mut strings);
        let mut names: HashMap<(ModuleId, Svma), Vec<u8>> = HashMap::new();
        for (it, answers) in files.iter().zip(&symbols.addresses) {
            for (&address, answer) in it.addresses.iter().zip(answers) {
                let outermost = (answer.frames.end as usize).checked_sub(1);
                let frame = outermost.filter(|_| !answer.frames.is_empty());
                let function = frame.and_then(|at| symbols.frames.get(at)?.function);
                let Some(function) = function else { continue };
                let start = answer.function_start.unwrap_or(address);
                let mut name = strings.get(function).to_vec();
                if let offset @ 1.. = address.0.wrapping_sub(start.0) {
                    name.extend(format!("+{offset:#x}").bytes());
                }
                names.insert((it.module, address), name);
            }
        }
        targets.iter().map(|target| names.get(target).cloned()).collect()
    }

    /// Adds to the texts of a function's instructions the names of the other functions that they jump to or call, as in
    /// `call 0x1040 <memcpy@plt>`.
    pub fn name_targets(
        &self,
        module: ModuleId,
        instructions: &mut [Instruction],
        demangle: Demangle,
    ) {
        let outside = outside_targets(instructions);
        let places: Vec<_> = outside.iter().map(|&(_, target)| (module, target)).collect();
        for (&(at, _), name) in outside.iter().zip(self.target_names(&places, demangle)) {
            if let (Some(instruction), Some(name)) = (instructions.get_mut(at), name) {
                instruction.text += &format!(" <{}>", String::from_utf8_lossy(&name));
            }
        }
    }
}

/// Returns the targets outside of a function's instructions, each with the index of its instruction.
#[must_use]
pub fn outside_targets(instructions: &[Instruction]) -> Vec<(usize, Svma)> {
    let first = instructions.first().map_or(0, |it| it.address.0);
    let end = instructions.last().map_or(0, |it| it.address.0.saturating_add(it.len.into()));
    let targets = instructions.iter().enumerate();
    let targets = targets.filter_map(|(at, it)| Some((at, it.target?)));
    targets.filter(|(_, target)| !(first..end).contains(&target.0)).collect()
}
