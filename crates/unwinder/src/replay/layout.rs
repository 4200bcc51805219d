//! Layouts: what has to be added to the module-relative addresses of a sample's frames. A process image has one as a
//! rule; it gets another where a module moves.

use address::ModuleId;
use hashbrown::HashMap;
use module_map::Lineage;

/// Biases of modules: module, which of several images of it, bias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Sorted by module and instance.
    pub biases: Vec<(ModuleId, u8, u64)>,
}

impl Layout {
    /// Which image of `module` lies at `bias`; it is added where there is none.
    pub(crate) fn instance(&mut self, module: ModuleId, bias: u64) -> u8 {
        let start = self.biases.partition_point(|&(known, ..)| known < module);
        let images = self.biases.iter().skip(start).take_while(|&&(known, ..)| known == module);
        let mut n = 0_u8;
        for &(_, instance, known) in images {
            if known == bias {
                return instance;
            }
            n = n.saturating_add(1);
        }
        self.biases.insert(start + usize::from(n), (module, n, bias));
        n
    }

    /// Takes in another layout, unless an image would lie at two places.
    pub(crate) fn absorb(&mut self, other: &Self) -> bool {
        let at = |layout: &Self, module, instance| {
            layout.biases.binary_search_by_key(&(module, instance), |&(module, instance, _)| {
                (module, instance)
            })
        };
        let conflict = other.biases.iter().any(|&(module, instance, bias)| {
            at(self, module, instance)
                .is_ok_and(|index| self.biases.get(index).is_some_and(|known| known.2 != bias))
        });
        if conflict {
            return false;
        }
        for &(module, instance, bias) in &other.biases {
            if let Err(index) = at(self, module, instance) {
                self.biases.insert(index, (module, instance, bias));
            }
        }
        true
    }
}

/// The distinct layouts of the samples of one run. They are put together in the merge, in the order of the samples:
/// the result must not depend on where runs begin.
#[derive(Debug, Default)]
pub(crate) struct SampleLayouts {
    pub(crate) rows: Vec<SampleLayout>,
    /// The number of each process image, and its last row.
    lineages: HashMap<Lineage, (u32, u32)>,
}

/// What one or more samples of a process image touched.
#[derive(Debug)]
pub(crate) struct SampleLayout {
    pub(crate) lineage: Lineage,
    /// A small number of the process image in the run.
    pub(crate) number: u32,
    layout: Layout,
    /// The row of the same process image before this one, its own index for none.
    before: u32,
}

impl SampleLayouts {
    /// The row of exactly that layout.
    pub(crate) fn intern(&mut self, lineage: Lineage, layout: &Layout) -> u32 {
        let Self { rows, lineages } = self;
        let row = rows.len() as u32;
        let n_lineages = lineages.len() as u32;
        let (number, last) = lineages.entry(lineage).or_insert((n_lineages, row));
        let mut at = *last;
        while let Some(known) = rows.get(at as usize) {
            if known.layout == *layout {
                return at;
            }
            if known.before == at {
                break;
            }
            at = known.before;
        }
        let number = *number;
        let before = std::mem::replace(last, row);
        rows.push(SampleLayout { lineage, number, layout: layout.clone(), before });
        row
    }

    /// How many process images there are.
    pub(crate) fn n_lineages(&self) -> usize {
        self.lineages.len()
    }
}

/// The layouts of a run's samples as they are merged, one sample after the other.
pub(crate) struct Merging<'m> {
    run: &'m SampleLayouts,
    /// For each row, what it became last.
    known: Vec<Option<u32>>,
    /// For each process image, its current layout, once a sample of the run had it.
    current: Vec<Option<u32>>,
}

impl<'m> Merging<'m> {
    pub(crate) fn new(run: &'m SampleLayouts) -> Self {
        Self { run, known: vec![None; run.rows.len()], current: vec![None; run.n_lineages()] }
    }

    /// The number of the layout of the next sample, which has that row.
    pub(crate) fn next(&mut self, row: u32, layouts: &mut Layouts) -> u32 {
        let Some(sample) = self.run.rows.get(row as usize) else { return 0 };
        let (Some(known), Some(current)) =
            (self.known.get_mut(row as usize), self.current.get_mut(sample.number as usize))
        else {
            return 0;
        };
        match *known {
            // All of it was taken into the layout that is still the current one.
            Some(id) if *current == *known => id,
            _ => {
                let id = layouts.find(sample.lineage, &sample.layout);
                (*known, *current) = (Some(id), Some(id));
                id
            }
        }
    }
}

/// Layouts by number, and the current one of each process image.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    pub(crate) rows: Vec<(Lineage, Layout)>,
    current: HashMap<Lineage, u32>,
}

impl Layouts {
    /// The number of a layout of `lineage` that holds all of `layout`.
    pub(crate) fn find(&mut self, lineage: Lineage, layout: &Layout) -> u32 {
        if let Some(&current) = self.current.get(&lineage)
            && self.rows.get_mut(current as usize).is_some_and(|(_, known)| known.absorb(layout))
        {
            return current;
        }
        let id = self.rows.len() as u32;
        self.rows.push((lineage, layout.clone()));
        self.current.insert(lineage, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_moves_makes_a_new_layout() {
        let mut layouts = Layouts::default();
        let layout = |biases: &[(u32, u64)]| {
            let mut layout = Layout::default();
            for &(module, bias) in biases {
                layout.instance(ModuleId(module), bias);
            }
            layout
        };
        let image = Lineage(7);
        assert_eq!(layouts.find(image, &layout(&[(1, 0x1000)])), 0);
        assert_eq!(layouts.find(image, &layout(&[(2, 0x2000), (1, 0x1000)])), 0);
        assert_eq!(layouts.find(Lineage(8), &layout(&[(1, 0x1000)])), 1);
        assert_eq!(layouts.find(image, &layout(&[(1, 0x9000)])), 2);
        assert_eq!(layouts.find(image, &layout(&[(2, 0x2000)])), 2);
        assert_eq!(layouts.rows[0].1.biases, [(ModuleId(1), 0, 0x1000), (ModuleId(2), 0, 0x2000)]);
    }

    /// However the samples are cut into runs, each gets the same layout.
    #[test]
    fn runs_do_not_show() {
        let mut layouts = Vec::new();
        for (module, bias) in [(1, 0x10), (2, 0x20), (1, 0x99), (2, 0x20), (3, 0x5), (1, 0x10)] {
            let mut layout = Layout::default();
            layout.instance(ModuleId(module), bias);
            layouts.push(layout);
        }
        for size in 1..=layouts.len() {
            let mut merged = Layouts::default();
            let mut ids = Vec::new();
            for run in layouts.chunks(size) {
                let mut rows = SampleLayouts::default();
                let of_samples: Vec<u32> =
                    run.iter().map(|layout| rows.intern(Lineage(4), layout)).collect();
                let mut merging = Merging::new(&rows);
                ids.extend(of_samples.iter().map(|&row| merging.next(row, &mut merged)));
            }
            assert_eq!(ids, [0, 0, 1, 1, 1, 2], "runs of {size}");
        }
    }

    #[test]
    fn two_images_in_one_sample_are_told_apart() {
        let mut layout = Layout::default();
        assert_eq!(layout.instance(ModuleId(4), 0x10), 0);
        assert_eq!(layout.instance(ModuleId(4), 0x20), 1);
        assert_eq!(layout.instance(ModuleId(3), 0x20), 0);
        assert_eq!(layout.instance(ModuleId(4), 0x10), 0);
        assert_eq!(layout.instance(ModuleId(4), 0x20), 1);
    }
}
