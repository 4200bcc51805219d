//! The run: files in parallel, then units of all files in parallel, in a few rounds.

mod compile_dirs;
mod findings;
mod job;
mod merge;
mod readable;
mod rounds;
mod source_names;
mod splits;

use std::borrow::Cow;
use std::time::Instant;

use budget::MemoryUse;
use hashbrown::HashMap;
use image_store::{Image, Section};
use options::Demangle;
use profile::Strings;
use rayon::prelude::*;

use crate::addresses::AddressIndex;
use crate::dwarf::{self, Candidates, DwarfFile, DwarfSections};
use crate::elf;
use crate::languages::Proof;
use crate::observer::SymbolStage;
use crate::request::{SymbolRequest, SymbolSource, SymbolizeOptions, Symbols};
use crate::run::findings::FindingInput;
use crate::run::job::{LoadedFiles, OpenedFiles, SymbolName};
use crate::run::merge::merge;
use crate::run::rounds::{RoundInput, Rounds};
use crate::run::splits::{SplitImages, SplitView, split_files, split_images, split_views};

pub use compile_dirs::compile_dirs;
pub use source_names::named_source;

/// Looks up all addresses of all requests on the threads of the current rayon pool. The result does not depend on the
/// number of threads. Names of functions (demangled) and paths of files are interned in `strings`.
#[must_use]
pub fn symbolize(
    requests: &[SymbolRequest<'_>],
    options: &SymbolizeOptions<'_>,
    strings: &mut Strings,
) -> Symbols {
    let start = Instant::now();
    let loaded: Vec<LoadedFiles<'_>> =
        requests.par_iter().with_max_len(1).map(|request| load(request, options)).collect();
    let opened: Vec<OpenedFiles<'_>> = requests
        .par_iter()
        .with_max_len(1)
        .zip(&loaded)
        .map(|(request, loaded)| open(request, loaded, options))
        .collect();
    let images: Vec<SplitImages<'_>> = requests
        .par_iter()
        .with_max_len(1)
        .zip(&opened)
        .map(|(request, file)| split_images(request, file))
        .collect();
    let views: Vec<Vec<SplitView<'_>>> = images
        .par_iter()
        .zip(&loaded)
        .zip(&opened)
        .map(|((images, loaded), file)| split_views(images, loaded, file))
        .collect();
    let splits: Vec<HashMap<u32, DwarfFile<'_>>> = views
        .par_iter()
        .zip(&opened)
        .map(|(views, file)| split_files(views, file, options))
        .collect();
    let start = ended(SymbolStage::Loading, start, options);
    let asked = RoundInput { requests, opened: &opened, splits: &splits, options };
    let rounds = asked.rounds();
    let Rounds { done, answers, damage, go_exhausted } = rounds;
    let start = ended(SymbolStage::LookingUp, start, options);
    let (mut symbols, mut exhausted) = merge(&opened, &images, &answers, &done, options, strings);
    let found =
        FindingInput { requests, loaded: &loaded, opened: &opened, splits: &images, done: &done };
    exhausted.extend(go_exhausted);
    symbols.findings = found.findings(&damage, &exhausted);
    ended(SymbolStage::Naming, start, options);
    symbols
}

/// Reports the end of a stage to the observer; returns its time.
fn ended(stage: SymbolStage, start: Instant, options: &SymbolizeOptions<'_>) -> Instant {
    let now = Instant::now();
    if let Some(observer) = options.observer {
        observer.ended(stage, now - start);
    }
    now
}

/// Prefetches the work of [`symbolize`] for a file that does not depend on the addresses: unpacks its debug
/// information.
/// The unpacked sections stay in memory until [`symbolize`] takes them.
pub fn prefetch(source: &SymbolSource<'_>) {
    sections(source).into_iter().for_each(|(section, image)| image.unpack_early(section));
}

/// Like [`prefetch`], on all threads of the current pool.
pub fn prefetch_on_pool(source: &SymbolSource<'_>) {
    let sections = sections(source).into_par_iter().with_max_len(1);
    sections.for_each(|(section, image)| image.unpack_early(section));
}

/// Returns the sections with the debug information of a file, each with its image.
fn sections<'a>(source: &SymbolSource<'a>) -> Vec<(&'a Section, &'a Image)> {
    let of = |image: &'a Image| Some((image, dwarf::sections_to_load(image)?));
    let main = source.debug.and_then(of).or_else(|| of(source.image));
    let images = main.into_iter().chain(source.alt.and_then(of));
    images
        .flat_map(|(image, sections)| sections.into_iter().map(move |section| (section, image)))
        .collect()
}

