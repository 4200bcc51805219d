//! The directories in which the code of a profile was compiled.

use address::{ById as _, ModuleId, Svma};
use hashbrown::HashMap;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions, compile_dirs};

use crate::runs::Analysis;

impl Analysis {
    /// Returns for each file address the compile directory that debug information states; `None` if it states none.
    /// This reads the debug information of the modules again.
    #[must_use]
    pub fn compile_dirs(&self, places: &[(ModuleId, Svma)]) -> Vec<Option<Vec<u8>>> {
        let images = &self.sources.files.images;
        let options = SymbolizeOptions {
            budget: images.options().budget,
            memory: Some(&images.options().memory),
            ..SymbolizeOptions::default()
        };
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut known = HashMap::new();
        for places in sorted.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(module, _)) = places.first() else { continue };
            let row = self.sources.timeline.modules().by_id(module);
            let Some(Ok(file)) = row.and_then(|row| images.outcome(row)) else { continue };
            let addresses: Vec<Svma> = places.iter().map(|place| place.1).collect();
            let source = SymbolSource::of_files(file, images);
            let request = SymbolRequest { source, addresses: &addresses };
            known.extend(places.iter().copied().zip(compile_dirs(&request, &options)));
        }
        places.iter().map(|place| known.get(place).cloned().flatten()).collect()
    }
}
