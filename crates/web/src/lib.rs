//! The front end: a page that shows profiles in a browser. It holds the page's files, which need no build step, and hands
//! them out: one by one for a server, or as one document that asks for nothing.
//!
//! `data` has what is counted and knows nothing of the browser: columns, filters, trees, comparisons; it is tested in
//! Node. `views` draws it. Modules are plain ES modules with types in comments.

mod document;
mod linker;
mod modules;
mod served;

pub use document::{END, document};
pub use linker::{LinkError, link};
pub use modules::{MODULES, Module, PAGE, STYLE};
pub use served::{list_page, live_page, recording_page, served, status_page};
