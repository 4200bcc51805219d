"""Calls with the highest costs, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

from ._option_types import OptionsOfAnyEvent, PathLike
from ._tables import require_pyarrow
from ._top import Patterns, counted, function_arguments, name_unknown

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._recording import Recording


def tree(
    recording: "Union[Recording, PathLike]",
    *,
    bottom_up: bool = False,
    min_share: float = 0.0,
    keep_unrooted: bool = False,
    kernel_frames: bool = False,
    weight: str = "samples",
    event: Optional[str] = None,
    focus: Patterns = (),
    ignore: Patterns = (),
    hide: Patterns = (),
    charge_to_caller: Patterns = (),
    show_module: Patterns = (),
    collapse_recursion: bool = False,
    timeout: Optional[float] = None,
    **options: "Unpack[OptionsOfAnyEvent]",
) -> "pa.Table":
    """Returns the tree of calls from the outermost functions, as ``unwind-perf tree`` counts them; with ``bottom_up``,
    from the innermost ones with their callers below.

    One row for each node, parents first and siblings by decreasing cost. Columns: ``parent`` (its row; null for roots),
    ``depth``, ``function``, ``mark``, ``module``, ``own``, ``inclusive``, ``own_share``, ``inclusive_share``,
    ``own_samples`` and ``inclusive_samples``. Incomplete stacks are below one ``[truncated]``, unless ``keep_unrooted``.

    Nodes below ``min_share`` of the total (0 to 1) are omitted. The other keywords are those of :func:`top`.
    """
    require_pyarrow()
    import pyarrow as pa

    words = ["tree", f"--weight={weight}", f"--min={100 * min_share:.6f}%"]
    words += ["--kernel-frames"] if kernel_frames else []
    words += ["--bottom-up"] if bottom_up else []
    words += ["--keep-unrooted"] if keep_unrooted else []
    words += function_arguments(focus, ignore, hide, charge_to_caller, show_module, collapse_recursion)
    rows = counted(words, recording, event, timeout, options)["rows"]
    name_unknown(rows)
    types = {"parent": pa.uint32(), "depth": pa.uint32()}
    types.update({name: pa.string() for name in ("function", "mark", "module")})
    types.update({name: pa.uint64() for name in ("own", "inclusive")})
    types.update({name: pa.float64() for name in ("own_share", "inclusive_share")})
    types.update({name: pa.uint64() for name in ("own_samples", "inclusive_samples")})
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
