//! Requested values of an image, by address.

use std::ops::Range;
use std::sync::Arc;

use budget::Meter;
use gimli::Reader;

use crate::absence::Absence;
use crate::dwarf::Sources;
use crate::error::Error;
use crate::expr::{CallSites, Context, Frame, Identity, Location};
use crate::functions::{Functions, Instance, Variable, closest};
use crate::request::Request;
use crate::thread_locals::{self, ThreadLocal};
use crate::types::{Bound, Value, bind};

/// Requested values of one image. Holds all that it needs; no sections.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// Disjoint ranges of addresses of the image (SVMA), sorted, with their part of `order`.
    segments: Vec<(Range<u64>, Range<u32>)>,
    /// Indexes of `entries`; innermost instances first.
    order: Vec<u32>,
    entries: Vec<Entry>,
    sites: CallSites,
    thread_locals: Vec<ThreadLocal>,
}

/// A variable of an instance, or its absence outside of its block.
#[derive(Clone, Debug)]
struct Entry {
    request: u32,
    /// Number of the instance among those of the request.
    instance: u32,
    inlined_into: Option<Arc<str>>,
    name: Arc<str>,
    frame_base: Arc<Location>,
    function: Arc<Identity>,
    /// Addresses at which the variable is not stored yet.
    before_store: Range<u64>,
    /// `None` for addresses at which the variable is not in scope.
    bound: Option<(Arc<Bound>, Arc<Location>)>,
}

/// A requested value at an address: a variable of one instance.
#[derive(Clone, Copy, Debug)]
pub struct Match<'a> {
    variables: &'a Variables,
    entry: &'a Entry,
    address: u64,
}

impl Variables {
    /// Finds the functions and variables of requests.
    ///
    /// The result has an error for each request without any instance that has the variable and the fields.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if the meter of `sources` is.
    pub fn find<'a, R: Reader<Offset = usize>>(
        sources: &Sources<'a, R>,
        requests: &[Request],
    ) -> Result<(Self, Vec<Option<Error>>), Error> {
        let of_functions = requests.iter().filter(|request| !request.is_thread_local());
        let mut names: Vec<&str> = of_functions.map(|request| request.function.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let functions = Functions::find(sources, &names)?;
        let mut building = Building { sources, entries: Vec::new(), ranges: Vec::new() };
        let (mut errors, mut thread_locals) = (Vec::new(), Vec::new());
        for (index, request) in requests.iter().enumerate() {
            if request.is_thread_local() {
                let found = thread_locals::find(sources, index as u32, request)?;
                errors.push(found.map(|it| thread_locals.push(it)).err());
                continue;
            }
            let at = names.binary_search(&request.function.as_str()).unwrap_or(usize::MAX);
            errors.push(match functions.instances(at) {
                Ok(instances) => building.request(index as u32, request, instances)?,
                Err(error) => Some(error),
            });
        }
        let (segments, order) = building.segments()?;
        let Building { entries, .. } = building;
        Ok((Self { segments, order, entries, sites: functions.sites, thread_locals }, errors))
    }

    /// Returns true if neither an address nor a thread has a value.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.thread_locals.is_empty()
    }

    /// The requested thread-local variables.
    #[must_use]
    pub fn thread_locals(&self) -> &[ThreadLocal] {
        &self.thread_locals
    }

    /// Returns the values at an address of the image (SVMA), those of the innermost instances first.
    /// For the leaf, the address is its instruction; for callers, the return address - 1.
    pub fn at(&self, address: u64) -> impl Iterator<Item = Match<'_>> {
        self.entries_at(address).filter_map(move |(entry, _)| self.entry(entry, address))
    }

    /// Returns the indexes of the values at an address, in the order of [`Self::at`], with those of their requests.
    pub fn entries_at(&self, address: u64) -> impl Iterator<Item = (u32, usize)> {
        let after = self.segments.partition_point(|(range, _)| range.start <= address);
        let segment = after.checked_sub(1).and_then(|at| self.segments.get(at));
        let order = segment.filter(|(range, _)| range.contains(&address)).map(|(_, order)| order);
        let order = order.and_then(|it| self.order.get(it.start as usize..it.end as usize));
        order
            .unwrap_or_default()
            .iter()
            .filter_map(|&at| Some((at, self.entries.get(at as usize)?.request as usize)))
    }

    /// Returns the value with an index of [`Self::entries_at`] at the same address.
    #[must_use]
    pub fn entry(&self, index: u32, address: u64) -> Option<Match<'_>> {
        let entry = self.entries.get(index as usize)?;
        Some(Match { variables: self, entry, address })
    }

    /// Calls of this image, for frames whose caller is in it.
    #[must_use]
    pub const fn call_sites(&self) -> &CallSites {
        &self.sites
    }
}

