//! State that all threads share during walks: rule cache, unwind information of files, rows too large for the cache.
//! All of it is a pure function of the files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use address::Svma;
use budget::{Budget, Exhausted};
use hashbrown::HashMap;
use image_store::{Image, ImageStore, LoadedImage};

use crate::arch::{Arch, Processor, processor};
use crate::cache::{LocalRules, RuleCache, RuleKey};
use crate::cfi::{CfiScratch, CompiledRow, FoundFde, RowKey as CfiRowKey, UnwindInfo, signal_row};
use crate::code::{Extent, Reach};
use crate::rule::{FullRow, Rule};
use crate::stored::StoredRules;

/// The rules of all files, shared by all threads of a run, and by several runs through an [`Arc`].
///
/// # Sharing by several runs
/// Rules are cached by an image's serial and the address in it. Runs may share an engine if serials identify the same
/// images in all of them: if they take their images from one store. Debug files are searched once per image, at the
/// first address that its `.eh_frame` does not cover. Runs with different search paths for debug files must not share
/// an engine.
///
/// # Capacity
/// Nothing is evicted, and an engine retains the images that it has unwound through. Images from serial 65,536 on, and
/// rules beyond the cache's capacity (some 5 million addresses), are unwound correctly, but their rules are made again
/// for each frame. Owners of a shared engine check [`Self::is_full`] between runs. If it is full, they start with a new
/// engine and a new generation of the image store, with serials from 0. Active runs retain the old ones, which are
/// freed when the last of those runs ends.
#[derive(Debug)]
pub struct Engine {
    cache: RuleCache,
    rows: RwLock<FullRows>,
    /// Indexed by the serial of the file.
    unwind_info: RwLock<Vec<Option<Arc<UnwindInfo>>>>,
    /// The extents of the files' entry points, by the serial of the file.
    entries: RwLock<HashMap<u32, Option<Arc<Extent>>>>,
    /// Indexed by the processor, then by the form of the signal frame.
    signal_rows: [[OnceLock<u32>; 3]; Arch::ALL.len()],
    budget: Budget,
    /// True if a file contradicts itself, or a part of one could not be read.
    has_damaged_files: AtomicBool,
}

/// Index of rows that are not cached.
const NOT_CACHED: u32 = u32::MAX;

/// A newly made rule.
struct CompiledRule {
    rule: Rule,
    /// True if the rule depends only on the bytes of its file and making it had no side effects, so it can outlive the
    /// run.
    is_lasting: bool,
}

