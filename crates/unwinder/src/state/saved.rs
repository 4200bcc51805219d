//! The caller's registers that a function saved: equal values in two samples show that it is the same call.

/// A digest of saved registers: ten bits for each of up to six. 0 stands for a register that was not saved, cannot be
/// read, or is not distinctive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Saved(u64);

const BITS: u32 = 10;
const REGISTERS: u32 = 6;
#[cfg(test)]
const MASK: u64 = (1 << BITS) - 1;

/// Numbers up to this are the same in many calls.
const SMALL: u64 = 1 << 16;
/// Stack addresses within this distance in bytes are the same for all calls from one stack position.
const STACK: u64 = 8 << 20;

impl Saved {
    /// A digest without distinctive registers.
    pub const NONE: Self = Self(0);

    /// Adds the value of a register, by its slot of the architecture, from a frame at `sp`, an address in the process.
    /// Slots beyond the six are ignored.
    #[inline]
    pub fn add(&mut self, slot: usize, value: u64, sp: u64) {
        let at = (slot as u32).wrapping_sub(1);
        if at < REGISTERS && value >= SMALL && value.wrapping_sub(sp) >= STACK {
            // Source: the multiplier is 2^64 divided by the golden ratio, which spreads all bits to the upper ones.
            let digest = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)).max(1);
            self.0 |= digest << (BITS * at);
        }
    }

    /// Returns true if both digests are equal and distinctive.
    #[inline]
    #[must_use]
    pub const fn proves(self, other: Self) -> bool {
        self.0 == other.0 && self.0 != 0
    }

    /// Returns the number of distinctive registers.
    #[cfg(test)]
    fn count(self) -> u32 {
        (0..REGISTERS).filter(|at| self.0 >> (BITS * at) & MASK != 0).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(values: &[(usize, u64)]) -> Saved {
        let mut saved = Saved::NONE;
        values.iter().for_each(|&(slot, value)| saved.add(slot, value, 0x7ffd_0000_0000));
        saved
    }

    #[test]
    fn small_numbers_and_addresses_of_the_stack_tell_nothing() {
        let nothing = saved(&[(1, 7), (2, 0x7ffd_0000_0040), (3, 0xffff)]);
        assert_eq!((nothing, nothing.count()), (Saved::NONE, 0));
        assert!(!nothing.proves(nothing));
    }

    #[test]
    fn the_same_values_in_the_same_registers_prove() {
        let one = saved(&[(1, 0x5555_0000), (4, 0x5555_1000), (2, 3)]);
        assert_eq!(one.count(), 2);
        assert!(one.proves(saved(&[(1, 0x5555_0000), (4, 0x5555_1000)])));
        assert!(!one.proves(saved(&[(1, 0x5555_1000), (4, 0x5555_0000)])));
        assert!(!one.proves(saved(&[(1, 0x5555_0000)])));
        // Slots beyond the six are ignored.
        assert_eq!(saved(&[(0, 0x5555_0000), (7, 0x5555_0000)]), Saved::NONE);
    }
}
