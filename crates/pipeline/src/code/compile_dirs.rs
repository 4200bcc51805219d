//! The directories in which the code of a profile was compiled.

use address::{ModuleId, Svma};
use hashbrown::HashMap;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, compile_dirs};

use super::ModuleAddresses;
use crate::runs::Analysis;

impl Analysis {
    /// Returns for each file address the compile directory that debug information states; `None` if it states none.
    /// This reads the debug information of the modules again.
    #[must_use]
    pub fn compile_dirs(&self, places: &[(ModuleId, Svma)]) -> Vec<Option<Vec<u8>>> {
        let Some(images) = self.sources.images() else { return vec![None; places.len()] };
        let options = SymbolizeOptions {
            budget: images.options().budget,
            memory: Some(&images.options().memory),
            ..SymbolizeOptions::default()
        };
        let mut known = HashMap::new();
        for ModuleAddresses { module, file, addresses } in self.by_module(places) {
            let source = SymbolSource::of_files(file, images);
            let request = SymbolRequest { source, addresses: &addresses };
            let places = addresses.iter().map(|&address| (module, address));
            known.extend(places.zip(compile_dirs(&request, &options)));
        }
        places.iter().map(|place| known.get(place).cloned().flatten()).collect()
    }
}
