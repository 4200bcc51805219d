//! A stream that is read live: in pieces as they arrive, and only while the run continues.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host::{ByteStream, Ready, prefer_this_thread};
use perf_data::{Input, LiveRead};

use crate::observer::Observer;

/// A stream that ends with its run.
struct LiveBytes {
    stream: ByteStream,
    observer: Arc<dyn Observer>,
    over: Arc<AtomicBool>,
}

/// Reading end of a stream; reading stops when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct LiveReader(Arc<AtomicBool>);

impl LiveReader {
    /// Wraps the stream as an input. Reading it ends when this value is dropped or the observer stops the run.
    pub(crate) fn input(&self, stream: ByteStream, observer: &Arc<dyn Observer>) -> Input {
        let (observer, over) = (Arc::clone(observer), Arc::clone(&self.0));
        Input::Live(Box::new(LiveBytes { stream, observer, over }))
    }
}

impl Drop for LiveReader {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Read for LiveBytes {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl LiveRead for LiveBytes {
    fn begin(&mut self) {
        prefer_this_thread();
    }

    fn ready(&mut self, wait: Duration) -> io::Result<Option<usize>> {
        if self.over.load(Ordering::Relaxed) || self.observer.is_cancelled() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(match self.stream.ready(wait)? {
            Ready::Bytes(bytes) => Some(bytes),
            Ready::NotYet => None,
            Ready::Unknown => Some(0),
        })
    }

    fn read_up_to(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        self.stream.read_up_to(most, bytes)
    }
}
