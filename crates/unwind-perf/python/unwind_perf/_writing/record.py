"""New recordings by perf."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, NamedTuple, Optional, Sequence, TypedDict, Union

from .._errors import UnwindPerfError
from .._option_types import PathLike, Size
from .._program import Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Exit statuses of the program if it made no recording; others are those of the recorded command.
_FAILED = (2, 125, 126, 127)

Words = Union[str, Iterable[str]]
#: Seconds, or text such as ``"10m"``.
Duration = Union[int, str]


class RecordOptions(TypedDict, total=False):
    """Keywords of :func:`record`: the options of ``unwind-perf record`` by name."""

    pid: Union[int, Iterable[int], None]
    all_cpus: bool
    cgroup: Optional[PathLike]
    container: Optional[str]
    frequency: Optional[int]
    mmap_pages: Optional[Size]
    stack_size: Union[int, str, None]
    event: Optional[Words]
    probe: Optional[Words]
    off_cpu: bool
    perf: Optional[PathLike]
    unwind: bool
    no_compress: bool
    every: Optional[Duration]
    keep: Optional[int]
    max_size: Optional[Size]
    last: Optional[Duration]
    bundle: bool
    open: bool
    live: bool
    buildid_dir: Optional[PathLike]
    store_size: Optional[Size]
    no_store: bool
    quiet: bool
    verbose: bool


class Recorded(NamedTuple):
    """A recording that was made; functions such as :func:`read` take it as a path."""

    path: str
    #: Exit status of the recorded command.
    status: int

    def __fspath__(self) -> str:
        return self.path


def record(
    command: Sequence[PathLike] = (),
    output: PathLike = "perf.data",
    *,
    seconds: Optional[float] = None,
    **options: "Unpack[RecordOptions]",
) -> Recorded:
    """Records a command, or with ``pid``, ``all_cpus``, ``cgroup`` or ``container`` running processes, as
    ``unwind-perf record`` does.

    The recording ends with the command, after ``seconds``, or by an interrupt, and is complete in each case. The keywords
    are the command's options: ``frequency=99``, ``event=["cycles", "page-faults"]``, ``no_store=True``. The output of
    command and program goes to ``sys.stdout`` and ``sys.stderr``. With ``bundle``, the file ends in ``.upb``.

    Raises :class:`UnwindPerfError` if there is no recording.
    """
    target = os.fsdecode(output)
    words = ["record", f"--output={target}", *_arguments(options), "--", *map(os.fsdecode, command)]
    with Run(words) as run:
        timer = threading.Timer(seconds, run.send, [signal.SIGINT]) if seconds is not None else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            _pass_on(run)
            status = run.wait()
        finally:
            if timer is not None:
                timer.cancel()
        if status in _FAILED and (status != 2 or run.failure is not None):
            raise run.error(status)
        for line in run.lines:
            print(line, file=sys.stderr)
    if options.get("bundle") and not target.endswith(".upb"):
        target = os.path.splitext(target)[0] + ".upb"
    if not (os.path.exists(target) or options.get("every")):
        raise UnwindPerfError(status, f"there is no recording {target}")
    return Recorded(target, status)


def _pass_on(run: Run) -> None:
    """Prints the output of a run. An interrupt ends the recording, not the run."""
    while True:
        try:
            for line in run.output:
                sys.stdout.write(line.decode("utf-8", "replace"))
            return
        except KeyboardInterrupt:
            run.send(signal.SIGINT)


def _arguments(options: Mapping[str, Any]) -> List[str]:
    """Returns the options as arguments. Raises ``TypeError`` for an unknown one."""
    unknown = sorted(set(options) - set(RecordOptions.__annotations__))
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}")
    words: List[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [option] if value else []
        elif isinstance(value, int) and name in ("every", "last"):
            words.append(f"{option}={value}s")
        elif isinstance(value, (str, bytes, os.PathLike)):
            words.append(f"{option}={os.fsdecode(value)}")
        elif isinstance(value, Iterable):
            words += [f"{option}={one}" for one in value]
        elif value is not None:
            words.append(f"{option}={value}")
    return words
