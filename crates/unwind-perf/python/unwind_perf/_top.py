"""Functions and other groups with the highest costs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Union

from ._option_types import OptionsOfAnyEvent, PathLike
from ._options import checked
from ._program import Run, input_arguments, options_argument
from ._tables import require_pyarrow

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._recording import Recording

Patterns = Union[str, Iterable[str]]


def top(
    recording: "Union[Recording, PathLike]",
    *,
    by: str = "function",
    weight: str = "samples",
    event: Optional[str] = None,
    sort: Literal["own", "inclusive"] = "own",
    kernel_frames: bool = False,
    focus: Patterns = (),
    ignore: Patterns = (),
    hide: Patterns = (),
    charge_to_caller: Patterns = (),
    show_module: Patterns = (),
    collapse_recursion: bool = False,
    timeout: Optional[float] = None,
    **options: "Unpack[OptionsOfAnyEvent]",
) -> "pa.Table":
    """Returns the functions, or modules, lines, threads, …, with the highest costs, as ``unwind-perf top`` counts them.

    Columns: those of ``by`` (``function``, ``mark`` and ``module`` of functions), then ``own``, ``inclusive``,
    ``own_share``, ``inclusive_share``, ``own_samples`` and ``inclusive_samples``.

    ``by`` can also be a label, ``field:NAME`` or a variable ``FUNCTION(PATH)``. Its columns are ``value`` and ``missing``,
    the keyword of the reason that samples have no value. ``weight`` can be a field of numbers or the name of spans.

    Samples of one event are counted: the named one, else the first with samples. A function that occurs in a stack more
    than once is counted once. ``kernel_frames`` shows functions of the kernel in times off the processor. ``by``,
    ``weight`` and ``sort`` are values of the program's options. The program reads the recording again, or finds the
    profile of an earlier run, with the options of a :class:`Recording`. ``focus``, ``ignore``, ``hide``, ``charge_to_caller``
    and ``show_module`` are regular expressions, one or several. The other keywords are options of the run, by the names
    in docs/OPTIONS.md.
    """
    require_pyarrow()
    words = ["top", f"--by={by}", f"--weight={weight}", f"--sort={sort}"]
    words += ["--kernel-frames"] if kernel_frames else []
    words += function_arguments(focus, ignore, hide, charge_to_caller, show_module, collapse_recursion)
    return _table(counted(words, recording, event, timeout, options), by)


def function_arguments(
    focus: Patterns,
    ignore: Patterns,
    hide: Patterns,
    charge_to_caller: Patterns,
    show_module: Patterns,
    collapse_recursion: bool,
) -> List[str]:
    """Returns the arguments that filter functions."""
    patterns = {
        "--focus": focus,
        "--ignore": ignore,
        "--hide": hide,
        "--charge-to-caller": charge_to_caller,
        "--show-module": show_module,
    }
    given = [(option, [texts] if isinstance(texts, str) else texts) for option, texts in patterns.items()]
    flags = ["--collapse-recursion"] if collapse_recursion else []
    return flags + [f"{option}={text}" for option, texts in given for text in texts]


def recorded(recording: "Union[Recording, PathLike]", options: Mapping[str, Any]) -> "tuple[PathLike, Dict[str, Any]]":
    """Returns the path of a recording, and the options of a run on it."""
    if isinstance(recording, (str, bytes, os.PathLike)):
        return recording, dict(options)
    return recording.path, {**recording.options, **options}


def counted(
    words: List[str],
    recording: "Union[Recording, PathLike]",
    event: Optional[str],
    timeout: Optional[float],
    options: Mapping[str, Any],
    operands: Sequence[str] = (),
) -> Dict[str, Any]:
    """Runs a command that counts samples of one event; ``operands`` precede the recording. Returns its JSON."""
    path, given = recorded(recording, options)
    if event is not None:
        if not isinstance(recording, (str, bytes, os.PathLike)):
            names: List[str] = recording.events["name"].to_pylist()
            if event not in names:
                raise ValueError(f"no event {event!r}; there are {', '.join(names)}")
        given["event"] = [event]
    mark, name = input_arguments(path)
    command = [words[0], "--quiet", "--format=json", *words[1:], options_argument(), mark, *operands, name]
    with Run(command, timeout, options=checked(given)) as run:
        text = run.output.read()
        run.finish()
    document: Dict[str, Any] = json.loads(text)
    return document


def name_unknown(rows: List[Dict[str, Any]]) -> None:
    """Names functions that are unknown by their module."""
    for row in rows:
        if row["function"] is None:
            row["function"] = f"[unknown] in {row['module']}" if row["module"] else "[unknown]"


def value_type(rows: List[Dict[str, Any]]) -> "pa.DataType":
    """Returns the type of a column of values: integers, or text."""
    import pyarrow as pa

    values = [row["value"] for row in rows if row.get("value") is not None]
    if not values or isinstance(values[0], str):
        return pa.string()
    return pa.uint64() if all(value >= 0 for value in values) else pa.int64()


_KEYS = {
    "function": ("function", "mark", "module"),
    "module": ("module",),
    "line": ("file", "line", "function", "module"),
    "thread": ("thread", "pid", "tid"),
    "process": ("process", "pid"),
    # The following groups have one column with their own name, all others those of values.
    **{name: (name,) for name in ("comm", "cgroup", "event", "cpu", "wait")},
}
_VALUES = ("value", "missing")
_NUMBERS = ("line", "pid", "tid", "cpu")


def _table(document: Dict[str, Any], by: str) -> "pa.Table":
    import pyarrow as pa

    rows: List[Dict[str, Any]] = document["rows"]
    if by == "function":
        name_unknown(rows)
    types = {name: pa.int64() if name in _NUMBERS else pa.string() for name in _KEYS.get(by, _VALUES)}
    if "value" in types:
        types["value"] = value_type(rows)
    types.update({name: pa.uint64() for name in ("own", "inclusive")})
    types.update({name: pa.float64() for name in ("own_share", "inclusive_share")})
    types.update({name: pa.uint64() for name in ("own_samples", "inclusive_samples")})
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
