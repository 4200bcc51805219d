//! The rounds of querying units: the best one for each address first, then the others if it found no function, and
//! finally the units without ranges.

use address::Svma;
use budget::{Exhausted, MemoryUse, Resource};
use gopclntab::GoFunctions;
use hashbrown::HashMap;
use image_store::Image;
use rayon::prelude::*;

use crate::addresses::AddressIndex;
use crate::dwarf::{
    self, CANDIDATES, DwarfFile, DwarfPair, RangelessUnits, SharedLines, UnitJob, UnitSources,
};
use crate::finding::SymbolFindingKind;
use crate::go::{self, GoFrameParts};
use crate::request::{SymbolRequest, SymbolizeOptions};
use crate::run::job::{AddressAnswer, FinishedUnit, OpenedFiles, PlannedUnit, ProgramKey};

/// Input of the rounds.
pub(crate) struct RoundInput<'f, 'r> {
    pub(crate) requests: &'r [SymbolRequest<'r>],
    pub(crate) opened: &'f [OpenedFiles<'f>],
    pub(crate) splits: &'f [HashMap<u32, DwarfFile<'f>>],
    pub(crate) options: &'r SymbolizeOptions<'r>,
}

/// Result of the rounds.
pub(crate) struct Rounds<'f> {
    pub(crate) done: Vec<FinishedUnit<'f>>,
    /// For each request, the answers to its addresses.
    pub(crate) answers: Vec<Vec<Option<AddressAnswer>>>,
    /// Damage found before units were queried: the request, the kind and the position.
    pub(crate) damage: Vec<(u32, SymbolFindingKind, u64)>,
    /// The requests that exceeded the limit on tables of Go functions.
    pub(crate) go_exhausted: Vec<(u32, Exhausted)>,
}

