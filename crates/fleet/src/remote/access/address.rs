//! URL of an object. Only its form without user and query is printed, because signed URLs have secrets there.

use std::fmt;

use object_store::ObjectStoreScheme;
use object_store::path::Path as Location;
use reqwest::Url;

/// Name of the local file of an object whose own name is not suitable.
const USUAL_NAME: &str = "recording";
/// Maximum length of the name of a file, in bytes. Source: limits.h, `NAME_MAX`.
const LONGEST_NAME: usize = 255;

/// Kind of a store, which decides about the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Amazon S3, and stores with its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// A web server.
    Http,
}

/// Address of an object.
#[derive(Clone)]
pub(crate) struct Address {
    url: Url,
    kind: Kind,
    location: Location,
    shown: String,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

/// A URL that names no object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InvalidAddress {
    /// The URL without parts that can be secret.
    pub(crate) shown: String,
    /// Reason.
    pub(crate) message: String,
}

impl InvalidAddress {
    fn new(shown: String, wanted: &str, message: &str) -> Self {
        let message = format!("{shown} is not the URL of {wanted}: {message}");
        Self { shown, message }
    }
}

impl Address {
    /// Parses the URL of an object. Special characters of its key are percent-encoded.
    ///
    /// # Errors
    /// If it is not a URL, names no object, or has a user or a query, which only Azure and web servers have.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let address = Self::parse_any(text, "an object")?;
        if !address.url.path().ends_with('/') && !address.location.as_ref().is_empty() {
            return Ok(address);
        }
        Err(InvalidAddress::new(address.shown, "an object", "it ends without a name"))
    }

    /// Parses the URL of a folder of objects, which may be a whole bucket or container.
    ///
    /// # Errors
    /// The same as of [`Self::parse`], and if it is that of a web server, which has no protocol for uploads.
    pub(crate) fn parse_prefix(text: &str) -> Result<Self, InvalidAddress> {
        let address = Self::parse_any(text, "a folder")?;
        if address.kind != Kind::Http {
            return Ok(address);
        }
        Err(InvalidAddress::new(address.shown, "a folder", "it is a web server"))
    }

    fn parse_any(text: &str, wanted: &str) -> Result<Self, InvalidAddress> {
        let invalid = |shown, message: &str| InvalidAddress::new(shown, wanted, message);
        let url = Url::parse(text).map_err(|error| invalid(plain(text), &error.to_string()))?;
        let kind = match url.scheme() {
            "s3" | "s3a" => Kind::S3,
            "gs" => Kind::Gcs,
            "az" | "abfs" | "abfss" => Kind::Azure,
            "http" | "https" => Kind::Http,
            _ => return Err(invalid(plain(text), "unknown scheme")),
        };
        let shown = shown(&url, kind);
        if let Some(problem) = problem(&url, kind) {
            return Err(invalid(shown, problem));
        }
        let Ok((_, location)) = ObjectStoreScheme::parse(&url) else {
            return Err(invalid(shown, "its path has empty or relative parts"));
        };
        // Paths of web servers are taken as they are, also those of stores.
        let location = match kind {
            Kind::Http => Location::from_url_path(url.path()).unwrap_or(location),
            _ => location,
        };
        Ok(Self { url, kind, location, shown })
    }

    /// Returns the URL without user and query.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the path of the object in its store.
    pub(super) const fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the URL with its secrets, and with the root of the store instead of the object.
    pub(super) fn store(&self) -> Url {
        let mut url = self.url.clone();
        url.set_path("/");
        url.set_fragment(None);
        url
    }

    /// Returns true if the query can choose another object, or changes with each signature.
    pub(crate) fn has_query(&self) -> bool {
        self.url.query().is_some()
    }

    /// Returns the name of a local file with the object.
    pub(super) fn name(&self) -> &str {
        let name = self.location.filename().unwrap_or_default();
        let is_suitable = !name.is_empty()
            && name.len() <= LONGEST_NAME
            && !name.contains(|letter: char| letter == '/' || letter.is_control());
        if is_suitable { name } else { USUAL_NAME }
    }
}

/// Returns the reason why a URL names no object.
fn problem(url: &Url, kind: Kind) -> Option<&'static str> {
    let is_store = kind != Kind::Http;
    let has_user = url.password().is_some() || kind != Kind::Azure && !url.username().is_empty();
    if url.host_str().is_none_or(str::is_empty) {
        Some("it has no host or bucket")
    } else if has_user && is_store {
        Some("credentials belong in variables of the environment")
    } else if has_user {
        Some("users in URLs are not supported")
    } else if is_store && (url.query().is_some() || url.fragment().is_some()) {
        Some("? and # of a key are written %3F and %23")
    } else {
        None
    }
}

