//! How call frame information is read, and what it says of the caller, x86-64.

mod addresses;
mod expressions;
mod nesting;
mod second_opinion;
mod sections;
