//! Tests of C++ names: those of compilers, and those that no compiler made.

mod hostile;
mod names;