fn load<'a>(request: &SymbolRequest<'a>, options: &SymbolizeOptions<'_>) -> LoadedFiles<'a> {
    let mut loaded = LoadedFiles::default();
    if request.addresses.is_empty() || options.is_cancelled() {
        return loaded;
    }
    let source = &request.source;
    loaded.add_table(source.image, ".symtab", ".strtab");
    let before = loaded.tables.len();
    loaded.add_table(source.image, ".dynsym", ".dynstr");
    loaded.dynsym = (loaded.tables.len() > before).then_some(before);
    loaded.find_go(source.image, &options.budget);
    for image in [source.debug, source.mini].into_iter().flatten() {
        loaded.add_table(image, ".symtab", ".strtab");
    }
    if !needs_debug_information(request, &loaded, options) {
        return loaded;
    }
    let of = |image: &'a Image| Some((image, DwarfSections::load(image, false)?));
    if let Some((image, sections)) = source.debug.and_then(of).or_else(|| of(source.image)) {
        loaded.main_image = Some(image);
        loaded.main = Some(sections);
    }
    loaded.alt = source.alt.and_then(|alt| DwarfSections::load(alt, false));
    loaded
}

/// Returns false if only the names of functions are asked for, and the symbol tables have all of them.
fn needs_debug_information(
    request: &SymbolRequest<'_>,
    loaded: &LoadedFiles<'_>,
    options: &SymbolizeOptions<'_>,
) -> bool {
    if options.inlines || options.lines {
        return true;
    }
    let held = options.held(MemoryUse::Symbols);
    let names = elf::NameReader::new(&loaded.tables, &options.budget, &held);
    let index = AddressIndex::new(request.addresses);
    table_symbols(request.source.image, loaded, &names, &index).contains(&None)
}

/// Returns the names of addresses in the symbol tables, or of the stubs that jump to other files.
fn table_symbols<'l>(
    image: &Image,
    loaded: &'l LoadedFiles<'_>,
    names: &elf::NameReader<'l, 'l>,
    index: &AddressIndex<'_>,
) -> Vec<Option<SymbolName<'l>>> {
    let code = elf::CodeBounds::of(image);
    let found = elf::lookup(names, &code, index);
    let mut symbols: Vec<Option<SymbolName<'l>>> = found
        .into_iter()
        .map(|found| {
            found.map(|found| SymbolName { start: found.start, name: Cow::Borrowed(found.name) })
        })
        .collect();
    let dynsym = loaded.dynsym.and_then(|number| Some((number as u32, loaded.tables.get(number)?)));
    let is_named: Vec<bool> = symbols.iter().map(Option::is_some).collect();
    for stub in elf::plt_names(image, names, dynsym, index, &is_named) {
        if let Some(slot @ None) = symbols.get_mut(stub.index) {
            *slot = Some(SymbolName { start: stub.start, name: Cow::Owned(stub.name) });
        }
    }
    symbols
}

fn open<'l>(
    request: &SymbolRequest<'l>,
    loaded: &'l LoadedFiles<'_>,
    options: &SymbolizeOptions<'_>,
) -> OpenedFiles<'l> {
    let image = request.source.image;
    let index = AddressIndex::new(request.addresses);
    let held = options.held(MemoryUse::Symbols);
    let names = elf::NameReader::new(&loaded.tables, &options.budget, &held);
    let symbols = table_symbols(image, loaded, &names, &index);
    let wanted = options.inlines || options.lines || symbols.contains(&None);
    let open = |sections: &'l DwarfSections<'_>| DwarfFile::new(sections, &options.budget, &held);
    let main = loaded.main.as_ref().filter(|_| wanted).map(open);
    let alt = loaded.alt.as_ref().filter(|_| wanted).map(open);
    let candidates = main.as_ref().map(|file| Candidates::of(file, &index)).unwrap_or_default();
    let go = loaded.go.as_ref().map(|table| table.functions(image));
    let languages = match options.demangle {
        Demangle::None => Proof::default(),
        _ => Proof::of(loaded.tables.iter().map(elf::SymbolTable::strings)),
    };
    let has_symbols = !loaded.tables.is_empty()
        || main.as_ref().is_some_and(|file| !file.units.is_empty())
        || go.is_some();
    OpenedFiles {
        symbols,
        has_symbols,
        main,
        alt,
        go,
        candidates,
        languages,
        damaged_tables: names.damaged(),
        no_more_names: names.exhausted(),
    }
}
