//! Layouts of samples: a process image mostly has one, and gets another when a module moves.

use address::{Bias, ModuleId};
use hashbrown::HashMap;
use module_map::ProcessImage;
use profile::{LayoutId, LayoutRow};

/// Distinct layouts of the samples of one slice.
/// The merge combines them in sample order, so that the result does not depend on slice boundaries.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleLayouts {
    pub(crate) rows: Vec<SampleLayout>,
    /// Index and last row of each process image.
    process_images: HashMap<ProcessImage, (u32, u32)>,
}

/// Modules and biases of one or more samples of a process image.
#[derive(Clone, Debug)]
pub(crate) struct SampleLayout {
    pub(crate) process_image: ProcessImage,
    /// Index of the process image in the slice.
    pub(crate) index: u32,
    layout: LayoutRow,
    /// The previous row of the same process image, or its own index for none.
    before: u32,
}

impl SampleLayouts {
    /// Returns the row of exactly that layout, adding it if needed.
    pub(crate) fn intern(&mut self, process_image: ProcessImage, layout: &LayoutRow) -> u32 {
        let Self { rows, process_images } = self;
        let row = rows.len() as u32;
        let n_process_images = process_images.len() as u32;
        let (index, last) = process_images.entry(process_image).or_insert((n_process_images, row));
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
        let index = *index;
        let before = std::mem::replace(last, row);
        rows.push(SampleLayout { process_image, index, layout: layout.clone(), before });
        row
    }

    /// Bias of an image of a module in the layout of that row.
    pub(crate) fn bias(&self, row: u32, module: ModuleId, instance: u8) -> Bias {
        self.rows.get(row as usize).map_or(Bias(0), |row| row.layout.bias(module, instance))
    }

    /// The layout of that row, and its process image.
    pub(crate) fn row(&self, row: u32) -> Option<(&LayoutRow, ProcessImage)> {
        self.rows.get(row as usize).map(|row| (&row.layout, row.process_image))
    }

    /// The process image of that row.
    pub(crate) fn process_image(&self, row: u32) -> Option<ProcessImage> {
        self.rows.get(row as usize).map(|row| row.process_image)
    }

    /// Number of process images.
    pub(crate) fn n_process_images(&self) -> usize {
        self.process_images.len()
    }
}

/// Merges the layouts of a slice, sample by sample.
pub(crate) struct LayoutMerge<'m> {
    slice: &'m SampleLayouts,
    /// Last merged layout of each row.
    merged: Vec<Option<LayoutId>>,
    /// Current layout of each process image, once a sample of the slice had it.
    current: Vec<Option<LayoutId>>,
}

impl<'m> LayoutMerge<'m> {
    pub(crate) fn new(slice: &'m SampleLayouts) -> Self {
        Self {
            slice,
            merged: vec![None; slice.rows.len()],
            current: vec![None; slice.n_process_images()],
        }
    }

    /// Returns the layout of the next sample, which has that row.
    pub(crate) fn next(
        &mut self,
        row: u32,
        layouts: &mut Layouts,
        table: &mut LayoutTable,
    ) -> LayoutId {
        let Some(sample) = self.slice.rows.get(row as usize) else { return LayoutId::new(0) };
        let (Some(known), Some(current)) =
            (self.merged.get_mut(row as usize), self.current.get_mut(sample.index as usize))
        else {
            return LayoutId::new(0);
        };
        match *known {
            // The row is part of the layout that is still current.
            Some(id) if *current == *known => id,
            _ => {
                let id = layouts.find(sample.process_image, &sample.layout, table);
                (*known, *current) = (Some(id), Some(id));
                id
            }
        }
    }
}

/// Current layout of each process image.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    current: HashMap<ProcessImage, LayoutId>,
}

/// Layouts by id.
type LayoutTable = profile::Table<LayoutId, LayoutRow>;

impl Layouts {
    /// Returns the layout of `process_image` that contains `layout`: the current one, or a new one in `table`.
    fn find(
        &mut self,
        process_image: ProcessImage,
        layout: &LayoutRow,
        table: &mut LayoutTable,
    ) -> LayoutId {
        if let Some(&current) = self.current.get(&process_image)
            && table.get_mut(current).is_some_and(|known| known.absorb(layout))
        {
            return current;
        }
        let id = table.push(layout.clone());
        self.current.insert(process_image, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(biases: &[(u32, u64)]) -> LayoutRow {
        biases.iter().map(|&(module, bias)| (ModuleId(module), Bias(bias))).collect()
    }

    #[test]
    fn a_module_that_moves_makes_a_new_layout() {
        let (mut layouts, mut table) = (Layouts::default(), LayoutTable::new());
        let process_image = ProcessImage(7);
        let mut find = |process_image, biases: &[(u32, u64)]| {
            layouts.find(process_image, &layout(biases), &mut table).index()
        };
        assert_eq!(find(process_image, &[(1, 0x1000)]), 0);
        assert_eq!(find(process_image, &[(2, 0x2000), (1, 0x1000)]), 0);
        assert_eq!(find(ProcessImage(8), &[(1, 0x1000)]), 1);
        assert_eq!(find(process_image, &[(1, 0x9000)]), 2);
        assert_eq!(find(process_image, &[(2, 0x2000)]), 2);
        assert_eq!(table.as_slice()[0], layout(&[(1, 0x1000), (2, 0x2000)]));
    }

    /// Samples get the same layouts for every division into slices.
    #[test]
    fn runs_do_not_show() {
        let of_samples = [(1, 0x10), (2, 0x20), (1, 0x99), (2, 0x20), (3, 0x5), (1, 0x10)];
        let of_samples = of_samples.map(|bias| layout(&[bias]));
        for size in 1..=of_samples.len() {
            let (mut merged, mut table) = (Layouts::default(), LayoutTable::new());
            let mut ids = Vec::new();
            for slice in of_samples.chunks(size) {
                let mut rows = SampleLayouts::default();
                let of_slice: Vec<u32> =
                    slice.iter().map(|layout| rows.intern(ProcessImage(4), layout)).collect();
                let mut merging = LayoutMerge::new(&rows);
                let next = |&row| merging.next(row, &mut merged, &mut table).index();
                ids.extend(of_slice.iter().map(next));
            }
            assert_eq!(ids, [0, 0, 1, 1, 1, 2], "slices of {size}");
        }
    }
}
