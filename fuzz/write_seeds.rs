//! Writes the seeds: `cargo run --example write_seeds` in this folder.

#[path = "seeds_of_archives.rs"]
mod archives;
#[path = "seeds_of_bundles.rs"]
mod bundles;
#[path = "seeds_of_cxx_names.rs"]
mod cxx_names;
#[path = "seeds_of_files.rs"]
mod files;
#[path = "seeds_of_grammars.rs"]
mod grammars;
#[path = "seeds_of_jit.rs"]
mod jit;
#[path = "seeds_of_names.rs"]
mod names;
#[path = "seeds_of_pairs.rs"]
mod pairs;
#[path = "seeds_of_recordings.rs"]
mod recordings;
#[path = "seeds_of_tables.rs"]
mod tables;
#[path = "seeds_of_texts.rs"]
mod texts;

use std::fs;
use std::path::Path;

/// Writes a seed of a target.
fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new("seeds").join(target);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), bytes).expect("a file");
}

fn main() {
    recordings::write_all();
    files::write_all();
    jit::write_all();
    cxx_names::write_all();
    names::write_all();
    pairs::write_all();
    archives::write_all();
    bundles::write_all();
    grammars::write_all();
    tables::write_all();
    texts::write_all();
}
