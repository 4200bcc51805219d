//! The three address spaces and the bias between two of them. All arithmetic wraps, because input is untrusted.

use std::fmt;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u64);

        impl $name {
            /// Returns the address `delta` bytes higher, wrapping at 2^64.
            #[must_use]
            pub const fn add(self, delta: u64) -> Self {
                Self(self.0.wrapping_add(delta))
            }

            /// Returns the address `delta` bytes lower, wrapping at 0.
            #[must_use]
            pub const fn sub(self, delta: u64) -> Self {
                Self(self.0.wrapping_sub(delta))
            }

            /// Returns the distance from `origin` to this address in bytes; it wraps if `origin` is larger.
            #[must_use]
            pub const fn since(self, origin: Self) -> u64 {
                self.0.wrapping_sub(origin.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }
    };
}

address! {
    /// Actual virtual memory address: an address in the recorded process (or kernel).
    Avma
}
address! {
    /// Stated virtual memory address: an address in the ELF file's headers, symbols and DWARF.
    Svma
}
address! {
    /// An offset in bytes from the start of a file, in the space of a mapping's `pgoff`.
    FileOffset
}

/// The [`Avma`] of a location minus its [`Svma`], modulo 2^64. One per mapping of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bias(pub u64);

impl Bias {
    /// Returns the bias of a mapping that has the stated address `svma` at `avma`.
    #[must_use]
    pub const fn between(avma: Avma, svma: Svma) -> Self {
        Self(avma.0.wrapping_sub(svma.0))
    }

    /// Returns the process address of a stated address.
    #[must_use]
    pub const fn to_avma(self, svma: Svma) -> Avma {
        Avma(svma.0.wrapping_add(self.0))
    }

    /// Returns the stated address of a process address.
    #[must_use]
    pub const fn to_svma(self, avma: Avma) -> Svma {
        Svma(avma.0.wrapping_sub(self.0))
    }
}

impl fmt::Debug for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bias({:#x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bias_round_trips_at_the_edges() {
        for (avma, svma) in [
            (0, 0),
            (0, u64::MAX),
            (u64::MAX, 0),
            (0x7fff_f7fc_2000, 0x2000),
            (0x40_0000, 0x40_0000),
        ] {
            let bias = Bias::between(Avma(avma), Svma(svma));
            for probe in [0, 1, svma, svma.wrapping_add(1), u64::MAX] {
                assert_eq!(bias.to_svma(bias.to_avma(Svma(probe))), Svma(probe));
            }
            assert_eq!(bias.to_avma(Svma(svma)), Avma(avma));
        }
    }

    #[test]
    fn differences_wrap() {
        assert_eq!(Avma(3).since(Avma(5)), u64::MAX - 1);
        assert_eq!(FileOffset(5).sub(6), FileOffset(u64::MAX));
        assert_eq!(format!("{} {:?}", Svma(0x10), Bias(0x20)), "0x10 Bias(0x20)");
    }
}
