//! The text of a tracepoint's sample, according to the `print fmt` of its format: arguments of `printf` in a subset of C.
//!
//! ```text
//!   print fmt: "vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })
//! ```
//!
//! Values are those that `perf script -F trace` prints: numbers of fields are extended with zeros to 64 bits, and
//! comparisons and shifts are unsigned. Functions that only the kernel has, such as `jiffies_to_msecs`, are not supported.
//!
//! | file | content |
//! |---|---|
//! | `token` | the text as tokens |
//! | `expression` | arguments as trees of bounded height |
//! | `constant` | numbers of the text, and of expressions without fields |
//! | `types` | sizes of the types in casts |
//! | `parser`, `operand`, `call` | tokens to expressions: operators; operands; functions |
//! | `template` | the format string as literals and conversions |
//! | `format` | a parsed `print fmt`, and a sample's text |
//! | `evaluation` | expressions to numbers and bytes |
//! | `text` | expressions to the text of `%s` |
//! | `pointer`, `address` | the conversions of `%p`; addresses of networks |
//! | `number` | numbers as `printf` prints them, in bounded output |
//! | `symbol` | marks for the names of kernel functions, which are resolved later |

mod address;
mod call;
mod constant;
mod evaluation;
mod expression;
mod format;
mod number;
mod operand;
mod parser;
mod pointer;
mod symbol;
mod template;
mod text;
mod token;
mod types;

pub use format::PrintFormat;
pub(crate) use format::PrintSetting;
pub use symbol::{KernelAddress, with_symbols};
