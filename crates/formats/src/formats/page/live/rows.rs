//! What those have who look on: texts, and columns of numbers.

use std::collections::VecDeque;

use profile::ThreadRow;

/// The tables of texts. Rows of modules and threads can change.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) names: Vec<Vec<u8>>,
    /// The name, the file and the module, -1 for none; the line of the declaration or, below 0, the start.
    pub(super) functions: Vec<[i64; 4]>,
    /// Lines in other files than their functions: file and line.
    pub(super) elsewhere: Vec<[i64; 2]>,
    /// As JSON.
    pub(super) modules: Vec<Vec<u8>>,
    pub(super) threads: Vec<ThreadRow>,
    /// As JSON: process, thread, name, name of the process, and the control group, where any is known.
    pub(super) thread_texts: Vec<Vec<u8>>,
    pub(super) has_cgroups: bool,
}

/// The columns of numbers, one row each of nodes, leaves, places and samples. Samples are forgotten from the front.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) parent: Vec<u32>,
    pub(super) func: Vec<u32>,
    pub(super) line: Vec<u32>,
    pub(super) flags: Vec<u8>,
    pub(super) leaf_node: Vec<u32>,
    pub(super) leaf_place: Vec<u32>,
    pub(super) leaf_end: Vec<u8>,
    pub(super) places: Vec<u64>,
    pub(super) time: VecDeque<u32>,
    pub(super) thread: VecDeque<u32>,
    pub(super) leaf: VecDeque<u32>,
    pub(super) event: VecDeque<u8>,
    pub(super) period: VecDeque<f64>,
}

/// How many rows there are; of samples, those that are not forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) names: usize,
    pub(super) functions: usize,
    pub(super) elsewhere: usize,
    pub(super) nodes: usize,
    pub(super) leaves: usize,
    pub(super) places: usize,
    pub(super) samples: usize,
}

/// What changed in a step beside what was added.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Samples that were forgotten, of those that were there before.
    pub(super) forgotten: usize,
    /// Rows of modules and of threads that are new or different.
    pub(super) modules: Vec<usize>,
    pub(super) threads: Vec<usize>,
    /// Leaves that are at another node now.
    pub(super) moved: Vec<usize>,
}

impl Columns {
    pub(super) fn sizes(&self, texts: &Texts) -> Sizes {
        Sizes {
            names: texts.names.len(),
            functions: texts.functions.len(),
            elsewhere: texts.elsewhere.len(),
            nodes: self.parent.len(),
            leaves: self.leaf_node.len(),
            places: self.places.len(),
            samples: self.time.len(),
        }
    }

    /// Forgets the first samples.
    pub(super) fn forget(&mut self, samples: usize) {
        self.time.drain(..samples);
        self.thread.drain(..samples);
        self.leaf.drain(..samples);
        self.event.drain(..samples);
        // There are none where all samples of an event count the same.
        self.period.drain(..samples.min(self.period.len()));
    }
}
