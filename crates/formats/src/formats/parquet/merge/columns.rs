//! Merged columns: the union of those of all files, by name.

use std::path::PathBuf;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use super::super::stacks::{SCHEMA_KEY, VERSION_KEY};
use super::error::MergeError;
use super::input::{InputFile, leaves};

/// Keys that all merged files state alike.
const KEYS: [&str; 2] = [SCHEMA_KEY, VERSION_KEY];

/// Union of the columns of files.
#[derive(Default)]
pub(super) struct ColumnUnion {
    fields: Vec<UnionField>,
    places: HashMap<String, usize>,
    constants: Vec<String>,
    /// Path and keys of the first file.
    first: Option<(PathBuf, [Option<String>; 2])>,
    /// Columns of the last file: most files have the same.
    last: Option<(TypePtr, Vec<String>)>,
    files: usize,
}

struct UnionField {
    node: TypePtr,
    /// First file with the column.
    path: PathBuf,
    /// Number of files with the column.
    files: usize,
    is_optional: bool,
}

impl ColumnUnion {
    /// Adds the columns of a file.
    ///
    /// # Errors
    /// If it has other rows, or columns that occur twice or have another type than in an earlier file.
    pub(super) fn add(&mut self, input: &InputFile) -> Result<(), MergeError> {
        self.check_keys(input)?;
        self.files += 1;
        let schema = input.schema().root_schema_ptr();
        let constants: Vec<String> =
            input.file.constants.iter().map(|(name, _)| name.clone()).collect();
        if self.last.as_ref().is_some_and(|last| last.0 == schema && last.1 == constants) {
            for field in schema.get_fields() {
                if let Some(known) = self.known(field.name()) {
                    known.files += 1;
                }
            }
            return Ok(());
        }
        if let Some(column) = repeated_name(&schema, &constants) {
            return Err(MergeError::Twice { path: input.file.path.clone(), column });
        }
        for field in schema.get_fields() {
            self.add_field(field, input)?;
        }
        for name in &constants {
            if !self.constants.contains(name) {
                self.constants.push(name.clone());
            }
        }
        self.last = Some((schema, constants));
        Ok(())
    }

    fn check_keys(&mut self, input: &InputFile) -> Result<(), MergeError> {
        let keys = KEYS.map(|key| input.key(key).map(str::to_owned));
        let Some((path, first)) = &self.first else {
            self.first = Some((input.file.path.clone(), keys));
            return Ok(());
        };
        if *first == keys {
            return Ok(());
        }
        let text = |keys: &[Option<String>; 2]| match keys {
            [Some(name), Some(version)] => format!("{name} of version {version}"),
            [Some(name), None] => name.clone(),
            [None, _] => "unknown rows".to_owned(),
        };
        Err(MergeError::OtherRows {
            path: input.file.path.clone(),
            other: path.clone(),
            found: text(&keys),
            expected: text(first),
        })
    }

    fn known(&mut self, name: &str) -> Option<&mut UnionField> {
        let place = *self.places.get(name)?;
        self.fields.get_mut(place)
    }

    fn add_field(&mut self, field: &TypePtr, input: &InputFile) -> Result<(), MergeError> {
        let is_optional = repetition(field) == Some(Repetition::OPTIONAL);
        let Some(known) = self.known(field.name()) else {
            self.places.insert(field.name().to_owned(), self.fields.len());
            let path = input.file.path.clone();
            self.fields.push(UnionField { node: Arc::clone(field), path, files: 1, is_optional });
            return Ok(());
        };
        known.files += 1;
        known.is_optional |= is_optional;
        if is_same(&known.node, field) {
            return Ok(());
        }
        Err(MergeError::OtherType {
            path: input.file.path.clone(),
            other: known.path.clone(),
            column: field.name().to_owned(),
        })
    }

