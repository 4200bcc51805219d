"""Runs of the program, and their results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Union

from ._errors import UnwindPerfError
from ._option_types import Options, PathLike
from ._options import checked
from ._program import Run, input_arguments, options_argument
from ._progress import shown
from ._tables import require_pyarrow

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._recording import Recording


def read(
    path: PathLike,
    *,
    timeout: Optional[float] = None,
    progress: Optional[bool] = None,
    **options: "Unpack[Options]",
) -> "Recording":
    """Reads a recording with all of its tables.

    ``timeout``: seconds after which the run is ended. ``progress``: whether to show progress; by default, in notebooks
    only. The other keywords are options of the run, by the names in docs/OPTIONS.md.

    Raises :class:`UnwindPerfError` if there is no result. For a partly damaged recording, ``damaged`` is set and
    ``findings`` describes the damage.
    """
    require_pyarrow()
    from ._recording import Recording

    tables, damaged = _tables(path, checked(options), timeout, progress)
    return Recording(path, dict(options), tables, damaged)


def _tables(
    path: PathLike, options: str, timeout: Optional[float], progress: Optional[bool]
) -> "tuple[Dict[str, pa.Table], bool]":
    import pyarrow as pa

    tables: Dict[str, "pa.Table"] = {}
    command = ["--quiet", "--format=arrow", options_argument(), *input_arguments(path)]
    with shown(progress) as tell, Run(command, timeout, tell, options) as run:
        try:
            # Streams follow each other; a stream is at least as long as its first marker.
            while run.output.peek(1):  # type: ignore[attr-defined]
                table = pa.ipc.open_stream(run.output).read_all()
                tables[table.schema.metadata[b"unwind_perf.table"].decode()] = table
        except (pa.ArrowInvalid, OSError) as broken:
            _explain(run, broken)
        return tables, run.finish()


def scan(
    path: PathLike,
    *,
    batch_rows: int = 65536,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> "pa.RecordBatchReader":
    """Returns one row per sample with its frames as a list, in batches of at most ``batch_rows`` rows.

    Only one batch is in memory at a time. Any consumer of Arrow streams accepts the reader: pyarrow, polars, pandas,
    DuckDB. Dropping the reader early ends the run.
    """
    require_pyarrow()
    import pyarrow as pa

    if batch_rows < 1:
        raise ValueError("batch_rows has to be at least 1")
    command = ["--quiet", "--format=arrow", "--rows", options_argument(), *input_arguments(path)]
    run = Run(command, timeout, options=checked(options))
    try:
        stream = pa.ipc.open_stream(run.output)
    except (pa.ArrowInvalid, OSError) as broken:
        with run:
            _explain(run, broken)
    except BaseException:
        run.close()
        raise

    def batches() -> Iterator["pa.RecordBatch"]:
        with run:
            try:
                for batch in stream:
                    for start in range(0, batch.num_rows, batch_rows):
                        yield batch.slice(start, batch_rows)
            except (pa.ArrowInvalid, OSError) as broken:
                _explain(run, broken)
            run.finish()

    return pa.RecordBatchReader.from_batches(stream.schema, batches())


def _explain(run: Run, broken: Exception) -> None:
    """Raises the reason for a missing or truncated stream."""
    run.finish()
    raise UnwindPerfError(0, f"the program's output is not understood: {broken}") from broken


def folded(
    path: PathLike,
    *,
    weight: str = "samples",
    root: str = "comm",
    reverse: bool = False,
    keep_unrooted: bool = False,
    kernel_suffix: bool = False,
    kernel_frames: bool = False,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> "pa.Table":
    """Returns the distinct stacks of one event: ``stack`` (functions from the outermost on, separated by ``;``) and
    ``weight``.

    ``weight``: ``"samples"``, ``"period"``, ``"off-cpu"``, a field of numbers, or the name of spans. ``root`` is the
    outermost frame: ``"comm"``, ``"process"``, ``"thread"``, ``"none"``, a label, ``field:NAME`` or ``FUNCTION(PATH)``.
    With ``reverse``, stacks start with the innermost function. Incomplete stacks are below one ``[truncated]``, unless
    ``keep_unrooted``. ``kernel_suffix`` marks kernel functions with ``_[k]``; ``kernel_frames`` shows them in times off the
    processor.
    """
    require_pyarrow()
    import pyarrow as pa

    flags = {"--reverse": reverse, "--keep-unrooted": keep_unrooted, "--kernel-suffix": kernel_suffix}
    flags["--kernel-frames"] = kernel_frames
    words = [flag for flag, is_given in flags.items() if is_given]
    command = ["--quiet", "--format=folded", f"--weight={weight}", f"--root={root}", *words]
    command += [options_argument(), *input_arguments(path)]
    stacks: List[str] = []
    weights: List[int] = []
    with Run(command, timeout, options=checked(options)) as run:
        for line in run.output:
            stack, _, number = line.rstrip(b"\n").rpartition(b" ")
            stacks.append(stack.decode("utf-8", "replace"))
            weights.append(int(number))
        run.finish()
    return pa.table({"stack": pa.array(stacks, pa.string()), "weight": pa.array(weights, pa.uint64())})


def diff(
    before: Union[PathLike, Sequence[PathLike]],
    after: Union[PathLike, Sequence[PathLike]],
    *,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> "pa.Table":
    """Compares recordings, or groups of them, with one row per function. Functions with a significant change of their
    own cost come first, then those with the largest change.

    Columns: ``function``, and for its own and its inclusive cost ``…_before``, ``…_after``, ``…_delta``, ``…_ratio``,
    the confidence interval ``…_low`` to ``…_high`` of the change, ``…_p``, and ``…_marked``: whether the change is
    significant. The remaining facts are JSON in the schema's metadata, under the key ``unwind_perf.diff``.
    """
    require_pyarrow()
    sides = [[side] if isinstance(side, (str, bytes)) or hasattr(side, "__fspath__") else list(side) for side in (before, after)]
    command = ["diff", "--quiet", "--format=json", options_argument()]
    command += [word for one in sides[0] for word in input_arguments(one)[1:]]
    command += ["--", *(word for one in sides[1] for word in input_arguments(one)[1:])]
    with Run(command, timeout, options=checked(options)) as run:
        text = run.output.read()
        run.finish()
    return _diff_table(json.loads(text))


def _diff_table(document: Dict[str, Any]) -> "pa.Table":
    import pyarrow as pa

    functions = document.pop("functions")
    functions.sort(key=lambda one: (not one["own"]["marked"], -abs(one["own"]["delta"]), -abs(one["inclusive"]["delta"])))
    document.pop("stacks", None)
    columns: Dict[str, "pa.Array"] = {"function": pa.array([one["name"] for one in functions], pa.string())}
    for cost in ("own", "inclusive"):
        for side in ("before", "after"):
            values = [one[cost][side]["value"] for one in functions]
            columns[f"{cost}_{side}"] = pa.array(values, pa.float64())
        for name in ("delta", "ratio", "low", "high", "p"):
            columns[f"{cost}_{name}"] = pa.array([one[cost].get(name) for one in functions], pa.float64())
        columns[f"{cost}_marked"] = pa.array([one[cost]["marked"] for one in functions], pa.bool_())
    table = pa.table(columns)
    return table.replace_schema_metadata({"unwind_perf.diff": json.dumps(document)})
