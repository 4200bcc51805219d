//! Meter for readers of untrusted input: steps of their loops and bytes that they hold.
//!
//! A loop over the input uses [`Meter::each`], which charges each item before it is returned.
//! The loop ends when the input has used its share, so no loop, even a nested one, exceeds the meter.

use std::cell::Cell;

use crate::json::{JsonShape, TooDeep};
use crate::{Budget, Exhausted, Resource, try_reserve};

/// Remaining steps and bytes of one reader for one input. All its loops share them, including nested ones.
#[derive(Debug)]
pub struct Meter {
    steps: ResourceCounter,
    bytes: ResourceCounter,
    exhausted: Cell<Option<Exhausted>>,
}

#[derive(Debug)]
struct ResourceCounter {
    resource: Resource,
    limit: u64,
    left: Cell<u64>,
}

impl ResourceCounter {
    fn new(budget: &Budget, resource: Resource, input_bytes: u64) -> Self {
        let limit = budget.limit(resource).of(input_bytes);
        Self { resource, limit, left: Cell::new(limit) }
    }

    const fn used(&self) -> u64 {
        self.limit - self.left.get()
    }
}

impl Meter {
    /// Creates the meter of a reader with an input of `input_bytes` bytes.
    #[must_use]
    pub fn new(budget: &Budget, input_bytes: usize) -> Self {
        let of = |resource| ResourceCounter::new(budget, resource, input_bytes as u64);
        Self {
            steps: of(Resource::Steps),
            bytes: of(Resource::HeldBytes),
            exhausted: Cell::new(None),
        }
    }

    fn take(&self, counter: &ResourceCounter, amount: u64) -> Result<(), Exhausted> {
        if let Some(left) = counter.left.get().checked_sub(amount) {
            counter.left.set(left);
            return Ok(());
        }
        counter.left.set(0);
        let exhausted = Exhausted { resource: counter.resource, limit: counter.limit };
        self.exhausted.set(self.exhausted.get().or(Some(exhausted)));
        Err(exhausted)
    }

    /// Charges `n` steps.
    ///
    /// # Errors
    /// [`Exhausted`] if fewer are left; then none is left.
    pub fn steps(&self, n: u64) -> Result<(), Exhausted> {
        self.take(&self.steps, n)
    }

    /// Charges `n` bytes that the reader is about to hold.
    ///
    /// # Errors
    /// [`Exhausted`] if fewer are left; then none is left.
    pub fn hold(&self, n: usize) -> Result<(), Exhausted> {
        self.take(&self.bytes, n as u64)
    }

    /// Returns the items and charges one step for each. They end when no step is left; see [`Self::exhausted`].
    pub fn each<I: IntoIterator>(&self, items: I) -> Charged<'_, I::IntoIter> {
        Charged { meter: self, items: items.into_iter() }
    }

    /// Reserves memory for `n` items before reading any of them.
    ///
    /// # Errors
    /// [`Exhausted`] if the input does not account for that many, or the process has no memory for them.
    pub fn vec<T>(&self, n: usize) -> Result<Vec<T>, Exhausted> {
        let bytes = n.saturating_mul(size_of::<T>());
        self.hold(bytes)?;
        let mut items = Vec::new();
        let ResourceCounter { resource, limit, .. } = self.bytes;
        try_reserve(&mut items, n).map_err(|_| Exhausted { resource, limit })?;
        Ok(items)
    }

    /// Examines a JSON text before it is parsed: charges its values as steps and its bytes as held.
    ///
    /// # Errors
    /// [`JsonRefused`] if it is nested too deep, or has more values than the input's size allows.
    pub fn json(&self, text: &[u8], depth: usize) -> Result<JsonShape, JsonRefused> {
        self.hold(text.len())?;
        let shape = JsonShape::of(text, depth)?;
        self.steps(shape.values)?;
        Ok(shape)
    }

    /// Steps taken and bytes held so far.
    #[must_use]
    pub const fn used(&self) -> (u64, u64) {
        (self.steps.used(), self.bytes.used())
    }

    /// The first resource that ran out.
    #[must_use]
    pub const fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get()
    }
}

/// A JSON text that must not be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JsonRefused {
    /// It is nested too deep.
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// It has more values than the input's size allows.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// Items that cost a step each; see [`Meter::each`].
#[derive(Debug)]
pub struct Charged<'m, I> {
    meter: &'m Meter,
    items: I,
}

impl<I: Iterator> Iterator for Charged<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        // The request for an item is charged even if there is none: filters in front may skip many.
        self.meter.steps(1).ok()?;
        self.items.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;

    fn meter(steps: u64, bytes: u64) -> Meter {
        let limit = |base| Limit { base, per_byte: 0, most: base };
        let budget = Budget::default()
            .with(Resource::Steps, limit(steps))
            .with(Resource::HeldBytes, limit(bytes));
        Meter::new(&budget, 10)
    }

    #[test]
    fn nested_loops_take_from_one_meter() {
        let meter = meter(100, 0);
        let pairs = meter.each(0..1000).flat_map(|a| meter.each(0..7).map(move |b| (a, b))).count();
        // Each round takes 1 + 7 steps, and one more to find the end of the inner loop.
        assert_eq!((pairs, meter.used().0), (77, 100));
        let exhausted = Exhausted { resource: Resource::Steps, limit: 100 };
        assert_eq!(meter.exhausted(), Some(exhausted));
        assert_eq!((meter.steps(1), meter.each(0..1).count()), (Err(exhausted), 0));
    }

    #[test]
    fn what_is_held_is_charged_before_it_is_taken() {
        let meter = meter(10, 100);
        assert_eq!(meter.vec::<u64>(12).map(|items| items.capacity()), Ok(12));
        let exhausted = Exhausted { resource: Resource::HeldBytes, limit: 100 };
        assert_eq!(meter.vec::<u64>(usize::MAX).err(), Some(exhausted));
        assert_eq!((meter.used(), meter.hold(1)), ((0, 100), Err(exhausted)));
        assert_eq!(exhausted.to_string(), "more than 100 bytes held of it");
    }

    #[test]
    fn json_is_charged_before_it_is_parsed() {
        let meter = meter(10, 100);
        let shape = meter.json(br#"{"a":[1,2],"b":"[[[,"}"#, 3).expect("a small one");
        assert_eq!((shape.values, meter.used()), (7, (7, 22)));
        assert_eq!(meter.json(b"[[[[", 3), Err(JsonRefused::TooDeep(TooDeep { limit: 3 })));
        let exhausted = Exhausted { resource: Resource::Steps, limit: 10 };
        assert_eq!(meter.json(b"[1,2,3,4]", 3), Err(exhausted.into()));
    }
}
