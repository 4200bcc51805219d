//! Front end: a page that shows profiles in a browser. The crate contains the page's files, which need no build step,
//! and provides them separately for a server, or as one self-contained document.
//!
//! `data` computes everything independently of the browser: columns, filters, trees, comparisons; it is tested in Node.
//! `views` draws it. Modules are plain ES modules with types in comments.

mod document;
mod linker;
mod modules;
mod served;

pub use document::{END, document};
pub use linker::{LinkError, link};
pub use modules::{MODULES, Module, PAGE, STYLE};
pub use served::{list_page, live_page, recording_page, served, status_page};
