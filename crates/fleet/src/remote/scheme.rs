//! Schemes that distinguish URLs from paths.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Schemes of stores. A path such as `./s3://x` names a local file.
const SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https"];

/// Returns the scheme of an entry that is a URL, in lower case; `None` for a path.
pub(crate) fn scheme_of(entry: &Path) -> Option<&'static str> {
    let bytes = entry.as_os_str().as_bytes();
    SCHEMES.into_iter().find(|scheme| {
        let (start, rest) = bytes.split_at_checked(scheme.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(scheme.as_bytes()) && rest.starts_with(b"://")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schemes_of_stores_are_urls() {
        for (entry, scheme) in [
            ("s3://b/k", Some("s3")),
            ("S3A://b/k", Some("s3a")),
            ("HTTPS://h/", Some("https")),
            ("abfss://c@a.dfs.core.windows.net/k", Some("abfss")),
            ("gs:/b/k", None),
            ("./s3://b/k", None),
            ("/s3://b/k", None),
            ("hdfs://h/k", None),
            ("s3", None),
            ("", None),
        ] {
            assert_eq!(scheme_of(Path::new(entry)), scheme, "{entry}");
        }
    }
}
