//! Parameters and locals of an instance, and the parts of its code that have their values.

use gimli::Reader;

use crate::dwarf::Sources;
use crate::error::Error;
use crate::functions::Instance;
use crate::types::type_name;

/// A parameter or local, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableListing {
    /// Name.
    pub name: String,
    /// True for parameters.
    pub is_parameter: bool,
    /// Name of its type.
    pub type_name: String,
    /// Bytes of code that are in its block.
    pub bytes: u64,
    /// Of these, bytes with a location. A register or memory there can be unknown in a frame all the same.
    pub available_bytes: u64,
    /// Its locations in words; registers by their DWARF number.
    pub location: String,
}

impl Instance {
    /// Lists parameters and locals in the order of their declaration. `sources` are those of [`crate::Functions::find`].
    ///
    /// # Errors
    /// [`Error::Dwarf`] if a type is damaged; [`Error::Exhausted`] if the meter of `sources` is.
    pub fn listing<'a, R: Reader<Offset = usize>>(
        &self,
        sources: &Sources<'a, R>,
    ) -> Result<Vec<VariableListing>, Error> {
        let mut listing = Vec::new();
        for variable in &self.variables {
            let scope = if variable.scope.is_empty() { &self.ranges } else { &variable.scope };
            sources.meter().steps(1 + scope.len() as u64)?;
            listing.push(VariableListing {
                name: variable.name.clone(),
                is_parameter: variable.is_parameter,
                type_name: type_name(sources, variable.type_key)?,
                bytes: scope.iter().map(|it| it.end - it.start).fold(0, u64::saturating_add),
                available_bytes: variable.location.available(scope),
                location: variable.location.words(),
            });
        }
        Ok(listing)
    }

    /// Number of bytes of its code.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|it| it.end - it.start).fold(0, u64::saturating_add)
    }
}
