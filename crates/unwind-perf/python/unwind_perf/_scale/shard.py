"""Rows of one recording out of many, for engines: in widely supported types, and with a row for a failed recording."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional

from .._option_types import Options, PathLike
from .._options import checked, require_folders
from .._tables import require_pyarrow
from .convert import converted
from .rows import retyped, row_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

#: Default number of rows per batch; a JVM holds each batch completely.
BATCH_ROWS = 4096


def rows(
    path: PathLike,
    *,
    retries: int = 2,
    timeout: Optional[float] = None,
    batch_rows: int = BATCH_ROWS,
    **options: "Unpack[Options]",
) -> "Iterator[pa.RecordBatch]":
    """Returns the rows of :func:`scan` for engines: defects of a recording are in its rows, and never raise an
    exception; wrong options and missing folders do.

    ``status`` and ``message`` are columns, with the values of :func:`convert`. A recording without rows that is
    ``not-a-recording``, ``unreadable``, or ``gave-up`` after ``retries``, is one row with null in the other columns. ``recording`` is the
    path. Strings are not dictionaries, and unsigned numbers are signed 64-bit ones, addresses as two's complement. The
    rows wait in a temporary folder until the run is over: a failed run yields none of its rows.
    """
    require_pyarrow()
    if batch_rows < 1:
        raise ValueError("batch_rows has to be at least 1")
    name = os.path.abspath(os.fsdecode(path))
    given = checked(options)
    require_folders(given)
    # A generator would check the options too late.
    return _rows(name, given, retries, timeout, batch_rows)


def _rows(name: str, given: str, retries: int, timeout: Optional[float], most: int) -> "Iterator[pa.RecordBatch]":
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(dir=_folder()) as out:
        manifest = converted(name, out, given, retries, timeout)
        if manifest["part"] is None:
            yield _failed(name, manifest)
            return
        with pq.ParquetFile(os.path.join(out, manifest["part"])) as file:
            for batch in file.iter_batches(batch_size=most):
                yield _stored(batch, name, manifest)


def _folder() -> Optional[str]:
    """Returns the folder for temporary files of an executor."""
    for folder in os.environ.get("SPARK_LOCAL_DIRS", "").split(","):
        if os.path.isdir(folder):
            return folder
    return None


def _stored(batch: "pa.RecordBatch", name: str, manifest: "Dict[str, Any]") -> "pa.RecordBatch":
    import pyarrow as pa

    schema = engine_schema()
    known = {"recording": name, "status": manifest["status"], "message": manifest["message"] or None}
    columns = [
        pa.repeat(pa.scalar(known[field.name], field.type), batch.num_rows)
        if field.name in known
        else retyped(batch.column(field.name), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _failed(name: str, manifest: "Dict[str, Any]") -> "pa.RecordBatch":
    import pyarrow as pa

    known = {"recording": name, "status": manifest["status"], "message": manifest["message"]}
    schema = engine_schema()
    columns = [pa.array([known.get(field.name)], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def engine_schema() -> "pa.Schema":
    """Returns the schema of :func:`rows`. All columns are nullable."""
    import pyarrow as pa

    fields = [pa.field(field.name, _engine_type(field.type)) for field in row_schema()]
    return pa.schema([*fields, pa.field("status", pa.string()), pa.field("message", pa.string())])


def _engine_type(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    if pa.types.is_list(kind):
        # Spark's name for the values of lists.
        return pa.list_(pa.field("element", _engine_type(kind.value_type)))
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return pa.struct([pa.field(field.name, _engine_type(field.type)) for field in fields])
    return kind
