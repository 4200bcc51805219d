"""Rows of an unverified recording: repeats a run that may have failed by chance, and states how it ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from .._errors import MissingFileError, UnwindPerfError
from .._option_types import PathLike
from .._options import as_dict
from .._program import Run, input_arguments, options_argument
from .rows import Account, plain, plain_schema, row_schema

if TYPE_CHECKING:
    import pyarrow as pa

    #: Consumer of an attempt's rows; the rows of earlier attempts are void.
    Sink = Callable[["pa.Schema", Iterator["pa.RecordBatch"]], None]

# Exit status of a run without output, which an immediate retry would not change.
_NO_OUTPUT = 2
# Causes that are not about the recording, and the one that no other call would change.
_NOT_ITS_FAULT = ("call", "missing")
_NO_RECORDING = "not-a-recording"


class Outcome(NamedTuple):
    """Outcome of the attempts."""

    #: ``ok``, ``damaged`` (rows or names are missing), or without rows ``not-a-recording``, ``unreadable`` or ``gave-up``.
    status: str
    #: Message of the program, or empty.
    message: str
    #: Number of runs.
    attempts: int
    samples: int = 0
    complete_share: float = 0.0
    findings: List[Dict[str, Any]] = []
    modules: List[Dict[str, Any]] = []


def attempt(path: PathLike, options: str, sink: "Sink", retries: int, timeout: Optional[float]) -> Outcome:
    """Passes the rows to ``sink``, with the ``options`` of :func:`checked`.

    A run that a signal or the timeout ends, or that truncates its output, is repeated up to ``retries`` times, but not
    one with exit status 2, which has a reason. Raises :class:`UnwindPerfError` if the reason is a wrong call, or a missing
    file other than the recording.
    """
    message = ""
    for count in range(1, retries + 2):
        try:
            return _once(path, options, sink, timeout)._replace(attempts=count)
        except UnwindPerfError as error:
            message = error.message
            if error.code != _NO_OUTPUT:
                continue
            if _nothing_wanted(error.cause, options):
                sink(row_schema(), iter(()))
                return Outcome("ok", message, count)
            if error.cause in _NOT_ITS_FAULT and not _lacks(path, error):
                raise
            status = _NO_RECORDING if error.cause == _NO_RECORDING else "unreadable"
            return Outcome(status, message, count)
    return Outcome("gave-up", message, retries + 1)


def _lacks(path: PathLike, error: UnwindPerfError) -> bool:
    """Returns true if the error is that the recording, or a file in its folder, does not exist."""
    recording = os.path.abspath(os.fsdecode(path))
    missing = os.path.abspath(error.filename or "/") if isinstance(error, MissingFileError) else "/"
    return not os.path.exists(recording) or missing == recording or missing.startswith(recording + os.sep)


def _nothing_wanted(cause: Optional[str], options: str) -> bool:
    """Returns true if the recording is valid but contains no wanted sample.

    If one of several events is missing, the program rejects the call, although the others may have samples.
    """
    return cause == "no-samples" or (cause == "unknown-event" and len(as_dict(options).get("event", ())) == 1)


def _once(path: PathLike, options: str, sink: "Sink", timeout: Optional[float]) -> Outcome:
    import pyarrow as pa

    account = Account()
    command = ["--quiet", "--format=arrow", "--rows", options_argument(), *input_arguments(path)]
    with Run(command, timeout, options=options) as run:
        # Errors in the sink are not errors of the program.
        try:
            stream = pa.ipc.open_stream(run.output)
        except (pa.ArrowInvalid, OSError) as broken:
            raise _reason(run, broken) from broken

        def batches() -> Iterator["pa.RecordBatch"]:
            while True:
                try:
                    batch = stream.read_next_batch()
                except StopIteration:
                    return
                except (pa.ArrowInvalid, OSError) as broken:
                    raise _reason(run, broken) from broken
                account.add(batch)
                yield plain(batch)

        sink(plain_schema(stream.schema), batches())
        damaged = run.finish()
        summary = json.loads(stream.schema.metadata[b"unwind_perf.summary"])
        share = account.complete / account.samples if account.samples else 0.0
        status, message = ("damaged", run.message) if damaged else ("ok", "")
        # Columns of the manifest's table.
        findings = [{key: one[key] for key in ("kind", "count", "message")} for one in summary["findings"]]
        return Outcome(status, message, 1, account.samples, share, findings, account.modules)


def _reason(run: Run, broken: Exception) -> UnwindPerfError:
    """Returns the reason for a missing or truncated stream."""
    try:
        run.finish()
    except UnwindPerfError as error:
        return error
    return UnwindPerfError(0, f"the program's output is not understood: {broken}")
