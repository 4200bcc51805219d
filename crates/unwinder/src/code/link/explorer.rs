//! Paths of instructions, in runs: a run ends at the first instruction with another successor than the next one.

use std::collections::VecDeque;

use address::Svma;
use hashbrown::HashSet;
use image_store::Image;

use crate::arch::{Flow, FlowDecoder, MemoryWords, PathState, Processor};
use crate::code::bytes::CodeBytes;

/// The start of a run.
#[derive(Clone, Debug)]
pub(super) struct LinkRun {
    /// Its address; for Thumb code with the lowest bit set.
    pub(super) at: u64,
    pub(super) state: PathState,
    /// Return address of the last call, while the link register has it.
    pub(super) call: Option<u64>,
    /// True if it follows a call that need not return.
    pub(super) is_doubtful: bool,
}

/// The end of a run.
#[derive(Debug)]
pub(super) struct LinkRunEnd {
    /// Address after the last instruction.
    pub(super) at: u64,
    pub(super) next: Flow,
    /// The register of a return.
    pub(super) returns_to: u8,
    /// Return address of a call that cannot have returned, because another function begins after it.
    pub(super) contradicts: Option<u64>,
}

/// Pending paths.
pub(super) struct LinkExplorer<'a> {
    code: CodeBytes<'a>,
    table_of_contents: Option<u64>,
    pub(super) left: usize,
    /// Number of decoded instructions, plus the cost of each run.
    pub(super) cost: usize,
    open: VecDeque<LinkRun>,
    doubtful: VecDeque<LinkRun>,
    /// Return addresses of calls that do not return.
    pub(super) endless: HashSet<u64>,
}

/// Cost of a run besides its instructions: its state is copied.
const COST_OF_RUN: usize = 16;
/// Offset of POWER's `.TOC.` in the table of contents: offsets from it are signed.
///
/// Source: 64-bit ELF V2 ABI, "TOC": `.TOC.` is 0x8000 bytes into the section.
const TABLE_BIAS: u64 = 0x8000;

impl<'a> LinkExplorer<'a> {
    pub(super) fn new(image: &'a Image, start: Svma, most: usize) -> Option<Self> {
        let code = CodeBytes::with_link(image, start)?;
        let table = || image.section(".got").or_else(|| image.section(".toc"));
        let table = table().filter(|_| code.arch.table_of_contents.is_some());
        Some(Self {
            table_of_contents: table.map(|table| table.svma.0.wrapping_add(TABLE_BIAS)),
            code,
            left: most,
            cost: 0,
            open: VecDeque::new(),
            doubtful: VecDeque::new(),
            endless: HashSet::new(),
        })
    }

    pub(super) const fn arch(&self) -> Processor {
        self.code.arch
    }

    pub(super) fn push(&mut self, open: LinkRun) {
        if open.is_doubtful { &mut self.doubtful } else { &mut self.open }.push_back(open);
    }

    /// Returns the next path. Paths after calls that need not return come last.
    pub(super) fn next(&mut self) -> Option<LinkRun> {
        if self.left == 0 {
            return None;
        }
        self.open.pop_front().or_else(|| self.doubtful.pop_front())
    }

    /// Runs instructions to the end of the run, and adds its successors.
    pub(super) fn run(&mut self, from: &mut LinkRun, words: &mut MemoryWords) -> LinkRunEnd {
        let arch = self.arch();
        let mut end = LinkRunEnd {
            at: from.at,
            next: Flow::Stop,
            returns_to: arch.return_address,
            contradicts: None,
        };
        self.cost += COST_OF_RUN;
        let Some(code) = self.code.from(arch.code_address(from.at)) else { return end };
        let Some(decoder) = FlowDecoder::new(arch, code, from.at) else { return end };
        let mut rest = code;
        for step in decoder.with_table_of_contents(self.table_of_contents) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.cost += 1;
            let bytes = rest;
            rest = rest.get(step.next.wrapping_sub(step.at) as usize..).unwrap_or_default();
            end.at = step.next;
            match step.flow {
                Flow::Next => {
                    let link = arch.run(bytes, step.at, &mut from.state, words);
                    if let Some(call) = from.call.filter(|_| link.is_saved) {
                        end.contradicts = Some(call);
                        return end;
                    }
                    from.call = from.call.filter(|_| !link.is_written);
                    continue;
                }
                Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect => {
                    from.state.forget_changed();
                    from.call = Some(step.next);
                    if self.endless.contains(&step.next)
                        || self.code.is_padding(arch.code_address(step.next))
                    {
                        self.push(LinkRun { at: step.next, is_doubtful: true, ..from.clone() });
                        end.next = step.flow;
                        return end;
                    }
                    continue;
                }
                Flow::Branch(target) => {
                    self.push(LinkRun { at: step.next, ..from.clone() });
                    self.push(LinkRun { at: target, ..from.clone() });
                }
                Flow::Jump(target) => self.push(LinkRun { at: target, ..from.clone() }),
                Flow::Return => {
                    end.returns_to = arch.run_return(bytes, step.at, &mut from.state, words);
                    let is_by_link = end.returns_to == arch.return_address;
                    end.contradicts = from.call.filter(|_| is_by_link);
                }
                Flow::JumpSlot(_) | Flow::JumpIndirect | Flow::Stop => {}
            }
            end.next = step.flow;
            break;
        }
        end
    }
}
