"""Durations of spans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._option_types import Options, PathLike
from ._options import checked
from ._program import Run, input_arguments, options_argument
from ._tables import require_pyarrow
from ._top import value_type

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._recording import Recording

_NUMBERS = ("spans", "total", "self", "min", "p50", "p90", "p99", "max")


def spans(
    recording: "Union[Recording, PathLike]",
    *,
    by: Optional[str] = None,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> "pa.Table":
    """Returns the durations of spans, as ``unwind-perf spans`` counts them: one row for each name and value, the longest
    sum first.

    The option ``span`` describes them, unless those of a :class:`Recording` do: ``span="request=server:start,server:done"``.
    ``by`` is a label, or a field of the events that begin spans.

    Columns: ``span``; with ``by``, ``value`` and ``missing``; the number ``spans``; ``total``, ``self``, ``min``, ``p50``,
    ``p90``, ``p99`` and ``max`` in nanoseconds; and ``histogram``, a list of ``from``, ``to`` and ``spans``.
    """
    require_pyarrow()
    import pyarrow as pa

    from ._recording import Recording

    path: PathLike
    given: Dict[str, Any]
    if isinstance(recording, Recording):
        path, given = recording.path, {**recording.options, **options}
    else:
        path, given = recording, dict(options)
    words = ["spans", "--quiet", "--format=json", *([] if by is None else [f"--by={by}"])]
    with Run([*words, options_argument(), *input_arguments(path)], timeout, options=checked(given)) as run:
        text = run.output.read()
        run.finish()
    rows: List[Dict[str, Any]] = json.loads(text)["rows"]
    ranges = pa.list_(pa.struct([(name, pa.uint64()) for name in ("from", "to", "spans")]))
    types = {"span": pa.string()}
    if by is not None:
        types.update({"value": value_type(rows), "missing": pa.string()})
    types.update({name: pa.uint64() for name in _NUMBERS})
    types["histogram"] = ranges
    return pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in types.items()})