    /// Returns the merged columns: those of the files, then those that paths state.
    ///
    /// # Errors
    /// If a column is also stated by a path.
    pub(super) fn finish(self) -> Result<MergedColumns, MergeError> {
        let mut fields = Vec::new();
        for field in self.fields {
            if self.constants.iter().any(|name| name == field.node.name()) {
                let (path, column) = (field.path, field.node.name().to_owned());
                return Err(MergeError::Twice { path, column });
            }
            let is_optional = field.is_optional || field.files < self.files;
            let is_required = repetition(&field.node) == Some(Repetition::REQUIRED);
            let node = if is_optional && is_required {
                Arc::new(optional(&field.node).map_err(MergeError::Encode)?)
            } else {
                field.node
            };
            fields.push(node);
        }
        let first_constant = fields.len();
        for name in &self.constants {
            let node = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(Some(LogicalType::String));
            fields.push(Arc::new(node.build().map_err(MergeError::Encode)?));
        }
        let root = Type::group_type_builder("rows").with_fields(fields).build();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root.map_err(MergeError::Encode)?)));
        let keys = self.first.map(|(_, keys)| keys).unwrap_or_default();
        let keys = KEYS.into_iter().zip(keys).filter_map(|(key, value)| Some((key, value?)));
        Ok(MergedColumns { schema, first_constant, keys: keys.collect() })
    }
}

/// Merged columns.
pub(super) struct MergedColumns {
    pub(super) schema: SchemaDescPtr,
    /// Number of columns before those that paths state.
    first_constant: usize,
    /// Keys of the merged file.
    pub(super) keys: Vec<(&'static str, String)>,
}

impl MergedColumns {
    /// Returns the place in a file of each merged leaf; `None` for absent columns and those that paths state.
    ///
    /// # Errors
    /// If the file has other columns than before.
    pub(super) fn places(&self, input: &InputFile) -> Result<Vec<Option<usize>>, MergeError> {
        let changed = || MergeError::Changed { path: input.file.path.clone() };
        let (theirs, ours) = (input.leaves(), leaves(&self.schema));
        let mut fields: HashMap<&str, _> = HashMap::new();
        for (field, leaves) in input.schema().root_schema().get_fields().iter().zip(theirs) {
            fields.insert(field.name(), (field, leaves));
        }
        let mut places = vec![None; self.schema.num_columns()];
        let merged = self.schema.root_schema().get_fields().iter().zip(ours);
        for (node, leaves) in merged.take(self.first_constant) {
            let Some((field, theirs)) = fields.remove(node.name()) else {
                if repetition(node) == Some(Repetition::REQUIRED) {
                    return Err(changed());
                }
                continue;
            };
            if !is_same(node, field) || theirs.len() != leaves.len() {
                return Err(changed());
            }
            for (place, leaf) in places.iter_mut().skip(leaves.start).zip(theirs) {
                *place = Some(leaf);
            }
        }
        if fields.is_empty() { Ok(places) } else { Err(changed()) }
    }

    /// Returns the value of a leaf that the path of a file states.
    pub(super) fn constant<'a>(&self, leaf: usize, input: &'a InputFile) -> Option<&'a str> {
        let root = self.schema.get_column_root_idx(leaf);
        if root < self.first_constant {
            return None;
        }
        let name = self.schema.get_column_root(leaf).name();
        let pair = input.file.constants.iter().find(|(key, _)| key == name)?;
        Some(&pair.1)
    }
}

/// Returns a name that occurs twice among the columns of a file and those that its path states.
fn repeated_name(schema: &Type, constants: &[String]) -> Option<String> {
    let mut names: HashSet<&str> = HashSet::new();
    let fields = schema.get_fields().iter().map(|field| field.name());
    let mut all = constants.iter().map(String::as_str).chain(fields);
    all.find(|name| !names.insert(name)).map(str::to_owned)
}

/// Returns true if the types are equal, but for null values.
fn is_same(one: &Type, other: &Type) -> bool {
    let is_list = |node| repetition(node) == Some(Repetition::REPEATED);
    if is_list(one) != is_list(other) {
        return false;
    }
    match (optional(one), optional(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn repetition(node: &Type) -> Option<Repetition> {
    let info = node.get_basic_info();
    info.has_repetition().then(|| info.repetition())
}

/// Returns the type of a column with null values.
fn optional(node: &Type) -> Result<Type, ParquetError> {
    let info = node.get_basic_info();
    let logical = info.logical_type_ref().cloned();
    if node.is_primitive() {
        let builder = Type::primitive_type_builder(node.name(), node.get_physical_type());
        let builder = builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical);
        return builder.with_converted_type(info.converted_type()).build();
    }
    let builder = Type::group_type_builder(node.name()).with_repetition(Repetition::OPTIONAL);
    let builder = builder.with_logical_type(logical).with_converted_type(info.converted_type());
    builder.with_fields(node.get_fields().to_vec()).build()
}
