//! Addresses of networks in `%pI4`, `%pI6c` and `%pISpc`.
//!
//! Source: `Documentation/core-api/printk-formats.rst`; RFC 5952 for the compressed form.

use std::net::Ipv6Addr;

use super::text::Arguments;

/// Families of a socket address.
///
/// Source: `include/linux/socket.h`.
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;

impl Arguments<'_, '_> {
    /// Appends a network address; `letters` are those after `%p`.
    pub(super) fn network_address(&mut self, bytes: &[u8], letters: &[u8]) -> Option<()> {
        match letters {
            [_, b'4', ..] => self.ipv4(*bytes.first_chunk()?, letters),
            [_, b'6', ..] => self.ipv6(*bytes.first_chunk()?, letters),
            [_, b'S', ..] => self.socket(bytes, letters),
            _ => None,
        }
    }

    fn ipv4(&mut self, bytes: [u8; 4], letters: &[u8]) -> Option<()> {
        let is_little = self.evaluation.endian == crate::Endian::Little;
        let mut bytes = bytes;
        if letters.contains(&b'l') || (letters.contains(&b'h') && is_little) {
            bytes.reverse();
        }
        let [a, b, c, d] = bytes;
        self.out.push(
            match letters {
                [b'i', ..] => format!("{a:03}.{b:03}.{c:03}.{d:03}"),
                _ => format!("{a}.{b}.{c}.{d}"),
            }
            .as_bytes(),
        )
    }

    fn ipv6(&mut self, bytes: [u8; 16], letters: &[u8]) -> Option<()> {
        if letters.contains(&b'c') {
            let text = compressed(bytes);
            return self.out.push(text.as_bytes());
        }
        for (at, pair) in bytes.chunks_exact(2).enumerate() {
            if at > 0 && letters.first() == Some(&b'I') {
                self.out.push(b":")?;
            }
            self.bytes(pair, b"")?;
        }
        Some(())
    }

    fn socket(&mut self, bytes: &[u8], letters: &[u8]) -> Option<()> {
        let has_port = letters.contains(&b'p');
        let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
        let family = self.evaluation.number(bytes.get(..2)?);
        if family == AF_INET {
            self.ipv4(*bytes.get(4..)?.first_chunk()?, letters)?;
            if has_port {
                self.out.push(format!(":{port}").as_bytes())?;
            }
        } else if family == AF_INET6 {
            if has_port {
                self.out.push(b"[")?;
            }
            self.ipv6(*bytes.get(8..)?.first_chunk()?, letters)?;
            if has_port {
                self.out.push(format!("]:{port}").as_bytes())?;
            }
        }
        Some(())
    }
}

/// Returns an address of IPv6 in its shortest form. Addresses that contain one of IPv4 end with it.
fn compressed(bytes: [u8; 16]) -> String {
    let address = Ipv6Addr::from(bytes);
    let [_, _, _, _, a, b, _, _] = address.segments();
    // An interface of ISATAP; the standard library prints it without the address of IPv4.
    if (a | 0x200, b) == (0x200, 0x5efe) {
        let [.., w, x, y, z] = bytes;
        let mut head = bytes;
        // Ones in place of the address of IPv4, so that zeros before it are compressed alone.
        if let Some(tail) = head.last_chunk_mut() {
            *tail = [0x11; 4];
        }
        let text = Ipv6Addr::from(head).to_string();
        let text = text.strip_suffix("1111:1111").unwrap_or(&text);
        return format!("{text}{w}.{x}.{y}.{z}");
    }
    address.to_string()
}
