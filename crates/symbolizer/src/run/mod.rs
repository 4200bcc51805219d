//! The run: files in parallel, then units of all files in parallel, in a few rounds.

mod account;
mod job;
mod merge;
mod splits;

use std::borrow::Cow;
use std::time::Instant;

use hashbrown::HashMap;
use module_map::Image;
use profile::Strings;
use rayon::prelude::*;

use crate::addresses::AddressIndex;
use crate::dwarf::{self, CANDIDATES, DwarfFile, DwarfPair, DwarfSections, UnitJob};
use crate::elf;
use crate::observer::SymbolStage;
use crate::request::{Options, Request, SymbolSource, Symbols};
use crate::run::account::findings;
use crate::run::job::{Answer, FinishedUnit, LoadedFiles, OpenedFiles, PlannedUnit, SymbolName};
use crate::run::merge::merge;
use crate::run::splits::{SplitImages, SplitView, split_files, split_images, split_views};

/// Looks up all addresses of all requests, on the threads of the current rayon pool. The result does not depend on
/// how many there are. Names of functions (demangled) and paths of files become strings of `strings`.
#[must_use]
pub fn symbolize(
    requests: &[Request<'_>],
    options: &Options<'_>,
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
    let splits: Vec<HashMap<u32, DwarfFile<'_>>> =
        views.par_iter().zip(&opened).map(|(views, file)| split_files(views, file)).collect();
    let start = ended(SymbolStage::Loading, start, options);
    let mut done: Vec<FinishedUnit<'_>> = Vec::new();
    let mut answers: Vec<Vec<Option<Answer>>> =
        requests.iter().map(|request| vec![None; request.addresses.len()]).collect();
    if options.inlines || options.lines || opened.iter().any(|file| file.symbols.contains(&None)) {
        for round in 0..=CANDIDATES {
            let jobs = plan(requests, &opened, &answers, round);
            let first = done.len();
            done.par_extend(
                jobs.into_par_iter().with_max_len(1).map(|job| run(job, &opened, &splits, options)),
            );
            for (number, done) in done.iter().enumerate().skip(first) {
                note(done, number as u32, &mut answers);
            }
        }
    }
    let start = ended(SymbolStage::LookingUp, start, options);
    let mut symbols = merge(&opened, &answers, &done, options, strings);
    symbols.findings = findings(requests, &loaded, &opened, &images, &done);
    ended(SymbolStage::Naming, start, options);
    symbols
}

/// Tells the observer of a stage that has ended; gives when.
fn ended(stage: SymbolStage, start: Instant, options: &Options<'_>) -> Instant {
    let now = Instant::now();
    if let Some(observer) = options.observer {
        observer.ended(stage, now - start);
    }
    now
}

/// Does what [`symbolize`] does for a file whatever addresses are asked of it: unpacks its debug information. To be
/// called while other work is waited for, on one thread; what is unpacked is held until [`symbolize`] takes it.
pub fn prefetch(source: &SymbolSource<'_>) {
    if !source.debug.is_some_and(dwarf::prefetch) {
        dwarf::prefetch(source.image);
    }
    source.alt.map(dwarf::prefetch);
}

fn load<'a>(request: &Request<'a>, options: &Options<'_>) -> LoadedFiles<'a> {
    let mut loaded = LoadedFiles::default();
    if request.addresses.is_empty() || options.is_cancelled() {
        return loaded;
    }
    let source = &request.source;
    loaded.add_table(source.image, ".symtab", ".strtab");
    let before = loaded.tables.len();
    loaded.add_table(source.image, ".dynsym", ".dynstr");
    loaded.dynsym = (loaded.tables.len() > before).then_some(before);
    for image in [source.debug, source.mini].into_iter().flatten() {
        loaded.add_table(image, ".symtab", ".strtab");
    }
    let of = |image: &'a Image| Some((image, DwarfSections::load(image, false)?));
    if let Some((image, sections)) = source.debug.and_then(of).or_else(|| of(source.image)) {
        loaded.main_image = Some(image);
        loaded.main = Some(sections);
    }
    loaded.alt = source.alt.and_then(|alt| DwarfSections::load(alt, false));
    loaded
}

fn open<'l>(
    request: &Request<'_>,
    loaded: &'l LoadedFiles<'_>,
    options: &Options<'_>,
) -> OpenedFiles<'l> {
    let image = request.source.image;
    let index = AddressIndex::new(request.addresses);
    let code = elf::code_ranges(image);
    let found = elf::lookup(&loaded.tables, &code, &index);
    let mut symbols: Vec<Option<SymbolName<'l>>> = found
        .into_iter()
        .map(|found| {
            found.map(|found| SymbolName { start: found.start, name: Cow::Borrowed(found.name) })
        })
        .collect();
    let dynsym = loaded.dynsym.and_then(|number| loaded.tables.get(number));
    for stub in elf::plt_names(image, &loaded.tables, dynsym, &index) {
        if let Some(slot @ None) = symbols.get_mut(stub.index) {
            *slot = Some(SymbolName { start: stub.start, name: Cow::Owned(stub.name) });
        }
    }
    let wanted = options.inlines || options.lines || symbols.contains(&None);
    let main = loaded.main.as_ref().filter(|_| wanted).map(DwarfFile::new);
    let alt = loaded.alt.as_ref().filter(|_| wanted).map(DwarfFile::new);
    let candidates = main.as_ref().map(|file| dwarf::candidates(file, &index)).unwrap_or_default();
    let has_symbols =
        !loaded.tables.is_empty() || main.as_ref().is_some_and(|file| !file.units.is_empty());
    OpenedFiles { symbols, has_symbols, main, alt, candidates }
}