/// Returns a URL without secrets. The user of Azure's URLs is the container.
fn shown(url: &Url, kind: Kind) -> String {
    let mut url = url.clone();
    // These fail only for URLs without a host, which have neither.
    let _ = url.set_password(None);
    if kind != Kind::Azure {
        let _ = url.set_username("");
    }
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Returns text that is not a URL, or only its scheme if it can have secrets.
fn plain(text: &str) -> String {
    if !text.contains(['@', '?', '#', '\\']) && text.len() <= LONGEST_NAME {
        return text.to_owned();
    }
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    format!("{scheme}://…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_addresses() {
        for (text, kind, location, name, shown) in [
            ("s3://b/x/a.data", Kind::S3, "x/a.data", "a.data", "s3://b/x/a.data"),
            ("s3a://b/a%20b", Kind::S3, "a b", "a b", "s3a://b/a%20b"),
            ("gs://b/k%23%3F", Kind::Gcs, "k#?", "k#?", "gs://b/k%23%3F"),
            ("az://c/k", Kind::Azure, "k", "k", "az://c/k"),
            (
                "abfss://c@a.dfs.core.windows.net/x/k",
                Kind::Azure,
                "x/k",
                "k",
                "abfss://c@a.dfs.core.windows.net/x/k",
            ),
            ("https://h:8/x/k?sig=secret#f", Kind::Http, "x/k", "k", "https://h:8/x/k"),
            (
                "https://s3.eu-west-1.amazonaws.com/b/k?X-Amz-Signature=secret",
                Kind::Http,
                "b/k",
                "k",
                "https://s3.eu-west-1.amazonaws.com/b/k",
            ),
        ] {
            let address = Address::parse(text).expect(text);
            let parts = (address.kind(), address.location().as_ref(), address.name());
            assert_eq!((parts, address.shown()), ((kind, location, name), shown));
            assert!(!format!("{address:?}").contains("secret"));
        }
    }

    #[test]
    fn the_store_of_a_signed_url_has_its_query() {
        let address = Address::parse("https://h/x/k?sig=1").expect("an address");
        assert!(address.has_query());
        assert_eq!(address.store().as_str(), "https://h/?sig=1");
        assert!(!Address::parse("s3://b/k").expect("an address").has_query());
    }

    #[test]
    fn wrong_addresses_are_shown_without_secrets() {
        for (text, shown, message) in [
            ("s3://b", "s3://b", "it ends without a name"),
            ("s3://b/", "s3://b/", "it ends without a name"),
            ("https://h/x/?s=secret", "https://h/x/", "it ends without a name"),
            ("s3:///k", "s3:///k", "it has no host or bucket"),
            (
                "s3://key:secret@b/k",
                "s3://b/k",
                "credentials belong in variables of the environment",
            ),
            (
                "abfss://c:secret@a.dfs.core.windows.net/k",
                "abfss://c@a.dfs.core.windows.net/k",
                "credentials belong in variables of the environment",
            ),
            ("https://u:secret@h/k", "https://h/k", "users in URLs are not supported"),
            ("https://secret@h/k", "https://h/k", "users in URLs are not supported"),
            ("s3://b/k?secret", "s3://b/k", "? and # of a key are written %3F and %23"),
            ("gs://b/k#1", "gs://b/k", "? and # of a key are written %3F and %23"),
            ("https://h/a//b?secret", "https://h/a//b", "its path has empty or relative parts"),
            ("https://u:pa/secret@h/k", "https://…", "invalid port number"),
            ("https://[/k", "https://[/k", "invalid IPv6 address"),
        ] {
            let error = Address::parse(text).expect_err(text);
            assert_eq!(error.shown, shown);
            assert_eq!(error.message, format!("{shown} is not the URL of an object: {message}"));
            assert!(!error.message.contains("secret"));
        }
    }

    #[test]
    fn a_prefix_can_be_a_whole_bucket() {
        for (text, location) in [("s3://b", ""), ("s3://b/", ""), ("gs://b/x/y/", "x/y")] {
            let prefix = Address::parse_prefix(text).expect(text);
            assert_eq!(prefix.location().as_ref(), location);
        }
        let error = Address::parse_prefix("https://h/x?secret").expect_err("a web server");
        assert_eq!(error.message, "https://h/x is not the URL of a folder: it is a web server");
    }

    #[test]
    fn a_long_name_is_replaced() {
        let address = Address::parse(&format!("s3://b/{}", "x".repeat(256))).expect("an address");
        assert_eq!(address.name(), "recording");
    }
}
