//! Messages of perf while it writes to a pipe.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::thread::JoinHandle;

/// Starts of lines about a state that the user did not ask for, and about bytes that perf does not count in a pipe.
const OMITTED: [&[u8]; 4] = [
    b"Events disabled",
    b"Events enabled",
    b"[ perf record: Woken up",
    b"[ perf record: Captured and wrote",
];

/// Passes the messages of perf on to standard error, except those about the pipe.
pub(super) fn pass_on(messages: impl Read + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        // If nobody reads them, perf goes on.
        let _ = copy(messages, &mut io::stderr());
    })
}

fn copy(messages: impl Read, out: &mut impl Write) -> io::Result<()> {
    let mut messages = BufReader::new(messages);
    let mut line = Vec::new();
    while messages.read_until(b'\n', &mut line)? > 0 {
        if !OMITTED.iter().any(|start| line.starts_with(start)) {
            // Reading goes on, so that perf can write.
            let _ = out.write_all(&line);
        }
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_the_pipe_are_omitted() {
        let messages =
            b"Events disabled\nWARNING: no kernel\n\xff\n[ perf record: Woken up 3 times to \
                         write data ]\nerror";
        let mut out = Vec::new();
        copy(&messages[..], &mut out).unwrap();
        assert_eq!(out, b"WARNING: no kernel\n\xff\nerror");
    }
}