/// The rows that are not simple rules.
#[derive(Debug, Default)]
struct FullRows {
    all: Vec<Arc<FullRow>>,
    /// Indexes into `all` of rows that come from files.
    indexes: HashMap<CfiRowKey, u32>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::with_budget(Budget::default())
    }

    /// An engine with limits on the cost of a file's call frame information.
    #[must_use]
    pub fn with_budget(budget: Budget) -> Self {
        Self {
            budget,
            has_damaged_files: AtomicBool::new(false),
            cache: RuleCache::new(),
            rows: RwLock::default(),
            unwind_info: RwLock::default(),
            entries: RwLock::default(),
            signal_rows: [const { [const { OnceLock::new() }; 3] }; Arch::ALL.len()],
        }
    }

    /// The limits on the call frame information and the code of a file.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns true if images or rules exceeded its capacity, so that their walks are slow.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let info = self.unwind_info.read().unwrap_or_else(PoisonError::into_inner);
        info.len() > RuleKey::IMAGES || self.cache.is_full()
    }

    /// Returns the cached rule of an address. `cached` is the thread's copy of this engine's rules.
    #[inline]
    pub(crate) fn cached(&self, key: RuleKey, local: &mut LocalRules) -> Option<Rule> {
        self.cache.get(key, local)
    }

    /// Makes the rule of an address of a file, or takes it from the rules on disk, and caches it. A file of a processor
    /// with another word size has no rules.
    #[cold]
    pub(crate) fn make_rule<const WORD: u64>(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
        stored: Option<&StoredRules>,
    ) -> Rule {
        let info = self.unwind_info(file);
        let rule = match info.arch().filter(|arch| arch.word == WORD) {
            None => Rule::NoInfo,
            Some(arch) => {
                let stored = stored.map(|stored| (stored, stored.of_file(info.file())));
                let cached = stored.as_ref().and_then(|(stored, file)| stored.find(file, svma));
                cached.unwrap_or_else(|| {
                    let made = self.compile(&info, arch, svma, images, scratch);
                    if let Some((_, file)) = stored.filter(|_| made.is_lasting) {
                        file.note(svma, made.rule);
                    }
                    made.rule
                })
            }
        };
        if let Some(key) = RuleKey::new::<WORD>(file.serial, svma) {
            self.cache.insert(key, rule);
        }
        rule
    }

    fn compile(
        &self,
        info: &UnwindInfo,
        arch: Processor,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
    ) -> CompiledRule {
        let fast = info.sections.fast_rule(svma, arch, &mut scratch.last_cie);
        if let Some(found) = fast.filter(|found| found.is_inside) {
            // No instructions were read.
            return CompiledRule { rule: found.rule, is_lasting: true };
        }
        if let Some(form) = signal_form(arch, svma, info.file().image()) {
            let rule = Rule::Full { row: self.signal_row_index(arch, form), signal: true };
            return CompiledRule { rule, is_lasting: false };
        }
        if let Some(found) = fast {
            return CompiledRule { rule: found.rule, is_lasting: true };
        }
        let rule = self.compile_in_general(info, arch, svma, images, scratch);
        CompiledRule { rule, is_lasting: false }
    }

    /// Returns the rule of an address that the fast path does not cover.
    fn compile_in_general(
        &self,
        info: &UnwindInfo,
        arch: Processor,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
    ) -> Rule {
        let of_go = Some(&info.go).filter(|_| arch.is(Arch::X86_64));
        if let Some(rule) = of_go.and_then(|go| go.rule(info.file().image(), svma)) {
            return rule;
        }
        match info.sections.find(svma, images) {
            None if self.is_entry_code(info, svma, images) => Rule::Outermost,
            None => match form_after_system_call(arch, svma, info.file().image()) {
                Some(form) => Rule::Full { row: self.signal_row_index(arch, form), signal: true },
                None => info.arm_rule(svma).map_or(Rule::NoInfo, |found| self.store(info, found)),
            },
            Some(Err(_)) => Rule::Damaged,
            Some(Ok(found)) => {
                self.store(info, info.compile(&found, svma, arch, &mut scratch.context))
            }
        }
    }

    /// Returns true if an address is in the code at which a process begins, which has no caller. Such code is near the
    /// entry point of its file, has no CFI, and is reached from there without leaving it.
    pub(crate) fn is_entry_code(&self, info: &UnwindInfo, svma: Svma, images: &ImageStore) -> bool {
        if !info.is_entry_code(svma, images) {
            return false;
        }
        let serial = info.file().serial;
        let cached =
            self.entries.read().unwrap_or_else(PoisonError::into_inner).get(&serial).cloned();
        let extent = cached.unwrap_or_else(|| {
            let image = info.file().image();
            let extent = Extent::of(image, image.entry()).map(Arc::new);
            let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
            entries.entry(serial).or_insert(extent).clone()
        });
        extent.is_some_and(|extent| extent.reaches(svma) == Reach::Yes)
    }

    /// Returns the rule after caching its row.
    fn store(&self, info: &UnwindInfo, found: CompiledRow) -> Rule {
        match found {
            CompiledRow::Rule(rule) => rule,
            CompiledRow::Full(row, key, signal) => {
                let row = self.store_row_of(info, &row, key).unwrap_or(NOT_CACHED);
                Rule::Full { row, signal }
            }
        }
    }

    /// Returns the row of a signal frame of form `form`, with the stack pointer as it is in the signal trampoline.
    pub(crate) fn signal_frame_row(&self, arch: Processor, form: usize) -> Option<Arc<FullRow>> {
        self.row(self.signal_row_index(arch, form))
    }

    fn signal_row_index(&self, arch: Processor, form: usize) -> u32 {
        let rows = &self.signal_rows[arch.index()];
        let slot = &rows[form.min(rows.len() - 1)];
        *slot.get_or_init(|| self.store_row(signal_row(arch, form)))
    }

    /// Returns the full row of an address from its index; makes it again if it is not cached.
    pub(crate) fn row_of(
        &self,
        index: u32,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
        scratch: &mut CfiScratch,
    ) -> Option<Arc<FullRow>> {
        if index != NOT_CACHED {
            return self.row(index);
        }
        let info = self.unwind_info(file);
        let found = match info.sections.find(svma, images) {
            Some(found) => info.compile(&found.ok()?, svma, info.arch()?, &mut scratch.context),
            None => info.arm_rule(svma)?,
        };
        match found {
            CompiledRow::Full(row, ..) => Some(row),
            CompiledRow::Rule(_) => None,
        }
    }

    /// Returns the full row of an index.
    fn row(&self, index: u32) -> Option<Arc<FullRow>> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.all.get(index as usize).cloned()
    }

    /// Returns true if the instructions at a looked-up address are those of a signal trampoline.
    pub(crate) fn is_signal_trampoline(&self, file: &LoadedImage, svma: Svma) -> bool {
        let arch = file.image().arch().and_then(processor);
        arch.is_some_and(|arch| signal_form(arch, svma, file.image()).is_some())
    }

    /// Returns the start of the function that covers an address, from the file's call frame information; `None` if that
    /// does not cover it. Both are addresses that the file states.
    pub fn function_start(
        &self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        images: &ImageStore,
    ) -> Option<u64> {
        let info = self.unwind_info(file);
        match info.sections.find(svma, images) {
            Some(Ok(FoundFde::Eh(fde, _) | FoundFde::Debug(fde, ..))) => {
                Some(fde.initial_address())
            }
            Some(Err(_)) => None,
            None => info.arm_function_start(svma),
        }
    }

    fn store_row(&self, row: FullRow) -> u32 {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        rows.all.push(Arc::new(row));
        rows.all.len() as u32 - 1
    }

    /// Returns the index of a row, stored once for all of its addresses; `None` if the file's rows exceed their budget.
    fn store_row_of(&self, info: &UnwindInfo, row: &Arc<FullRow>, key: CfiRowKey) -> Option<u32> {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        let FullRows { all, indexes } = &mut *rows;
        if let Some(&index) = indexes.get(&key) {
            return Some(index);
        }
        if !info.long.may_store(row.heap_bytes() + size_of::<(CfiRowKey, u32)>() as u64) {
            return None;
        }
        all.push(Arc::clone(row));
        let index = all.len() as u32 - 1;
        indexes.insert(key, index);
        Some(index)
    }

    /// Returns the files with call frame information that exhausted its budget, and the exhausted resource.
    #[must_use]
    pub fn exhausted(&self) -> Vec<(PathBuf, Exhausted)> {
        let all = self.unwind_info.read().unwrap_or_else(PoisonError::into_inner);
        let exhausted = |info: &Arc<UnwindInfo>| {
            let exhausted = info.long.exhausted().or_else(|| info.go.exhausted())?;
            Some((info.file().image().path().to_owned(), exhausted))
        };
        all.iter().flatten().filter_map(exhausted).collect()
    }

    /// Returns the files that contradict themselves, each with a description of the contradiction.
    #[must_use]
    pub fn contradictions(&self) -> Vec<(PathBuf, String)> {
        let all = self.unwind_info.read().unwrap_or_else(PoisonError::into_inner);
        let contradiction = |info: &Arc<UnwindInfo>| {
            Some((info.file().image().path().to_owned(), info.contradiction()?.to_owned()))
        };
        all.iter().flatten().filter_map(contradiction).collect()
    }

    /// Returns the files with unknown call frame instructions, and these instructions. Frames that they describe end a
    /// chain.
    #[must_use]
    pub fn unknown_instructions(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let all = self.unwind_info.read().unwrap_or_else(PoisonError::into_inner);
        let of = |info: &Arc<UnwindInfo>| {
            let unknown =
                Some(info.sections.unknown_instructions()).filter(|all| !all.is_empty())?;
            Some((info.file().image().path().to_owned(), unknown))
        };
        all.iter().flatten().filter_map(of).collect()
    }

    /// Returns true if a file that was unwound through contradicts itself, or could not be read in part.
    #[inline]
    pub(crate) fn has_damaged_files(&self) -> bool {
        self.has_damaged_files.load(Ordering::Acquire)
    }

    pub(crate) fn unwind_info(&self, file: &Arc<LoadedImage>) -> Arc<UnwindInfo> {
        let index = file.serial as usize;
        let cached = self
            .unwind_info
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(index)
            .cloned()
            .flatten();
        cached.unwrap_or_else(|| {
            let mut all = self.unwind_info.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() <= index {
                all.resize(index + 1, None);
            }
            let info = all[index]
                .get_or_insert_with(|| Arc::new(UnwindInfo::new(file.clone(), &self.budget)));
            if info.is_damaged() {
                self.has_damaged_files.store(true, Ordering::Release);
            }
            info.clone()
        })
    }
}

