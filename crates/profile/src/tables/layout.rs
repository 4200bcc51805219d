//! Layouts: load addresses of the modules of a process image. A process image usually has one layout; it gets another
//! one when a module moves.

use address::{Avma, Bias, ModuleId};

use crate::encoding::{Decoder, Encoding, encode_rows, encoding};
use crate::tables::location::LocationRow;

/// Load addresses of the modules of a process image that its samples refer to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LayoutRow {
    /// Sorted by module and instance.
    biases: Vec<ModuleBias>,
}

impl Clone for LayoutRow {
    fn clone(&self) -> Self {
        Self { biases: self.biases.clone() }
    }

    /// Reuses the existing memory.
    fn clone_from(&mut self, other: &Self) {
        self.biases.clone_from(&other.biases);
    }
}

/// Load address of one image of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleBias {
    /// The module.
    pub module: ModuleId,
    /// Index among several images of the module in the process.
    pub instance: u8,
    /// Bias that is added to [`LocationRow::relative`].
    pub bias: Bias,
}

encoding! { ModuleBias { module: ModuleId, instance: u8, bias: Bias, } }

impl Encoding for LayoutRow {
    const BYTES: usize = Vec::<ModuleBias>::BYTES;
    const IS_FIXED: bool = false;

    fn encode(&self, out: &mut Vec<u8>) {
        let Self { biases } = self;
        encode_rows(biases, out);
    }

    /// Refuses biases that are not sorted.
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let biases = Vec::<ModuleBias>::decode(decoder)?;
        let key = |known: &ModuleBias| (known.module, known.instance);
        biases.is_sorted_by(|one, next| key(one) < key(next)).then_some(Self { biases })
    }
}

impl LayoutRow {
    /// All images, sorted by module and instance. The bias of a module that is not listed is 0.
    #[must_use]
    pub fn biases(&self) -> &[ModuleBias] {
        &self.biases
    }

    /// Returns the bias for locations of a module; 0 if the image is not listed.
    #[must_use]
    pub fn bias(&self, module: ModuleId, instance: u8) -> Bias {
        let known = self.find(module, instance).ok().and_then(|at| self.biases.get(at));
        known.map_or(Bias(0), |known| known.bias)
    }

    /// Returns the address of a location in the process; `instance` is that of the frame.
    #[must_use]
    pub fn avma(&self, location: &LocationRow, instance: u8) -> Avma {
        let bias = location.module.map_or(Bias(0), |module| self.bias(module, instance));
        Avma(location.relative.wrapping_add(bias.0))
    }

    /// Returns the index of the image of `module` at `bias`, adding it if there is none. Returns `None` for a 257th
    /// image of a module, which cannot be numbered.
    pub fn instance(&mut self, module: ModuleId, bias: Bias) -> Option<u8> {
        let start = self.biases.partition_point(|known| known.module < module);
        let images = self.biases.iter().skip(start).take_while(|known| known.module == module);
        let mut n = Some(0_u8);
        for known in images {
            if known.bias == bias {
                return Some(known.instance);
            }
            n = known.instance.checked_add(1);
        }
        let instance = n?;
        self.biases.insert(start + usize::from(instance), ModuleBias { module, instance, bias });
        Some(instance)
    }

    /// Adds the images of another layout, unless an image would have two biases. Returns true if they were added.
    pub fn absorb(&mut self, other: &Self) -> bool {
        let conflict = other.biases.iter().any(|new| {
            self.find(new.module, new.instance)
                .is_ok_and(|at| self.biases.get(at).is_some_and(|known| known.bias != new.bias))
        });
        if conflict {
            return false;
        }
        for &new in &other.biases {
            if let Err(at) = self.find(new.module, new.instance) {
                self.biases.insert(at, new);
            }
        }
        true
    }

    /// Returns true if `module` has exactly one image and it is at `bias`.
    #[must_use]
    pub fn is_only_image(&self, module: ModuleId, bias: Bias) -> bool {
        let at = self.biases.partition_point(|known| known.module < module);
        let mut images = self.biases.iter().skip(at).take_while(|known| known.module == module);
        images.next().is_some_and(|known| known.bias == bias) && images.next().is_none()
    }

    /// Removes all images and retains the memory.
    pub fn clear(&mut self) {
        self.biases.clear();
    }

    fn find(&self, module: ModuleId, instance: u8) -> Result<usize, usize> {
        self.biases
            .binary_search_by_key(&(module, instance), |known| (known.module, known.instance))
    }
}

/// Layout of images at these biases; the first image of a module is its instance 0.
impl FromIterator<(ModuleId, Bias)> for LayoutRow {
    fn from_iter<I: IntoIterator<Item = (ModuleId, Bias)>>(images: I) -> Self {
        let mut layout = Self::default();
        for (module, bias) in images {
            layout.instance(module, bias);
        }
        layout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(images: &[(u32, u64)]) -> LayoutRow {
        images.iter().map(|&(module, bias)| (ModuleId(module), Bias(bias))).collect()
    }

    #[test]
    fn two_images_in_one_sample_are_told_apart() {
        let mut layout = LayoutRow::default();
        let images = [(4, 0x10), (4, 0x20), (3, 0x20), (4, 0x10), (4, 0x20)];
        let instances = images.map(|(module, bias)| layout.instance(ModuleId(module), Bias(bias)));
        assert_eq!(instances, [0, 1, 0, 0, 1].map(Some));
        assert_eq!(layout.bias(ModuleId(4), 1), Bias(0x20));
        assert_eq!(layout.bias(ModuleId(4), 2), Bias(0));
        assert_eq!(layout.bias(ModuleId(5), 0), Bias(0));
    }

    #[test]
    fn images_without_a_number_are_not_taken_for_others() {
        let mut layout = LayoutRow::default();
        let numbers = (0..300).map(|at| layout.instance(ModuleId(4), Bias(at)));
        assert!(numbers.eq((0..300).map(|at| u8::try_from(at).ok())));
        assert_eq!(layout.instance(ModuleId(4), Bias(255)), Some(255));
        assert_eq!(layout.instance(ModuleId(5), Bias(300)), Some(0));
        assert_eq!((layout.bias(ModuleId(4), 255), layout.biases().len()), (Bias(255), 257));
    }

    #[test]
    fn a_layout_takes_in_what_does_not_contradict_it() {
        let mut whole = layout(&[(1, 0x1000)]);
        assert!(whole.absorb(&layout(&[(2, 0x2000), (1, 0x1000)])));
        assert_eq!(whole, layout(&[(1, 0x1000), (2, 0x2000)]));
        assert!(!whole.absorb(&layout(&[(3, 0x3000), (1, 0x9000)])));
        assert_eq!(whole, layout(&[(1, 0x1000), (2, 0x2000)]));
    }

    #[test]
    fn an_address_is_the_location_and_the_bias() {
        let layout = layout(&[(1, 0x1000), (1, 0xffff_ffff_ffff_f000)]);
        let of = |module, instance| layout.avma(&LocationRow::unnamed(module, 0x2760), instance);
        assert_eq!(of(Some(ModuleId(1)), 0), Avma(0x3760));
        assert_eq!(of(Some(ModuleId(1)), 1), Avma(0x1760));
        assert_eq!(of(Some(ModuleId(2)), 0), Avma(0x2760));
        assert_eq!(of(None, 0), Avma(0x2760));
    }
}
