//! Requests to stores. One runtime serves all threads: each waits for its own requests.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::Stream;
use hashbrown::HashMap;
use object_store::{Error, GetOptions, ObjectStore, RetryConfig};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use super::address::Address;
use super::clients::client_of;
use super::failure::Failure;

/// Values that change with an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ObjectState {
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Time of the last change, in seconds since 1970; 0 if the server does not state it.
    pub(crate) modified: i64,
    /// The server's identification of the content.
    pub(crate) etag: Option<String>,
}

impl ObjectState {
    /// Returns true if equal states imply equal contents.
    pub(crate) const fn is_telling(&self) -> bool {
        self.etag.is_some() || self.modified != 0
    }
}

/// An object whose bytes arrive in chunks.
pub(super) struct Object<'s> {
    stores: &'s Stores,
    pub(super) state: ObjectState,
    chunks: Chunks,
}

type Chunks = Pin<Box<dyn Stream<Item = Result<bytes::Bytes, Error>> + Send>>;

impl Object<'_> {
    /// Waits for the next bytes. Returns `None` at the end.
    ///
    /// # Errors
    /// If the connection breaks, and no further request continues.
    pub(super) fn next(&mut self) -> Result<Option<bytes::Bytes>, Failure> {
        let chunks = &mut self.chunks;
        let next = self.stores.wait(poll_fn(|context| chunks.as_mut().poll_next(context)));
        next.transpose().map_err(|error| Failure::of(&error))
    }
}

/// Clients of the stores of a run.
pub(super) struct Stores {
    runtime: Runtime,
    retry: RetryConfig,
    /// By the URL of the root of a store, which can have secrets.
    clients: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

impl Stores {
    /// Starts a runtime without threads.
    ///
    /// # Errors
    /// If the system has no further descriptors.
    pub(super) fn new(retries: Option<usize>) -> io::Result<Self> {
        // Another part of this process can have installed one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let usual = RetryConfig::default();
        let retry = RetryConfig { max_retries: retries.unwrap_or(usual.max_retries), ..usual };
        Ok(Self { runtime, retry, clients: Mutex::default() })
    }

    /// Returns the client of the store of an object.
    pub(super) fn client(&self, address: &Address) -> Result<Arc<dyn ObjectStore>, Failure> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let store = String::from(address.store());
        if let Some(client) = clients.get(&store) {
            return Ok(Arc::clone(client));
        }
        // Some builders start tasks.
        let _entered = self.runtime.enter();
        let client = client_of(address, &self.retry).map_err(|error| Failure::of(&error))?;
        // A list of signed URLs has one for each.
        if !address.has_query() {
            clients.insert(store, Arc::clone(&client));
        }
        Ok(client)
    }

    /// Waits for the answer to a request.
    pub(super) fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.runtime.block_on(request)
    }

    /// Requests an object. Returns `None` if it is in the `known` state.
    ///
    /// # Errors
    /// If the object is missing or inaccessible, or the store cannot be reached.
    pub(super) fn get(
        &self,
        address: &Address,
        known: Option<&ObjectState>,
    ) -> Result<Option<Object<'_>>, Failure> {
        let client = self.client(address)?;
        let if_none_match = known.and_then(|known| known.etag.clone());
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        match self.wait(client.get_opts(address.location(), options)) {
            Ok(found) => {
                let state = ObjectState {
                    bytes: found.meta.size,
                    modified: found.meta.last_modified.timestamp(),
                    etag: found.meta.e_tag.clone(),
                };
                if known == Some(&state) {
                    return Ok(None);
                }
                Ok(Some(Object { stores: self, state, chunks: found.into_stream() }))
            }
            Err(Error::NotModified { .. }) if known.is_some() => Ok(None),
            Err(error) => Err(Failure::of(&error)),
        }
    }
}
