//! A recording that is watched while it is made, for hours: samples are unwound as they come, handed on by a tick, get
//! their names a little later, and are forgotten in the end.
//!
//! ```text
//!   stream  ~~~ records ~~~~ records ~~~~~~~~ records ~~~
//!   walk        | b1 |       | b2 |           | b3 |
//!   names            | n |                         | n |     for a tenth of the time
//!   tick             ^           ^         ^       ^         what is new since the last
//! ```

mod growth;
mod lag;
mod watch;

pub use growth::{Lag, LiveAccount, LiveGrown, LiveGrowth, LiveOptions, LiveWarning, TableSizes};
pub(crate) use watch::analyze_live;