impl<'f> RoundInput<'f, '_> {
    pub(crate) fn rounds(&self) -> Rounds<'f> {
        let answers = self.requests.iter().map(|request| vec![None; request.addresses.len()]);
        let mut rounds = Rounds {
            done: Vec::new(),
            answers: answers.collect(),
            damage: Vec::new(),
            go_exhausted: Vec::new(),
        };
        let SymbolizeOptions { inlines, lines, .. } = *self.options;
        if !inlines && !lines && !self.opened.iter().any(|file| file.symbols.contains(&None)) {
            return rounds;
        }
        for round in 0..=CANDIDATES {
            let jobs = if round < CANDIDATES {
                self.plan(&rounds.answers, round)
            } else {
                self.plan_rangeless(&mut rounds.damage)
            };
            let first = rounds.done.len();
            self.run(jobs, &mut rounds.done);
            for (number, done) in rounds.done.iter().enumerate().skip(first) {
                note(done, number as u32, &mut rounds.answers);
            }
        }
        self.run_go(&mut rounds);
        rounds
    }

    /// Queries the tables of Go functions for the addresses without a function from a unit.
    fn run_go(&self, rounds: &mut Rounds<'f>) {
        let files = self.requests.iter().zip(self.opened).zip(&rounds.answers);
        let jobs = (0..).zip(files).filter_map(|(number, ((request, file), answers))| {
            let functions = file.go.as_ref().filter(|_| !self.options.is_cancelled())?;
            let is_open =
                |answer: &Option<AddressAnswer>| answer.is_none_or(|answer| !answer.complete);
            let open = answers.iter().zip(0_u32..).filter(|(answer, _)| is_open(answer));
            let indices: Vec<u32> = open.map(|(_, index)| index).collect();
            let address =
                |&index: &u32| request.addresses.get(index as usize).copied().unwrap_or_default();
            let addresses: Vec<Svma> = indices.iter().map(address).collect();
            let named = Vec::new();
            let unit = u32::MAX;
            let job = PlannedUnit { request: number, unit, indices, addresses, named };
            (!job.addresses.is_empty()).then_some((job, functions, request.source.image))
        });
        let SymbolizeOptions { inlines, lines, budget, .. } = self.options;
        let wanted = GoFrameParts { inlines: *inlines, lines: *lines };
        let held = self.options.held(MemoryUse::Names);
        let resolve = |(job, functions, image): (PlannedUnit, &GoFunctions<'f>, &Image)| {
            let steps = budget.allowance(Resource::LineRows, image.bytes().len() as u64);
            let (result, exhausted) = go::resolve(functions, &job.addresses, wanted, steps, &held);
            (FinishedUnit { job, result }, exhausted)
        };
        let jobs: Vec<_> = jobs.collect();
        let done: Vec<_> = jobs.into_par_iter().with_max_len(1).map(resolve).collect();
        for (done, exhausted) in done {
            rounds.go_exhausted.extend(exhausted.map(|exhausted| (done.job.request, exhausted)));
            note(&done, rounds.done.len() as u32, &mut rounds.answers);
            rounds.done.push(done);
        }
    }

    /// Returns the candidates of a round, for the addresses that are not answered yet.
    fn plan(&self, answers: &[Vec<Option<AddressAnswer>>], round: usize) -> Vec<PlannedUnit> {
        let mut jobs = Vec::new();
        for (number, (file, answers)) in (0..).zip(self.opened.iter().zip(answers)) {
            if file.main.is_none() {
                continue;
            }
            let open = |index: usize| {
                !matches!(answers.get(index), Some(Some(AddressAnswer { complete: true, .. })))
            };
            let candidates = file.candidates.units.iter().enumerate();
            let pairs =
                candidates.filter(|(index, _)| open(*index)).filter_map(|(index, units)| {
                    units.get(round).copied().flatten().map(|unit| (unit, index as u32))
                });
            self.push_jobs(number, pairs.collect(), &mut jobs);
        }
        jobs
    }

    /// Returns the units without ranges, for the addresses that no other unit contains.
    fn plan_rangeless(&self, damage: &mut Vec<(u32, SymbolFindingKind, u64)>) -> Vec<PlannedUnit> {
        let mut jobs = Vec::new();
        for (number, (request, file)) in (0..).zip(self.requests.iter().zip(self.opened)) {
            let Some(main) = &file.main else { continue };
            let units = file.candidates.units.iter();
            let lost = units.zip(0_u32..).filter(|(units, _)| units.iter().all(Option::is_none));
            let lost: Vec<u32> = lost.map(|(_, index)| index).collect();
            if lost.is_empty() || self.options.is_cancelled() {
                continue;
            }
            let address = |&index: &u32| request.addresses.get(index as usize).copied();
            let addresses: Vec<Svma> = lost.iter().filter_map(address).collect();
            let is_nameless =
                |&index: &u32| file.symbols.get(index as usize).is_none_or(Option::is_none);
            let wants_entries = self.options.inlines || lost.iter().any(is_nameless);
            let found =
                RangelessUnits::find(main, &AddressIndex::new(&addresses), wants_entries, &|| {
                    self.options.is_cancelled()
                });
            damage.extend(found.damage.into_iter().map(|(kind, place)| (number, kind, place)));
            let pairs = found.units.iter().zip(&lost);
            let pairs = pairs.filter_map(|(unit, &index)| unit.map(|unit| (unit, index)));
            self.push_jobs(number, pairs.collect(), &mut jobs);
        }
        jobs
    }

    /// Adds one job for each unit in pairs of unit and address.
    fn push_jobs(&self, number: u32, mut pairs: Vec<(u32, u32)>, jobs: &mut Vec<PlannedUnit>) {
        let Some((request, file)) =
            self.requests.get(number as usize).zip(self.opened.get(number as usize))
        else {
            return;
        };
        pairs.sort_unstable();
        for chunk in pairs.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(unit, _)) = chunk.first() else { continue };
            let indices: Vec<u32> = chunk.iter().map(|pair| pair.1).collect();
            let address =
                |&index: &u32| request.addresses.get(index as usize).copied().unwrap_or_default();
            let named =
                |&index: &u32| file.symbols.get(index as usize).is_some_and(Option::is_some);
            jobs.push(PlannedUnit {
                request: number,
                unit,
                addresses: indices.iter().map(address).collect(),
                named: indices.iter().map(named).collect(),
                indices,
            });
        }
    }

    fn run(&self, jobs: Vec<PlannedUnit>, done: &mut Vec<FinishedUnit<'f>>) {
        let shared = self.shared_lines(&jobs);
        let lines: HashMap<ProgramKey, SharedLines<'f>> = shared.into_iter().collect();
        done.par_extend(jobs.into_par_iter().with_max_len(1).map(|job| self.run_one(job, &lines)));
    }

    /// Executes the line programs that several of the units share.
    fn shared_lines(&self, jobs: &[PlannedUnit]) -> Vec<(ProgramKey, SharedLines<'f>)> {
        if !self.options.lines {
            return Vec::new();
        }
        let mut users: Vec<(ProgramKey, usize)> = jobs
            .iter()
            .enumerate()
            .filter_map(|(at, job)| Some((self.program_of(job)?, at)))
            .collect();
        users.sort_unstable();
        let users: Vec<&[(ProgramKey, usize)]> =
            users.chunk_by(|a, b| a.0 == b.0).filter(|users| users.len() > 1).collect();
        let run = |users: &&[(ProgramKey, usize)]| {
            let &(key, _) = users.first().filter(|_| !self.options.is_cancelled())?;
            let main = self.opened.get(key.0 as usize)?.main.as_ref()?;
            let jobs = users.iter().filter_map(|&(_, at)| jobs.get(at));
            let mut addresses: Vec<Svma> =
                jobs.flat_map(|job| job.addresses.iter().copied()).collect();
            addresses.sort_unstable();
            addresses.dedup();
            Some((key, SharedLines::run(main, key.2, key.1, addresses)))
        };
        users.par_iter().filter_map(run).collect()
    }

    fn program_of(&self, job: &PlannedUnit) -> Option<ProgramKey> {
        let main = self.opened.get(job.request as usize)?.main.as_ref()?;
        let unit = main.units.get(job.unit as usize)?;
        Some((job.request, unit.root.line_program?, unit.encoding.address_size))
    }

    /// Executes one job. `lines` are the rows of units that share a line program.
    fn run_one(
        &self,
        job: PlannedUnit,
        lines: &HashMap<ProgramKey, SharedLines<'f>>,
    ) -> FinishedUnit<'f> {
        let number = job.request as usize;
        let split = self.splits.get(number).and_then(|splits| splits.get(&job.unit));
        let file = self.opened.get(number).filter(|_| !self.options.is_cancelled());
        let result = file.and_then(|file| Some((file, file.main.as_ref()?))).map(|(file, main)| {
            let unit_job = UnitJob {
                unit: job.unit,
                addresses: &job.addresses,
                named: &job.named,
                inlines: self.options.inlines,
                lines: self.options.lines,
            };
            let files = DwarfPair { file: main, alt: file.alt.as_ref() };
            let lines = self.program_of(&job).and_then(|key| lines.get(&key));
            dwarf::resolve(UnitSources { files, split, lines }, &unit_job)
        });
        FinishedUnit { result: result.unwrap_or_default(), job }
    }
}

/// Records the answers of a finished unit that are better than earlier ones.
fn note(done: &FinishedUnit<'_>, number: u32, answers: &mut [Vec<Option<AddressAnswer>>]) {
    let Some(answers) = answers.get_mut(done.job.request as usize) else { return };
    for (index, (&address, found)) in
        done.job.indices.iter().zip(&done.result.addresses).enumerate()
    {
        let complete = found.function_start.is_some();
        let Some(slot) = answers.get_mut(address as usize) else { continue };
        if found.n_frames > 0 && slot.is_none_or(|old| complete && !old.complete) {
            *slot = Some(AddressAnswer { job: number, index: index as u32, complete });
        }
    }
}
