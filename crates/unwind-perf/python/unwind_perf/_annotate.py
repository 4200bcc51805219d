"""Source lines and instructions of a function with their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Union

from ._option_types import OptionsOfAnyEvent, PathLike
from ._tables import require_pyarrow
from ._top import Patterns, counted, function_arguments

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._recording import Recording

_COSTS = ("own", "inclusive", "own_samples", "inclusive_samples")


class Annotation(NamedTuple):
    """A function with the costs of its lines and instructions."""

    #: Its name; ``None`` if it is unknown.
    function: Optional[str]
    #: Distinguishes functions of one name.
    mark: Optional[str]
    module: Optional[str]
    own: int
    inclusive: int
    #: Cost of all counted samples.
    total: int
    #: ``file``, ``line``, ``text`` (null if the file was not found) and costs, for lines with a cost.
    lines: "pa.Table"
    #: ``address`` in the file, ``length`` in bytes, ``text`` and costs, for all instructions.
    instructions: "pa.Table"


def annotate(
    recording: "Union[Recording, PathLike]",
    function: str,
    *,
    code: bool = True,
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
) -> Annotation:
    """Returns the costs of a function's lines and instructions, as ``unwind-perf annotate`` counts them.

    ``function`` is a name or a part of it; of several functions, it is the costliest. ``FILE:NAME``, an address or the
    mark of :func:`top` selects one. Without ``code``, there are no instructions. The costs are ``own``, ``inclusive``,
    ``own_samples`` and ``inclusive_samples``. The other keywords are those of :func:`top`.
    """
    require_pyarrow()
    import pyarrow as pa

    words = ["annotate", f"--weight={weight}", *([] if code else ["--no-code"])]
    words += ["--kernel-frames"] if kernel_frames else []
    words += function_arguments(focus, ignore, hide, charge_to_caller, show_module, collapse_recursion)
    document = counted(words, recording, event, timeout, options, [function])

    def table(rows: List[Dict[str, Any]], types: "Dict[str, pa.DataType]") -> "pa.Table":
        types.update({name: pa.uint64() for name in _COSTS})
        return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})

    facts = {name: document[name] for name in Annotation._fields if name not in ("lines", "instructions")}
    lines = table(document["lines"], {"file": pa.string(), "line": pa.int64(), "text": pa.string()})
    kinds = {"address": pa.uint64(), "length": pa.uint8(), "text": pa.string()}
    return Annotation(**facts, lines=lines, instructions=table(document["instructions"], kinds))
