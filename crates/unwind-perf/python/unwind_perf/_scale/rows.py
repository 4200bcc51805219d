"""Columns of the tree of recordings, the form for engines: the program writes no dictionaries and unsigned numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Tuple

if TYPE_CHECKING:
    import pyarrow as pa

# Columns of the tree: name, type, nullable. Source: docs/OUTPUT.md, "parquet".
_FRAME: List[Tuple[str, str, bool]] = [
    ("addr", "int64", False),
    ("module", "string", True),
    ("build_id", "string", True),
    ("svma", "int64", True),
    ("offset", "int64", True),
    ("function", "string", True),
    ("function_offset", "int64", True),
    ("file", "string", True),
    ("line", "int64", True),
    ("inlined", "bool", False),
    ("found_by", "string", False),
    ("kernel", "bool", False),
]
_SAMPLE: List[Tuple[str, str, bool]] = [
    ("time_ns", "int64", True),
    ("pid", "int32", False),
    ("tid", "int32", False),
    ("comm", "string", True),
    ("process", "string", True),
    ("cpu", "int64", True),
    ("event", "string", True),
    ("period", "int64", True),
    ("weight", "int64", False),
    ("end", "string", False),
    ("complete", "bool", False),
    ("cgroup", "string", True),
    ("recording", "string", True),
    ("host", "string", True),
    ("build_id", "string", True),
]


def row_schema() -> "pa.Schema":
    """Returns the schema of the rows of a recording, without columns for fields and labels."""
    import pyarrow as pa

    def fields(columns: List[Tuple[str, str, bool]]) -> "List[pa.Field]":
        return [pa.field(name, pa.type_for_alias(kind), nullable) for name, kind, nullable in columns]

    item = pa.field("element", pa.struct(fields(_FRAME)), nullable=False)
    return pa.schema([*fields(_SAMPLE), pa.field("frames", pa.list_(item), nullable=False)])


def retyped(array: Any, kind: "pa.DataType") -> Any:
    """Converts a column to a type of the same shape, whose fields have other names or are nullable."""
    import pyarrow as pa

    if pa.types.is_list(array.type):
        return pa.ListArray.from_arrays(array.offsets, retyped(array.values, kind.value_type), type=kind)
    if pa.types.is_struct(array.type):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        parts = [retyped(part, field.type) for part, field in zip(array.flatten(), fields)]
        return pa.StructArray.from_arrays(parts, fields=fields)
    return array if array.type == kind else array.cast(kind)
