//! A stream: its schema, record batches, and the mark of its end.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{ArrowError, Field, Metadata, Schema, SchemaRef};

/// A column of a batch. Columns of one name have one type in all batches of a stream.
#[derive(Debug)]
pub(super) struct Column {
    name: &'static str,
    nullable: bool,
    values: ArrayRef,
}

impl std::fmt::Debug for ArrowStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowStream").field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl Column {
    /// One without nulls.
    pub(super) fn new(name: &'static str, values: impl arrow_array::Array + 'static) -> Self {
        Self { name, nullable: false, values: Arc::new(values) }
    }

    /// One that may have nulls.
    pub(super) fn optional(name: &'static str, values: impl arrow_array::Array + 'static) -> Self {
        Self { name, nullable: true, values: Arc::new(values) }
    }

    /// Its description and its values, as a part of a column of structs.
    pub(super) fn into_field(self) -> (Field, ArrayRef) {
        (Field::new(self.name, self.values.data_type().clone(), self.nullable), self.values)
    }
}

/// A stream that is being written. Its schema is that of its first batch.
pub(super) struct ArrowStream {
    metadata: Metadata,
    state: Option<(SchemaRef, StreamEncoder)>,
}

impl ArrowStream {
    /// A stream whose schema has these keys and values.
    pub(super) const fn new(metadata: Metadata) -> Self {
        Self { metadata, state: None }
    }

    /// Whether nothing was written yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.state.is_none()
    }

    /// Writes a batch. A dictionary that is another one than in the batch before comes before it, and replaces that.
    ///
    /// # Errors
    /// Where writing fails: its error, unchanged.
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

    /// Writes the mark of the end. There has to be a batch, of no rows where there is nothing.
    ///
    /// # Errors
    /// Where writing fails: its error, unchanged.
    pub(super) fn finish(self, out: &mut dyn io::Write) -> io::Result<()> {
        let Some((_, encoder)) = self.state else { return Ok(()) };
        write_all(out, &encoder.finish().map_err(refused)?)
    }
}

fn write_all(out: &mut dyn io::Write, buffers: &[Buffer]) -> io::Result<()> {
    buffers.iter().try_for_each(|buffer| out.write_all(buffer))
}

/// Columns that do not fit their schema: no profile makes that.
pub(super) fn refused(error: ArrowError) -> io::Error {
    io::Error::other(error)
}
