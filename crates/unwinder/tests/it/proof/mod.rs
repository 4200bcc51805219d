//! Tests of proofs beyond call frame information: the starts of threads, and the consistency of files.

mod beginnings;
mod consistency;
mod eh_return;
mod roots;
