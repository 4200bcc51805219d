//! Tests of the readers of call frame information and its rules, on x86-64.

mod addresses;
mod expressions;
mod nesting;
mod second_opinion;
mod sections;
