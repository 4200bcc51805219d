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
