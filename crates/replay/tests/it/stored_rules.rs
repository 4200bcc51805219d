//! Unwind rules kept from run to run: the rules that a run leaves for the next one, and their use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use address::Svma;
use budget::MemoryBudget;
use image_store::{Image, ImageStore};
use synth::{Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, UserRegs, x86_64_reg};
use unwinder::{Arch, EndReason, Engine, RuleBytes, RuleStore, RuleTable, StoredRules};

use super::replayed::{map, replay_keeping, samples};
use crate::world::{BASE, Form, IN_MAIN, IN_ROOT, Program, SP, TEST, World, ops, outer, stack};

/// A store with one table for all files, or without any.
#[derive(Debug, Default)]
struct Store {
    rows: Option<Vec<Row>>,
    asked: AtomicUsize,
    refused: Mutex<bool>,
}

/// The store, which the test inspects after the run.
#[derive(Debug)]
struct Shared(Arc<Store>);

impl RuleStore for Shared {
    fn rules(&self, image: &Image) -> Option<RuleTable> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        let rows = self.0.rows.as_ref()?;
        let first = rows.first().map_or(0, |row| row.0);
        let offsets = rows.iter().map(|row| (row.0 - first) as u32).collect();
        let numbers = (0..rows.len() as u16).collect();
        let rules: Vec<RuleBytes> = rows.iter().map(|row| row.1).collect();
        let table = RuleTable::new(image, Svma(first), offsets, numbers, &rules);
        *self.0.refused.lock().unwrap() = table.is_none();
        Some(table.unwrap_or_default())
    }
}

/// Number of samples of `test`, each at another address.
const SAMPLES: u64 = 20;

fn addresses() -> impl Iterator<Item = u64> {
    (0..SAMPLES).map(|number| TEST - BASE + 4 * number)
}

fn recording(world: &World) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
    data.feature(&Feature::Arch("x86_64"));
    map(&mut data, world);
    for (number, address) in (0..).zip(addresses()) {
        let mut stack = stack();
        outer(stack.word(1).word(IN_MAIN));
        let regs = UserRegs::x86_64(BASE + address, SP);
        let sample = SampleBuilder::at(BASE + address, 7, 7, 10 + number);
        let sample = SampleBuilder { misc: 2, ..sample };
        data.sample(&sample.with_regs(&regs.usual_values()).with_stack(&stack.bytes()));
    }
    data.build()
}

fn world(form: Form) -> World {
    let mut program = Program::new(Arch::X86_64, ops().def_cfa_offset(16));
    program.form = form;
    program.load()
}

/// Number of frames of a sample, and its end.
type Found = (usize, EndReason);

/// An address and its rule.
type Row = (u64, RuleBytes);

/// Returns the samples of a run, its new rules, and the number of its requests.
fn run(world: &World, store: Store) -> (Vec<Found>, Vec<Row>, usize) {
    let store = Arc::new(store);
    let kept =
        StoredRules::new(Box::new(Shared(Arc::clone(&store))), &Arc::new(MemoryBudget::new(None)));
    let kept = Arc::new(kept);
    let images = Arc::new(ImageStore::new(world.files()));
    let engine = Arc::new(Engine::new());
    let replay = replay_keeping(&engine, &images, recording(world), Some(Arc::clone(&kept)));
    let found = samples(&replay).into_iter().map(|(_, frames, end)| (frames.len(), end));
    let new = kept.take_new().into_iter().flat_map(|new| new.rules);
    let new = new.map(|(svma, rule)| (svma.0, rule)).collect();
    // New rules are returned only once.
    assert!(kept.take_new().is_empty());
    assert!(!*store.refused.lock().unwrap());
    (found.collect(), new, store.asked.load(Ordering::Relaxed))
}

/// A rule with the CFA that many bytes above the stack pointer, just above the return address.
fn frame_of(bytes: u8) -> RuleBytes {
    let mut rule = [0; RuleBytes::SIZE];
    rule[..7].copy_from_slice(&[0, 7, bytes, 0, 0, 0, 0xff]);
    RuleBytes(rule)
}

fn outermost() -> RuleBytes {
    let mut rule = [0; RuleBytes::SIZE];
    rule[0] = 2;
    RuleBytes(rule)
}

const WHOLE: Found = (3, EndReason::Root);

/// The rules of the file's functions.
fn all_rules() -> Vec<Row> {
    let callers =
        [(IN_ROOT - 1 - BASE, outermost()), (IN_MAIN - 1 - BASE, frame_of(0x20))].into_iter();
    callers.chain(addresses().map(|address| (address, frame_of(16)))).collect()
}

#[test]
fn what_a_run_makes_is_left_for_the_next() {
    let world = world(Form::Header);
    let (found, new, asked) = run(&world, Store { rows: Some(Vec::new()), ..Store::default() });
    assert_eq!(found, [WHOLE; SAMPLES as usize]);
    assert_eq!((new, asked), (all_rules(), 1));
    let (found, new, asked) = run(&world, Store { rows: Some(all_rules()), ..Store::default() });
    assert_eq!((found, new, asked), (vec![WHOLE; SAMPLES as usize], vec![], 1));
}

/// A store with different rules shows when they are used: after sixteen rules were made.
#[test]
fn the_next_run_takes_what_is_there() {
    let rows: Vec<_> = addresses().map(|address| (address, outermost())).collect();
    let world = world(Form::Header);
    let (found, new, asked) = run(&world, Store { rows: Some(rows), ..Store::default() });
    assert_eq!(found[..14], [WHOLE; 14]);
    assert_eq!(found[14..], [(1, EndReason::Root); 6]);
    // The other rules are in the store already.
    assert_eq!((new, asked), (all_rules()[..2].to_vec(), 1));
}

#[test]
fn of_a_file_that_cannot_be_kept_nothing_is_left() {
    let (found, new, asked) = run(&world(Form::Header), Store::default());
    assert_eq!((found, new, asked), (vec![WHOLE; SAMPLES as usize], vec![], 1));
}

/// Without the header's table the general path makes the rules, which can have findings, limits and debug files.
#[test]
fn other_rules_are_made_in_each_run() {
    let store = Store { rows: Some(Vec::new()), ..Store::default() };
    let (found, new, asked) = run(&world(Form::NoHeader), store);
    assert_eq!((found, new, asked), (vec![WHOLE; SAMPLES as usize], vec![], 0));
}