/// The units to ask in a round: the best one of each address first, then the others where it knew no function, at
/// last those units that do not say where their code is.
fn plan(
    requests: &[Request<'_>],
    opened: &[OpenedFiles<'_>],
    answers: &[Vec<Option<Answer>>],
    round: usize,
) -> Vec<PlannedUnit> {
    let mut jobs = Vec::new();
    for (number, ((request, file), answers)) in requests.iter().zip(opened).zip(answers).enumerate()
    {
        let Some(main) = &file.main else { continue };
        let open =
            |index: usize| !matches!(answers.get(index), Some(Some(Answer { complete: true, .. })));
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (index, candidates) in
            file.candidates.iter().enumerate().filter(|(index, _)| open(*index))
        {
            if let Some(Some(unit)) = candidates.get(round) {
                pairs.push((*unit, index as u32));
            }
        }
        if round == CANDIDATES {
            let lost =
                |candidates: &[Option<u32>; CANDIDATES]| candidates.iter().all(Option::is_none);
            let lost: Vec<_> = file
                .candidates
                .iter()
                .enumerate()
                .filter(|(_, c)| lost(c))
                .map(|(i, _)| i as u32)
                .collect();
            if !lost.is_empty() {
                // One job for each unit; few producers leave the ranges out.
                for unit in dwarf::units_without_ranges(main) {
                    jobs.push(job(number as u32, unit, lost.clone(), request, file));
                }
            }
            continue;
        }
        pairs.sort_unstable();
        for chunk in pairs.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(unit, _)) = chunk.first() else { continue };
            jobs.push(job(
                number as u32,
                unit,
                chunk.iter().map(|pair| pair.1).collect(),
                request,
                file,
            ));
        }
    }
    jobs
}

fn job(
    number: u32,
    unit: u32,
    indices: Vec<u32>,
    request: &Request<'_>,
    file: &OpenedFiles<'_>,
) -> PlannedUnit {
    let address = |&index: &u32| request.addresses.get(index as usize).copied().unwrap_or_default();
    let named = |&index: &u32| file.symbols.get(index as usize).is_some_and(Option::is_some);
    PlannedUnit {
        request: number,
        unit,
        addresses: indices.iter().map(address).collect(),
        named: indices.iter().map(named).collect(),
        indices,
    }
}

fn run<'f>(
    job: PlannedUnit,
    opened: &'f [OpenedFiles<'f>],
    splits: &'f [HashMap<u32, DwarfFile<'f>>],
    options: &Options<'_>,
) -> FinishedUnit<'f> {
    let split = splits.get(job.request as usize).and_then(|splits| splits.get(&job.unit));
    let file = opened.get(job.request as usize).filter(|_| !options.is_cancelled());
    let result = file.and_then(|file| Some((file, file.main.as_ref()?))).map(|(file, main)| {
        let unit_job = UnitJob {
            unit: job.unit,
            addresses: &job.addresses,
            named: &job.named,
            inlines: options.inlines,
            lines: options.lines,
        };
        dwarf::resolve(DwarfPair { file: main, alt: file.alt.as_ref() }, split, &unit_job)
    });
    FinishedUnit { result: result.unwrap_or_default(), job }
}

/// Notes what a finished unit says about its addresses, where it says more than was known.
fn note(done: &FinishedUnit<'_>, number: u32, answers: &mut [Vec<Option<Answer>>]) {
    let Some(answers) = answers.get_mut(done.job.request as usize) else { return };
    for (index, (&address, found)) in
        done.job.indices.iter().zip(&done.result.addresses).enumerate()
    {
        let complete = found.function_start.is_some();
        let Some(slot) = answers.get_mut(address as usize) else { continue };
        if found.n_frames > 0 && slot.is_none_or(|old| complete && !old.complete) {
            *slot = Some(Answer { job: number, index: index as u32, complete });
        }
    }
}
