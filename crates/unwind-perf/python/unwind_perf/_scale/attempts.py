"""The rows of a recording of which nothing is known: run again where a run may be at fault, and a word for how it ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from .._errors import UnwindPerfError
from .._options import PathLike, as_dict
from .._program import Run, input_arguments, options_argument
from .rows import Account, plain, plain_schema, row_schema

if TYPE_CHECKING:
    import pyarrow as pa

    #: Takes the rows of an attempt; what an earlier attempt gave is void.
    Sink = Callable[["pa.Schema", Iterator["pa.RecordBatch"]], None]

# The status of a run without output, whatever is tried again.
_NO_OUTPUT = 2


class Outcome(NamedTuple):
    """How the attempts ended."""

    #: ``ok``, ``damaged`` (rows are missing or have no names), ``unreadable`` (no rows) or ``gave-up`` (no rows).
    status: str
    #: What the program said of it, or nothing.
    message: str
    #: Runs of the program.
    attempts: int
    samples: int = 0
    complete_share: float = 0.0
    findings: List[Dict[str, Any]] = []
    modules: List[Dict[str, Any]] = []


def attempt(path: PathLike, options: str, sink: "Sink", retries: int, timeout: Optional[float]) -> Outcome:
    """Gives the rows to ``sink``, with the ``options`` of :func:`checked`.

    A run that a signal or the timeout ends, or whose output breaks off, is repeated up to ``retries`` times. Exit status 2
    is the program's judgement and is not.
    """
    message = ""
    for count in range(1, retries + 2):
        try:
            return _once(path, options, sink, timeout)._replace(attempts=count)
        except UnwindPerfError as error:
            message = error.message
            if error.code != _NO_OUTPUT:
                continue
            if not _nothing_wanted(message, options):
                return Outcome("unreadable", message, count)
            sink(row_schema(), iter(()))
            return Outcome("ok", message, count)
    return Outcome("gave-up", message, retries + 1)


def _nothing_wanted(message: str, options: str) -> bool:
    """Whether all is well, but the recording has nothing of what is wanted.

    Where one of several events is not there, the program refuses them all: samples of the others may be there.
    """
    events = as_dict(options).get("event", ())
    unknown = len(events) == 1 and message.startswith("--event ")
    return unknown or message.startswith("no sample passes the filters")


def _once(path: PathLike, options: str, sink: "Sink", timeout: Optional[float]) -> Outcome:
    import pyarrow as pa

    account = Account()
    command = ["--quiet", "--format=arrow", "--rows", options_argument(), *input_arguments(path)]
    with Run(command, timeout, options=options) as run:
        # What breaks in the sink is not the program's.
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
        # The columns of the manifest's table.
        findings = [{key: one[key] for key in ("kind", "count", "message")} for one in summary["findings"]]
        return Outcome(status, message, 1, account.samples, share, findings, account.modules)


def _reason(run: Run, broken: Exception) -> UnwindPerfError:
    """Why there is no stream, or no more of it."""
    try:
        run.finish()
    except UnwindPerfError as error:
        return error
    return UnwindPerfError(0, f"the program's output is not understood: {broken}")
