"""Recordings of ``perf record --call-graph dwarf`` as tables: unwound and symbolized by the program in this package.

>>> import unwind_perf as up
>>> recording = up.read("perf.data")          # all tables, as pyarrow.Table
>>> up.top(recording)                         # the costliest functions
>>> up.scan("perf.data")                      # one row per sample, in batches
>>> up.convert("perf.data", "out")            # the same rows as a file, for loops over many recordings

docs/OUTPUT.md of the project describes the columns.
"""

from ._annotate import Annotation, annotate
from ._call_tree import tree
from ._errors import CallError, MissingFileError, UnwindPerfError
from ._option_types import Options
from ._program import program, version
from ._reading import diff, folded, read, scan
from ._recording import Recording
from ._scale.convert import convert
from ._scale.shard import rows
from ._spans import spans
from ._top import top
from ._writing.files import WrittenFile, bundle, report
from ._writing.record import Recorded, RecordOptions, record

__all__ = [
    "Annotation",
    "CallError",
    "MissingFileError",
    "Options",
    "RecordOptions",
    "Recorded",
    "Recording",
    "UnwindPerfError",
    "WrittenFile",
    "annotate",
    "bundle",
    "convert",
    "diff",
    "folded",
    "program",
    "read",
    "record",
    "report",
    "rows",
    "scan",
    "spans",
    "top",
    "tree",
    "version",
]
