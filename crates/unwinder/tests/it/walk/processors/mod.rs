//! Tests of processors other than x86-64: their return addresses, words and register numbers.

mod aarch64;
mod loongarch;
mod narrow;