impl<'a> Match<'a> {
    /// Index of the request.
    #[must_use]
    pub const fn request(&self) -> usize {
        self.entry.request as usize
    }

    /// Number of the instance among those of the request's function.
    #[must_use]
    pub const fn instance(&self) -> usize {
        self.entry.instance as usize
    }

    /// Qualified name of the function.
    #[must_use]
    pub fn function(&self) -> &'a str {
        &self.entry.name
    }

    /// Function that the instance is inlined into; `None` for code of its own.
    #[must_use]
    pub fn inlined_into(&self) -> Option<&'a str> {
        self.entry.inlined_into.as_deref()
    }

    /// Name of the value's type; `None` if the variable is not in scope.
    #[must_use]
    pub fn type_name(&self) -> Option<&'a str> {
        self.entry.bound.as_ref().map(|(bound, _)| bound.type_name.as_str())
    }

    /// Reads the value in a frame, at the address of the look-up. The work is charged to `meter`.
    ///
    /// # Errors
    /// The reason why the value is not there.
    pub fn value(&self, frame: &dyn Frame, meter: &Meter) -> Result<Value, Absence> {
        let Entry { frame_base, function, bound, .. } = self.entry;
        let (bound, location) = bound.as_ref().ok_or(Absence::OutOfScope)?;
        if self.entry.before_store.contains(&self.address) {
            return Err(Absence::Prologue);
        }
        let context =
            Context { frame, address: self.address, frame_base, function, meter, nesting: 0 };
        bound.value(location, &context)
    }

    /// Calls of the image.
    #[must_use]
    pub const fn call_sites(&self) -> &'a CallSites {
        &self.variables.sites
    }
}

struct Building<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    entries: Vec<Entry>,
    /// Ranges with the entry, its nesting (length of the instance, depth of the block).
    ranges: Vec<(Range<u64>, u32, Nesting)>,
}

/// Order of entries at one address: the size of the instance, then the depth of the block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Nesting {
    request: u32,
    size: u64,
    instance: u32,
    /// Inner blocks first; the absence of the variable last.
    outward: u32,
}

