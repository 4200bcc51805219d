//! Values of parameters and locals of functions, read while the registers of a sample's frames exist.

mod debug_info;
mod frame_address;
mod frames;
mod probe_instruction;
mod probes;
mod split;
mod thread;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use budget::{Budget, Meter};
use hashbrown::HashMap;
use image_store::{ImageStore, LoadedImage};
pub use values::{
    Error as VariableError, ProbeArgument, ProbeError, ProbeRequest, VariableListing,
};
use values::{Request, Variables};

pub(crate) use self::frames::VariableReader;
pub use self::probes::{NoProbe, ProbePlace, ProbePlaces, find_probes};
use crate::variables::debug_info::{DebugInfo, identifier};

/// Steps and bytes of one value, as of input of this many bytes.
const VALUE: usize = 1 << 16;
/// Maximum number of files that are searched for similar names if no file has a function.
const SEARCHED: usize = 32;

/// The requested values, and their variables in the files with samples.
#[derive(Debug)]
pub struct RequestedVariables {
    texts: Vec<String>,
    requests: Vec<Request>,
    budget: Budget,
    /// By the serial of the file.
    files: Mutex<HashMap<u32, Arc<CachedFile>>>,
}

/// A file, searched on first use.
#[derive(Debug)]
struct CachedFile {
    image: Arc<LoadedImage>,
    found: OnceLock<Searched>,
}

/// Result of searching a file.
#[derive(Debug, Default)]
pub(crate) struct Searched {
    /// Variables with values; `None` if there are none.
    pub(crate) variables: Option<Variables>,
    /// By request: the reason that the file has no value for it.
    errors: Vec<Option<values::Error>>,
}

impl RequestedVariables {
    /// Parses requests, each `FUNCTION(PATH)` or `thread-local(PATH)`.
    ///
    /// # Errors
    /// The first text that is not a request, with the reason.
    pub fn parse(texts: &[String], budget: Budget) -> Result<Self, (String, String)> {
        let parse =
            |text: &String| Request::parse(text).map_err(|error| (text.clone(), error.to_string()));
        let requests = texts.iter().map(parse).collect::<Result<_, _>>()?;
        let files = Mutex::new(HashMap::new());
        Ok(Self { texts: texts.to_vec(), requests, budget, files })
    }

    /// The requests as they were written.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns true if a request is for a thread-local variable.
    fn has_thread_locals(&self) -> bool {
        self.requests.iter().any(Request::is_thread_local)
    }

    /// Returns the variables of a file, which are searched at the first call. Other threads wait for them.
    fn of_file(&self, image: &Arc<LoadedImage>, images: &ImageStore) -> Arc<CachedFile> {
        let file = {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || CachedFile { image: Arc::clone(image), found: OnceLock::new() };
            Arc::clone(files.entry(image.serial).or_insert_with(|| Arc::new(new())))
        };
        file.found.get_or_init(|| self.search(image, images, false));
        file
    }

    /// Searches a file. Unless `thorough`, files that contain none of the names are skipped.
    fn search(&self, image: &LoadedImage, images: &ImageStore, thorough: bool) -> Searched {
        let names: Vec<_> = self.requests.iter().map(name_in_file).collect();
        let debug = match thorough {
            true => DebugInfo::load(image, images),
            false => DebugInfo::load_named(image, images, &names),
        };
        let Some(debug) = debug else { return Searched::default() };
        match debug.find(&self.requests, &self.budget) {
            Ok((variables, errors)) => {
                let variables = Some(variables).filter(|it| !it.is_empty());
                Searched { variables, errors }
            }
            Err(error) => {
                let errors = self.requests.iter().map(|_| Some(error.clone())).collect();
                Searched { variables: None, errors }
            }
        }
    }

    /// Returns the first request for which no file with samples has a variable, and the reason.
    #[must_use]
    pub fn unanswered(&self, images: &ImageStore) -> Option<(String, String)> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<_> = files.iter().map(|(serial, file)| (*serial, file)).collect();
        files.sort_unstable_by_key(|(serial, _)| *serial);
        let known = |file: &CachedFile, at: usize| {
            let searched = file.found.get()?;
            searched.variables.as_ref()?;
            searched.errors.get(at).map(Option::is_none)
        };
        let is_answered = |at: usize| files.iter().any(|(_, file)| known(file, at) == Some(true));
        let at = (0..self.requests.len()).find(|at| !is_answered(*at))?;
        let mut best: Option<values::Error> = None;
        for (_, file) in files.iter().take(SEARCHED) {
            let searched = self.search(&file.image, images, true);
            let Some(error) = searched.errors.into_iter().nth(at).flatten() else { continue };
            best = Some(match best {
                Some(before) => more_specific(before, error),
                None => error,
            });
        }
        let best = best.or_else(|| {
            let request = self.requests.get(at)?;
            let (name, similar) = (request.function.clone(), Vec::new());
            Some(match request.is_thread_local() {
                true => {
                    values::Error::ThreadLocal { name: request.path.variable.clone(), count: 0 }
                }
                false => values::Error::UnknownFunction { name, similar },
            })
        })?;
        Some((self.texts.get(at)?.clone(), best.to_string()))
    }

    /// The meter for reading one value.
    fn meter(&self) -> Meter {
        Meter::new(&self.budget, VALUE)
    }
}

/// Returns the identifier that the debug information of a file with the requested variable contains.
fn name_in_file(request: &Request) -> &str {
    identifier(if request.is_thread_local() { &request.path.variable } else { &request.function })
}

/// Returns the error of the file that has more of the request; names similar to a function are merged.
fn more_specific(one: values::Error, other: values::Error) -> values::Error {
    use values::Error::{ThreadLocal, UnknownFunction};
    match (one, other) {
        (UnknownFunction { name, mut similar }, UnknownFunction { similar: more, .. }) => {
            similar.extend(more);
            similar.dedup();
            similar.truncate(8);
            UnknownFunction { name, similar }
        }
        (UnknownFunction { .. } | ThreadLocal { count: 0, .. }, other) => other,
        (one, _) => one,
    }
}

/// A function's code, out of line or inlined, with its variables.
#[derive(Clone, Debug)]
pub struct ListedFunction {
    /// Qualified name.
    pub name: String,
    /// The function that it is inlined into.
    pub inlined_into: Option<String>,
    /// Size of its code, in bytes.
    pub bytes: u64,
    /// Parameters and locals, in the order of their declaration.
    pub variables: Vec<VariableListing>,
}

/// Lists the instances of a function in a file with debug information; `None` if the file has none.
///
/// # Errors
/// If the file has no such function, or its debug information is damaged.
pub fn list_function(
    image: &LoadedImage,
    images: &ImageStore,
    name: &str,
) -> Option<Result<Vec<ListedFunction>, values::Error>> {
    let debug = DebugInfo::load(image, images)?;
    Some(debug.list(name, &Budget::default()))
}
