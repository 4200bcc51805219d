//! What lets a request in: the token in the address that the service prints, and the cookie that a page gets for it.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

use crate::recordings::hex;

/// Bytes of a secret.
const BYTES: usize = 32;

/// The secrets of a start of the service.
#[derive(Clone)]
pub(crate) struct Secrets {
    token: String,
    session: String,
    /// Cookies are shared by all ports of a name, so that each service has its own.
    cookie: String,
    /// The names under which the service is asked, with their ports.
    hosts: Vec<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Secrets {
    /// Fresh secrets for a service at a port, or at a socket.
    ///
    /// # Errors
    /// Where the system has no random bytes.
    pub(crate) fn new(port: Option<u16>, names: &[String]) -> io::Result<Self> {
        let usual = ["127.0.0.1", "[::1]", "localhost"].map(str::to_owned);
        let with_port = |name: &String| match port {
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        // A proxy may listen at the usual port, which browsers leave out.
        let hosts = usual.iter().map(with_port).chain(names.iter().cloned());
        Ok(Self {
            token: random()?,
            session: random()?,
            cookie: port.map_or("unwind-perf".to_owned(), |port| format!("unwind-perf-{port}")),
            hosts: hosts.collect(),
        })
    }

    /// The token, for the address that is printed.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether that is the token.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        are_equal(text.as_bytes(), self.token.as_bytes())
    }

    /// Whether the cookies of a request have the session.
    pub(crate) fn is_session(&self, cookies: &str) -> bool {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| {
            name == self.cookie && are_equal(value.as_bytes(), self.session.as_bytes())
        })
    }

    /// The cookie of the session.
    pub(crate) fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.session)
    }

    /// Whether the service is meant by that name.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(hex(&bytes))
}

/// Takes as long whatever is equal.
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secrets_let_in() {
        let secrets = Secrets::new(Some(4000), &["perf.example".to_owned()]).unwrap();
        assert_eq!(secrets.token().len(), 64);
        assert!(secrets.is_token(secrets.token()));
        for wrong in ["", "0", &"0".repeat(64)] {
            assert!(!secrets.is_token(wrong));
        }
        let cookie = secrets.cookie();
        let (pair, _) = cookie.split_once(';').unwrap();
        assert!(secrets.is_session(&format!("a=b; {pair}")));
        assert!(!secrets.is_session(&pair.replace("4000", "4001")));
        assert!(!secrets.is_session(&format!("unwind-perf-4000={}", secrets.token())));
        for name in ["127.0.0.1:4000", "LOCALHOST:4000", "[::1]:4000", "perf.example"] {
            assert!(secrets.is_host(name), "{name}");
        }
        for name in ["127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "localhost.:4000", ""] {
            assert!(!secrets.is_host(name), "{name}");
        }
        let other = Secrets::new(Some(4000), &[]).unwrap();
        assert!(!other.is_token(secrets.token()));
    }
}
