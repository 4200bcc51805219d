//! Arrow streams as JSON values: the result for a reader in any language.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int8Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{AnyDictionaryArray, Array};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Metadata};
use serde_json::{Map, Value, json};

/// A stream.
pub(crate) struct ArrowTable {
    /// Metadata of the schema.
    pub(crate) keys: Metadata,
    /// A value for each row, by column.
    pub(crate) columns: Vec<(String, Vec<Value>)>,
    pub(crate) batches: usize,
}

impl ArrowTable {
    /// Returns all streams in `bytes`, which contain nothing else.
    pub(crate) fn all(mut bytes: &[u8]) -> Vec<Self> {
        let mut tables = Vec::new();
        while !bytes.is_empty() {
            let mut reader = StreamReader::try_new(&mut bytes, None).expect("a schema");
            let schema = reader.schema();
            let mut columns: Vec<(String, Vec<Value>)> =
                schema.fields().iter().map(|field| (field.name().clone(), Vec::new())).collect();
            let mut batches = 0;
            for batch in reader.by_ref() {
                let batch = batch.expect("a batch");
                for ((_, values), column) in columns.iter_mut().zip(batch.columns()) {
                    values.extend(column_values(column));
                }
                batches += 1;
            }
            tables.push(Self { keys: schema.metadata().clone(), columns, batches });
        }
        tables
    }

    /// Returns the name of the table.
    pub(crate) fn name(&self) -> &str {
        &self.keys["unwind_perf.table"]
    }

    /// Returns its rows as objects, without null values.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let length = self.columns.first().map_or(0, |(_, values)| values.len());
        let value = |row: usize| {
            let fields =
                self.columns.iter().map(|(name, values)| (name.clone(), values[row].clone()));
            Value::Object(fields.filter(|(_, value)| !value.is_null()).collect())
        };
        (0..length).map(value).collect()
    }
}

fn column_values(array: &dyn Array) -> Vec<Value> {
    (0..array.len()).map(|row| value(array, row)).collect()
}

fn value(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::UInt64 => json!(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Int64 => json!(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt32 => json!(array.as_primitive::<UInt32Type>().value(row)),
        DataType::Int32 => json!(array.as_primitive::<Int32Type>().value(row)),
        DataType::Boolean => json!(array.as_boolean().value(row)),
        DataType::Utf8 => json!(array.as_string::<i32>().value(row)),
        DataType::Dictionary(..) => {
            let dictionary: &dyn AnyDictionaryArray = match array.as_dictionary_opt::<Int8Type>() {
                Some(words) => words,
                None => array.as_dictionary::<Int32Type>(),
            };
            value(dictionary.values(), dictionary.normalized_keys()[row])
        }
        DataType::List(_) => Value::Array(column_values(&array.as_list::<i32>().value(row))),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            let each = fields.iter().zip(columns);
            let fields = each.map(|(field, column)| (field.name().clone(), value(column, row)));
            Value::Object(fields.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
        }
        other => panic!("a column of {other}"),
    }
}
