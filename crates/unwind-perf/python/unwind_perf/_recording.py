"""Tables of a recording."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List

from ._option_types import PathLike

if TYPE_CHECKING:
    import pyarrow as pa

_TABLES = ("samples", "stacks", "frames", "locations", "inlines", "modules", "layouts", "threads", "events")


class Recording:
    """Tables of a recording, each a ``pyarrow.Table``; docs/OUTPUT.md of the project lists their columns."""

    samples: "pa.Table"
    stacks: "pa.Table"
    frames: "pa.Table"
    locations: "pa.Table"
    inlines: "pa.Table"
    modules: "pa.Table"
    layouts: "pa.Table"
    threads: "pa.Table"
    events: "pa.Table"

    def __init__(self, path: PathLike, options: Dict[str, Any], tables: Dict[str, "pa.Table"], damaged: bool) -> None:
        self.path = os.fsdecode(path)
        self.options = options
        #: Whether the recording, or a file with names, is damaged or partly missing; ``findings`` describes the damage.
        self.damaged = damaged
        for name in _TABLES:
            setattr(self, name, tables[name])
        keys = tables["samples"].schema.metadata
        #: Facts of the header: command line, host, recorder.
        self.recording: Dict[str, Any] = json.loads(keys[b"unwind_perf.recording"])
        #: Account of the run.
        self.summary: Dict[str, Any] = json.loads(keys[b"unwind_perf.summary"])

    @property
    def tables(self) -> Dict[str, "pa.Table"]:
        """All tables by name."""
        return {name: getattr(self, name) for name in _TABLES}

    @property
    def findings(self) -> List[Dict[str, Any]]:
        """Defects of the recording or of its files."""
        return list(self.summary["findings"])

    @property
    def complete_share(self) -> float:
        """Share of samples with a chain that reaches its root; 0 if there are no samples."""
        import pyarrow.compute as pc

        if self.samples.num_rows == 0:
            return 0.0
        ends = pc.value_counts(self.samples["end"].combine_chunks().cast("string"))
        complete: int = sum(one["counts"].as_py() for one in ends if one["values"].as_py() in ("root", "kernel-only", "guest"))
        return float(complete) / float(self.samples.num_rows)

    def to_table(self) -> "pa.Table":
        """Returns one row per sample with its frames as a list, as :func:`scan` does. Runs the program again."""
        from ._reading import scan

        return scan(self.path, **self.options).read_all()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns the rows of :meth:`to_table` as an Arrow stream, for polars, pandas, DuckDB and others. Runs the program
        again."""
        from ._reading import scan

        return scan(self.path, **self.options).__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        share = f"{100 * self.complete_share:.1f} % complete"
        return f"<unwind_perf.Recording {self.path!r}: {self.samples.num_rows} samples, {share}>"

    def _repr_html_(self) -> str:
        from ._picture import flame_graph

        return flame_graph(self)
