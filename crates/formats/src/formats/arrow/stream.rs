//! An Arrow IPC stream: its schema, record batches, and end marker.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{ArrowError, Field, Metadata, Schema, SchemaRef};

/// A column of a batch. A column has the same name and type in all batches of a stream.
#[derive(Debug)]
pub(super) struct Column {
    name: Cow<'static, str>,
    nullable: bool,
    values: ArrayRef,
}

impl std::fmt::Debug for ArrowStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowStream").field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl Column {
    /// Returns a column without nulls.
    pub(super) fn new(name: &'static str, values: impl arrow_array::Array + 'static) -> Self {
        let name = Cow::Borrowed(name);
        Self { name, nullable: false, values: Arc::new(values) }
    }

    /// Returns a column that may contain nulls.
    pub(super) fn optional(
        name: impl Into<Cow<'static, str>>,
        values: impl arrow_array::Array + 'static,
    ) -> Self {
        Self { name: name.into(), nullable: true, values: Arc::new(values) }
    }

    /// Returns the field and the values, for use in a struct column.
    pub(super) fn into_field(self) -> (Field, ArrayRef) {
        (Field::new(self.name, self.values.data_type().clone(), self.nullable), self.values)
    }
}

/// Writer of a stream. The first batch defines the schema.
pub(super) struct ArrowStream {
    metadata: Metadata,
    state: Option<(SchemaRef, StreamEncoder)>,
}

impl ArrowStream {
    /// Returns a stream with `metadata` as the keys and values of its schema.
    pub(super) const fn new(metadata: Metadata) -> Self {
        Self { metadata, state: None }
    }

    /// Returns true if nothing has been written yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.state.is_none()
    }

    /// Writes a batch, preceded by the dictionaries that differ from those of the previous batch and replace them.
    ///
    /// # Errors
    /// Returns the error of writing, unchanged.
    pub(super) fn write(
        &mut self,
        columns: Vec<Column>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let (fields, values): (Vec<_>, Vec<_>) =
            columns.into_iter().map(Column::into_field).unzip();
        let (schema, encoder) = match &mut self.state {
            Some(state) => state,
            None => {
                let metadata = std::mem::take(&mut self.metadata);
                let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
                let encoder = StreamEncoder::try_new(&schema).map_err(refused)?;
                self.state.insert((schema, encoder))
            }
        };
        let batch = RecordBatch::try_new(Arc::clone(schema), values).map_err(refused)?;
        let buffers = encoder.encode(&batch).map_err(refused)?;
        write_all(out, &buffers)
    }

    /// Writes the end marker. The stream must contain a batch, which may be empty.
    ///
    /// # Errors
    /// Returns the error of writing, unchanged.
    pub(super) fn finish(self, out: &mut dyn io::Write) -> io::Result<()> {
        let Some((_, encoder)) = self.state else { return Ok(()) };
        write_all(out, &encoder.finish().map_err(refused)?)
    }
}

fn write_all(out: &mut dyn io::Write, buffers: &[Buffer]) -> io::Result<()> {
    buffers.iter().try_for_each(|buffer| out.write_all(buffer))
}

/// Converts the error of columns that do not fit their schema, which no profile causes.
pub(super) fn refused(error: ArrowError) -> io::Error {
    io::Error::other(error)
}
