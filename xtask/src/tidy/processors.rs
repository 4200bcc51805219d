//! Check that a processor is named in few places: adding one touches four source files of the product.

use std::path::Path;

/// Processors without special treatment in code: all facts about them are in tables, and in their own descriptors.
const PLAIN: &[&str] = &["Loongarch64", "Powerpc64", "Riscv64", "S390x"];

/// Tables that name them as `Arch::NAME`. The fourth file is the table of `Arch` itself, which does not.
const TABLES: &[&str] = &["crates/image-store/src/elf/psabi.rs", "crates/unwinder/src/arch/mod.rs"];

/// Folder of their descriptors.
const DESCRIPTORS: &str = "crates/unwinder/src/arch";

/// Returns true if a path is of the product's own sources.
fn is_product(path: &Path) -> bool {
    let is_source =
        path.starts_with("crates") && path.components().any(|it| it.as_os_str() == "src");
    let is_test =
        path.components().any(|it| it.as_os_str() == "tests") || path.ends_with("tests.rs");
    is_source && !is_test && !path.starts_with("crates/synth")
}

/// Finds lines that name a plain processor and are neither in a table nor in its descriptor.
pub(super) fn check(path: &Path, text: &str, found: &mut Vec<String>) {
    if !is_product(path) || TABLES.iter().any(|table| path == Path::new(table)) {
        return;
    }
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    for name in PLAIN {
        let own = Path::new(DESCRIPTORS).join(name.to_lowercase());
        let is_own = path.starts_with(&own) || path == own.with_extension("rs");
        if !is_own && code.contains(&format!("Arch::{name}")) {
            let path = path.display();
            found.push(format!("{path}: names {name}; such facts belong in its descriptor"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_descriptors_and_tests_may_name_a_processor() {
        let text = "match arch { Arch::Riscv64 => 1 }";
        let found = |path: &str| {
            let mut found = Vec::new();
            check(Path::new(path), text, &mut found);
            found.len()
        };
        assert_eq!(found("crates/unwinder/src/walk/mod.rs"), 1);
        assert_eq!(found("crates/unwinder/src/arch/s390x/mod.rs"), 1);
        assert_eq!(found("crates/unwinder/src/arch/riscv64/mod.rs"), 0);
        assert_eq!(found("crates/unwinder/src/arch/riscv64.rs"), 0);
        assert_eq!(found("crates/unwinder/src/arch/mod.rs"), 0);
        assert_eq!(found("crates/unwinder/src/arch/flow/tests.rs"), 0);
        assert_eq!(found("crates/unwinder/tests/it/world.rs"), 0);
        assert_eq!(found("crates/synth/src/regs.rs"), 0);
        assert_eq!(found("xtask/src/testdata/processor.rs"), 0);
    }
}