/// Returns the form of the signal frame if the code at a looked-up address is a signal trampoline. The address is in
/// its first instruction or the system call (a sampled pc), or one before its first (the return address of a handler,
/// minus one).
fn signal_form(arch: Processor, svma: Svma, image: &Image) -> Option<usize> {
    let (code, at) = code_around(svma, image)?;
    arch.signal_form(code, at)
}

/// Returns the form of the signal frame if the address is after the system call of a trampoline. The kernel was then
/// sampled while it returned from the signal, with the frame still intact.
fn form_after_system_call(arch: Processor, svma: Svma, image: &Image) -> Option<usize> {
    // On x86-64, the registers of a sample give more evidence (`step_out_of_sigreturn`).
    if arch.is(Arch::X86_64) {
        return None;
    }
    let (code, at) = code_around(svma, image)?;
    let call = at.checked_sub(arch.system_call())?;
    // Another function can begin at that address.
    let is_padding = code.get(at..).is_some_and(|code| arch.is_padding(code));
    is_padding.then(|| arch.signal_form(code, call)).flatten()
}

/// Returns the bytes around an address, and the address's index in them.
fn code_around(svma: Svma, image: &Image) -> Option<(&[u8], usize)> {
    /// Bytes before the address, and bytes from it on.
    const AROUND: (usize, usize) = (12, 10);
    let offset = image.offset_of_svma(svma)?.sub(image.base().0);
    let at = usize::try_from(offset.0).ok()?;
    let start = at.saturating_sub(AROUND.0);
    let end = at.checked_add(AROUND.1)?.min(image.bytes().len());
    Some((image.bytes().get(start..end)?, at - start))
}

/// Returns the start of the signal trampoline that contains an address of a file, recognized by its code; `None` if
/// there is none. Both are addresses that the file states.
#[must_use]
pub fn signal_trampoline(image: &Image, svma: Svma) -> Option<Svma> {
    let arch = image.arch().and_then(processor)?;
    let (code, at) = code_around(svma, image)?;
    let mut in_call = (0..arch.system_call()).filter_map(|byte| at.checked_sub(byte));
    in_call.find_map(|at| arch.signal_form(code, at))?;
    let start = (0..=at)
        .rev()
        .find(|&start| code.get(start..).is_some_and(|code| arch.is_signal_trampoline(code)))?;
    Some(Svma(svma.0.wrapping_sub((at - start) as u64)))
}
