//! Names of kernel functions in the texts of samples, which have their addresses so far.

use address::Avma;
use hashbrown::HashMap;
use perf_data::with_symbols;
use profile::{FieldTable, StringId, Strings};
use symbolizer::KernelNames;

/// Returns the addresses of the kernel that texts of samples contain, once each.
pub(super) fn addresses_in_texts(fields: &FieldTable, strings: &Strings) -> Vec<Avma> {
    let mut addresses = Vec::new();
    for text in fields.texts() {
        let _ = with_symbols(strings.get(text), |symbol| {
            addresses.push(Avma(symbol.address));
            None
        });
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Replaces the addresses of the kernel in texts of samples by the names of their functions; without a name, by the
/// address in hexadecimal.
pub(super) fn name_texts(
    fields: &mut FieldTable,
    strings: &mut Strings,
    names: Option<&KernelNames>,
) {
    let mut known: HashMap<StringId, StringId> = HashMap::new();
    fields.map_texts(|text| {
        *known.entry(text).or_insert_with(|| {
            let named = with_symbols(strings.get(text), |symbol| {
                let (name, start) = names?.lookup(Avma(symbol.address))?;
                Some((name, start.0))
            });
            named.map_or(text, |named| strings.intern(&named))
        })
    });
}
