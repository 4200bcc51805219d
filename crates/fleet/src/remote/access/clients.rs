//! Clients of stores, with the variables of the environment that other programs use for these stores, too.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore, Result, RetryConfig};

use super::address::{Address, Kind};

/// Prefixes of the variables with settings and credentials.
const PREFIXES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// Variables with the address of a store. One with `http:` is an explicit wish.
const ENDPOINTS: [&str; 6] = [
    "aws_endpoint",
    "aws_endpoint_url",
    "aws_endpoint_url_s3",
    "azure_endpoint",
    "azure_storage_endpoint",
    "google_base_url",
];
/// Limit of the duration of a request, for recordings of many gigabytes.
const LONGEST_REQUEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit of the time without a byte.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Returns true if a variable of the environment can have credentials of a store.
pub(crate) fn is_credential(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns a client for the store of an object.
///
/// # Errors
/// If a setting of the environment is not valid.
pub(super) fn client_of(address: &Address, retry: &RetryConfig) -> Result<Arc<dyn ObjectStore>> {
    let (url, retry) = (address.store(), retry.clone());
    Ok(match address.kind() {
        Kind::S3 => {
            let builder = AmazonS3Builder::new().with_url(url).with_retry(retry);
            let with = |builder: AmazonS3Builder, key, value| builder.with_config(key, value);
            Arc::new(configured(builder, "AWS_", with).build()?)
        }
        Kind::Gcs => {
            let builder = GoogleCloudStorageBuilder::new().with_url(url).with_retry(retry);
            let with =
                |builder: GoogleCloudStorageBuilder, key, value| builder.with_config(key, value);
            Arc::new(configured(builder, "GOOGLE_", with).build()?)
        }
        Kind::Azure => {
            let builder = MicrosoftAzureBuilder::new().with_url(url).with_retry(retry);
            let with = |builder: MicrosoftAzureBuilder, key, value| builder.with_config(key, value);
            Arc::new(configured(builder, "AZURE_", with).build()?)
        }
        Kind::Http => {
            let options = ClientOptions::new()
                // A server cannot redirect from an encrypted connection to another.
                .with_allow_http(url.scheme() == "http")
                .with_timeout(LONGEST_REQUEST)
                .with_read_timeout(LONGEST_PAUSE);
            Arc::new(
                HttpBuilder::new()
                    .with_url(url)
                    .with_retry(retry)
                    .with_client_options(options)
                    .build()?,
            )
        }
    })
}

/// Returns a builder with the settings of the environment.
fn configured<B, K: FromStr>(builder: B, prefix: &str, with: impl Fn(B, K, String) -> B) -> B {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let settings = settings(prefix, variables);
    settings.into_iter().fold(builder, |builder, (name, value)| match name.parse() {
        Ok(key) => with(builder, key, value),
        Err(_) => builder,
    })
}

/// Returns the names and values of settings: ours, then those of variables with a prefix.
fn settings(
    prefix: &str,
    variables: impl Iterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let own = prefix.to_ascii_lowercase();
    let mut settings = vec![
        (format!("{own}timeout"), format!("{}s", LONGEST_REQUEST.as_secs())),
        (format!("{own}read_timeout"), format!("{}s", LONGEST_PAUSE.as_secs())),
    ];
    let given: Vec<_> = variables
        .filter(|(name, _)| name.starts_with(prefix))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let is_plain = |(name, value): &(String, String)| {
        ENDPOINTS.contains(&name.as_str()) && value.starts_with("http://")
    };
    if given.iter().any(is_plain) {
        settings.push((format!("{own}allow_http"), "true".to_owned()));
    }
    settings.extend(given);
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prefix: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = settings(prefix, variables);
        settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn variables_follow_our_settings() {
        let variables =
            [("AWS_REGION", "eu"), ("AZURE_TOKEN", "x"), ("PATH", "/bin"), ("AWS_TIMEOUT", "5s")];
        let expected = ["aws_timeout=86400s", "aws_read_timeout=60s"];
        assert_eq!(of("AWS_", &[]), expected);
        assert_eq!(
            of("AWS_", &variables),
            [&expected[..], &["aws_region=eu", "aws_timeout=5s"]].concat()
        );
    }

    #[test]
    fn only_an_explicit_endpoint_is_not_encrypted() {
        let allows = |prefix, name, value| {
            of(prefix, &[(name, value)]).iter().any(|setting| setting.ends_with("allow_http=true"))
        };
        assert!(allows("AWS_", "AWS_ENDPOINT", "http://127.0.0.1:5000"));
        assert!(allows("GOOGLE_", "GOOGLE_BASE_URL", "http://store"));
        assert!(!allows("AWS_", "AWS_ENDPOINT", "https://store"));
        assert!(!allows("AWS_", "AWS_METADATA_ENDPOINT", "http://store"));
        assert!(!allows("AWS_", "AZURE_ENDPOINT", "http://store"));
    }

    #[test]
    fn credentials_have_known_prefixes() {
        assert!(
            ["AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_SAS_TOKEN", "GOOGLE_SERVICE_ACCOUNT"]
                .into_iter()
                .all(is_credential)
        );
        assert!(!is_credential("PATH"));
    }
}
