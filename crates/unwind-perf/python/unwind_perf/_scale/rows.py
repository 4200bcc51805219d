"""Rows of samples without dictionaries and unsigned numbers, the form for files and engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

if TYPE_CHECKING:
    import pyarrow as pa

# Columns of `--format=arrow --rows`: name, type, nullable. Source: docs/OUTPUT.md, "parquet".
_FRAME: List[Tuple[str, str, bool]] = [
    ("addr", "uint64", False),
    ("module", "string", True),
    ("build_id", "string", True),
    ("svma", "uint64", True),
    ("offset", "uint64", True),
    ("function", "string", True),
    ("function_offset", "uint64", True),
    ("file", "string", True),
    ("line", "uint32", True),
    ("inlined", "bool", False),
    ("found_by", "string", False),
    ("kernel", "bool", False),
]
_SAMPLE: List[Tuple[str, str, bool]] = [
    ("time_ns", "uint64", True),
    ("pid", "int32", False),
    ("tid", "int32", False),
    ("comm", "string", True),
    ("process", "string", True),
    ("cpu", "uint32", True),
    ("event", "string", True),
    ("period", "uint64", True),
    ("weight", "uint64", False),
    ("end", "string", False),
    ("complete", "bool", False),
    ("cgroup", "string", True),
    ("recording", "string", True),
    ("host", "string", True),
    ("build_id", "string", True),
]


def row_schema() -> "pa.Schema":
    """Returns the schema of rows. It serves recordings without wanted samples, for which the program prints nothing."""
    import pyarrow as pa

    def fields(columns: List[Tuple[str, str, bool]]) -> "List[pa.Field]":
        return [pa.field(name, pa.type_for_alias(kind), nullable) for name, kind, nullable in columns]

    item = pa.field("item", pa.struct(fields(_FRAME)), nullable=False)
    return plain_schema(pa.schema([*fields(_SAMPLE), pa.field("frames", pa.list_(item), nullable=False)]))


def plain_schema(schema: "pa.Schema") -> "pa.Schema":
    """Returns the schema of :func:`plain` rows."""
    import pyarrow as pa

    return pa.schema([_plain_field(field) for field in schema], schema.metadata)


def _plain_field(field: "pa.Field") -> "pa.Field":
    import pyarrow as pa

    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    elif pa.types.is_list(kind):
        kind = pa.list_(_plain_field(kind.value_field))
    elif pa.types.is_struct(kind):
        kind = pa.struct([_plain_field(kind.field(at)) for at in range(kind.num_fields)])
    elif pa.types.is_uint64(kind) or pa.types.is_uint32(kind):
        # Few engines have unsigned numbers: for Spark, they are decimals.
        kind = pa.int64()
    return field.with_type(kind)


def plain(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Returns the rows with strings instead of dictionaries, and signed numbers of 64 bits instead of unsigned ones."""
    import pyarrow as pa

    schema = plain_schema(batch.schema)
    columns = [retyped(array, field.type) for array, field in zip(batch.columns, schema)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def retyped(array: Any, kind: "pa.DataType") -> Any:
    """Converts a column to a type of the same shape.

    Dictionaries become strings; unsigned 64-bit numbers become signed ones with the same bits (two's complement).
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(array.offsets, retyped(array.values, kind.value_type), type=kind)
    if pa.types.is_struct(array.type):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        parts = [retyped(part, field.type) for part, field in zip(array.flatten(), fields)]
        return pa.StructArray.from_arrays(parts, fields=fields)
    if pa.types.is_uint64(array.type) and pa.types.is_int64(kind):
        return array.view(kind)
    return array if array.type == kind else array.cast(kind)


class Account:
    """Statistics of rows in a stream: samples, complete chains, and the frames of each module."""

    def __init__(self) -> None:
        self.samples = 0
        self.complete = 0
        self._frames: "dict[Tuple[Optional[str], Optional[str]], int]" = {}

    def add(self, batch: "pa.RecordBatch") -> None:
        """Counts a batch of the program's stream."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self.samples += batch.num_rows
        self.complete += pc.sum(batch.column("complete")).as_py() or 0
        frames = batch.column("frames").values
        modules, ids = frames.field("module"), frames.field("build_id")

        # Combines the indices of both dictionaries; 0 stands for null.
        def numbers(array: Any) -> Any:
            return pc.add(pc.fill_null(array.indices.cast(pa.int64()), -1), 1)

        pairs = pc.add(pc.multiply(numbers(modules), 1 << 32), numbers(ids))
        paths, names = [None, *modules.dictionary.to_pylist()], [None, *ids.dictionary.to_pylist()]
        for one in pc.value_counts(pairs).to_pylist():
            key = (paths[one["values"] >> 32], names[one["values"] & 0xFFFF_FFFF])
            self._frames[key] = self._frames.get(key, 0) + one["counts"]

    @property
    def modules(self) -> "List[dict[str, Any]]":
        """Modules with frames, in descending order of frames."""
        order = sorted(self._frames.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
        return [{"path": path, "build_id": build_id, "frames": count} for (path, build_id), count in order]