impl<'a, R: Reader<Offset = usize>> Building<'a, '_, R> {
    /// Adds a request; returns its error if no instance has the value.
    fn request(
        &mut self,
        request: u32,
        wanted: &Request,
        instances: &[Instance],
    ) -> Result<Option<Error>, Error> {
        let (mut found, mut problem) = (false, None);
        for (number, instance) in instances.iter().enumerate() {
            let variables = instance.variables.iter().filter(|it| it.name == wanted.path.variable);
            let mut here = false;
            for variable in variables {
                match bind(self.sources, variable.type_key, &wanted.path.steps) {
                    Ok(bound) => {
                        here = true;
                        self.entry(request, number as u32, instance, Some((variable, bound)))?;
                    }
                    Err(error @ Error::Exhausted(_)) => return Err(error),
                    Err(error) => problem = Some(error),
                }
            }
            found |= here;
            if here {
                self.entry(request, number as u32, instance, None)?;
            }
        }
        Ok(if found { None } else { Some(problem.unwrap_or_else(|| unknown(wanted, instances))) })
    }

    fn entry(
        &mut self,
        request: u32,
        number: u32,
        instance: &Instance,
        found: Option<(&Variable, Bound)>,
    ) -> Result<(), Error> {
        let meter = self.sources.meter();
        let scope = found.as_ref().map(|(variable, _)| &variable.scope).filter(|it| !it.is_empty());
        let depth = found.as_ref().map(|(variable, _)| variable.depth);
        let ranges = scope.unwrap_or(&instance.ranges);
        let size = instance.ranges.iter().map(|it| it.end - it.start).fold(0, u64::saturating_add);
        let outward = depth.map_or(u32::MAX, |depth| u32::MAX - 1 - depth);
        let nesting = Nesting { request, size, instance: number, outward };
        meter.hold(size_of::<Entry>() + 64 * ranges.len())?;
        let index = self.entries.len() as u32;
        self.ranges.extend(ranges.iter().map(|range| (range.clone(), index, nesting)));
        let is_late = found.as_ref().is_some_and(|(variable, _)| variable.is_stored_late);
        self.entries.push(Entry {
            before_store: if is_late { instance.prologue.clone() } else { 0..0 },
            request,
            instance: number,
            inlined_into: instance.inlined_into.clone(),
            name: instance.name.clone(),
            frame_base: instance.frame_base.clone(),
            function: instance.function.clone(),
            bound: found.map(|(variable, bound)| (Arc::new(bound), variable.location.clone())),
        });
        Ok(())
    }

    /// Cuts the ranges into disjoint ones. Of an instance, the innermost block remains.
    fn segments(&mut self) -> Result<(Segments, Vec<u32>), Error> {
        let meter = self.sources.meter();
        let mut bounds: Vec<u64> =
            self.ranges.iter().flat_map(|(range, ..)| [range.start, range.end]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        self.ranges.sort_by_key(|(range, _, nesting)| (range.start, *nesting));
        let mut next = 0;
        let mut active = Vec::<(Nesting, u64, u32)>::new();
        let (mut segments, mut order) = (Segments::new(), Vec::new());
        for pair in bounds.windows(2) {
            let &[start, end] = pair else { continue };
            active.retain(|&(_, range_end, _)| range_end > start);
            while let Some((range, entry, nesting)) =
                self.ranges.get(next).filter(|it| it.0.start <= start)
            {
                active.push((*nesting, range.end, *entry));
                next += 1;
            }
            active.sort_unstable();
            meter.steps(1 + active.len() as u64)?;
            let first = order.len() as u32;
            let mut last = None;
            for &(nesting, _, entry) in &active {
                let instance = (nesting.request, nesting.instance);
                if last != Some(instance) {
                    last = Some(instance);
                    meter.hold(4)?;
                    order.push(entry);
                }
            }
            if order.len() as u32 > first {
                meter.hold(24)?;
                segments.push((start..end, first..order.len() as u32));
            }
        }
        Ok((segments, order))
    }
}

type Segments = Vec<(Range<u64>, Range<u32>)>;

/// Error for a variable that no instance has.
fn unknown(wanted: &Request, instances: &[Instance]) -> Error {
    let mut existing = Vec::<&str>::new();
    for name in instances.iter().flat_map(Instance::variables) {
        if !existing.contains(&name) && existing.len() < 64 {
            existing.push(name);
        }
    }
    let close = closest(&wanted.path.variable, existing.iter().copied());
    existing.sort_by_key(|name| close.iter().position(|it| it == name).unwrap_or(usize::MAX));
    Error::UnknownVariable {
        function: instances.first().map_or_else(String::new, |it| it.name().to_owned()),
        name: wanted.path.variable.clone(),
        existing: existing.into_iter().map(str::to_owned).collect(),
    }
}
