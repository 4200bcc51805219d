//! Credentials of requests: the token in the printed address, and the session cookie that a page obtains for it.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

use crate::recordings::hex;

/// Length of a secret, in bytes.
const BYTES: usize = 32;

/// Secrets of one start of the service.
#[derive(Clone)]
pub(crate) struct Secrets {
    token: String,
    session: String,
    /// Name of the cookie. All ports of a host share cookies, so each service uses its own name.
    cookie: String,
    /// Host names of the service, with ports.
    hosts: Vec<String>,
    /// Tokens of the enabled external protocols, by [`ExternalProtocol`].
    protocols: [Option<String>; 2],
}

/// External protocols: routes with a token of their own in the path, for programs that can send it only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExternalProtocol {
    /// The symbol server of the Firefox Profiler.
    Firefox,
    /// A debuginfod server.
    Debuginfod,
}

impl ExternalProtocol {
    /// Returns the first component of the protocol's paths.
    const fn name(self) -> &'static str {
        match self {
            Self::Firefox => "firefox",
            Self::Debuginfod => "debuginfod",
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Secrets {
    /// Creates secrets for a service that listens at a port or at a socket.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn new(port: Option<u16>, names: &[String]) -> io::Result<Self> {
        let usual = ["127.0.0.1", "[::1]", "localhost"].map(str::to_owned);
        let with_port = |name: &String| match port {
            Some(port) => format!("{name}:{port}"),
            None => name.clone(),
        };
        // A proxy may listen at the default port, which browsers omit.
        let hosts = usual.iter().map(with_port).chain(names.iter().cloned());
        Ok(Self {
            token: random()?,
            session: random()?,
            cookie: port.map_or("unwind-perf".to_owned(), |port| format!("unwind-perf-{port}")),
            hosts: hosts.collect(),
            protocols: [None, None],
        })
    }

    /// Enables an external protocol and returns its path. `token` is the operator's; without one it is random.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(crate) fn open(
        &mut self,
        protocol: ExternalProtocol,
        token: Option<String>,
    ) -> io::Result<String> {
        let token = token.map_or_else(random, Ok)?;
        let path = format!("/{}/{token}", protocol.name());
        if let Some(slot) = self.protocols.get_mut(protocol as usize) {
            *slot = Some(token);
        }
        Ok(path)
    }

    /// Returns true if an external protocol is enabled.
    pub(crate) fn is_open(&self, protocol: ExternalProtocol) -> bool {
        self.protocols.get(protocol as usize).is_some_and(Option::is_some)
    }

    /// Returns the enabled protocol that a path belongs to, and whether the path contains its token; `None` for other
    /// paths.
    pub(crate) fn external_protocol(&self, path: &str) -> Option<(ExternalProtocol, bool)> {
        let (name, rest) = path.strip_prefix('/')?.split_once('/')?;
        let protocol = [ExternalProtocol::Firefox, ExternalProtocol::Debuginfod]
            .into_iter()
            .find(|it| it.name() == name)?;
        let token = self.protocols.get(protocol as usize)?.as_ref()?;
        let given = rest.split('/').next().unwrap_or_default();
        Some((protocol, are_equal(given.as_bytes(), token.as_bytes())))
    }

    /// Token, for the printed address.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Returns true if `text` is the token.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        are_equal(text.as_bytes(), self.token.as_bytes())
    }

    /// Returns true if the cookies of a request contain the session.
    pub(crate) fn is_session(&self, cookies: &str) -> bool {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| {
            name == self.cookie && are_equal(value.as_bytes(), self.session.as_bytes())
        })
    }

    /// Value of the header that sets the session cookie.
    pub(crate) fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.session)
    }

    /// Returns true if `host` is one of the service's names.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

fn random() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(hex(&bytes))
}

/// Compares in time that does not depend on the position of the first difference.
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
        let mut protocols = secrets.clone();
        assert_eq!(protocols.external_protocol("/firefox/x/symbolicate/v5"), None);
        let path = protocols.open(ExternalProtocol::Firefox, None).unwrap();
        assert_eq!(path.len(), "/firefox/".len() + 64);
        assert!(
            protocols.is_open(ExternalProtocol::Firefox)
                && !protocols.is_open(ExternalProtocol::Debuginfod)
        );
        assert_eq!(
            protocols.external_protocol(&format!("{path}/asm/v1")),
            Some((ExternalProtocol::Firefox, true))
        );
        for wrong in ["/firefox/", "/firefox//asm/v1", &format!("{path}0/asm/v1")] {
            assert_eq!(
                protocols.external_protocol(wrong),
                Some((ExternalProtocol::Firefox, false)),
                "{wrong}"
            );
        }
        // Its token is not valid for anything else.
        let token = path.trim_start_matches("/firefox/");
        assert!(!protocols.is_token(token));
        assert_eq!(protocols.external_protocol(&format!("/debuginfod/{token}/buildid")), None);
        let fixed = protocols.open(ExternalProtocol::Debuginfod, Some("a-token".to_owned()));
        assert_eq!(fixed.unwrap(), "/debuginfod/a-token");
        for (path, is_open) in [("/debuginfod/a-token/buildid", true), ("/debuginfod/a/b", false)] {
            let found = protocols.external_protocol(path);
            assert_eq!(found, Some((ExternalProtocol::Debuginfod, is_open)));
        }
        let other = Secrets::new(Some(4000), &[]).unwrap();
        assert!(!other.is_token(secrets.token()));
    }
}
