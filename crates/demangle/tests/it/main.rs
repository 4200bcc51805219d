//! Names of C++ as text: those of compilers, and those that no compiler made.

mod hostile;
mod names;
