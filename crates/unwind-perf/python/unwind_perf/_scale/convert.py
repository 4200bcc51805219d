"""Conversion of one recording to a file of rows, at most once: the program's command ``convert``, for loops over many
recordings, on one host or on many."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, Collection, ContextManager, Dict, Iterator, List, Optional

from .._errors import UnwindPerfError
from .._option_types import Options, PathLike
from .._options import as_dict, checked, require_folders
from .._program import Run, input_arguments, options_argument

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Schemes of stores of objects, as in the program.
_URL = re.compile(r"(s3a?|gs|az|abfss?|https?)://", re.IGNORECASE)


def convert(
    path: PathLike,
    out: PathLike,
    *,
    retries: int = 2,
    timeout: Optional[float] = None,
    redo: Collection[str] = (),
    **options: "Unpack[Options]",
) -> Dict[str, Any]:
    """Writes the rows of a recording to ``out/v2/date=DAY/recording_sha256=SHA256/opts=HASH/part.parquet``; returns its
    manifest.

    The folder name contains hashes of the recording's bytes, and of the options and the program's version. The work is
    therefore done only once, regardless of the order and number of calls. An existing ``_manifest.json`` is returned if
    its ``status`` is final (``ok``, ``damaged`` or ``not-a-recording``) and not one of ``redo``. It is written last.
    docs/SCALE.md of the project describes its contents. ``path`` and ``out`` may be URLs if the program was built with
    the feature ``urls``.

    ``retries``: number of repetitions of a run that was killed or took more than ``timeout`` seconds. The other
    keywords are options of the run. Invalid options (``TypeError``, ``ValueError``), a missing folder of an option
    (``FileNotFoundError``) and an unusable ``out`` (``OSError``) raise an exception; a missing or defective recording
    never does.
    """
    given = checked(options)
    require_folders(given)
    return converted(path, out, given, retries, timeout, redo)


def converted(
    path: PathLike, out: PathLike, given: str, retries: int, timeout: Optional[float], redo: Collection[str] = ()
) -> Dict[str, Any]:
    """Runs the command with the options of :func:`checked`. Returns the manifest."""
    # The command has one thread for each of many recordings.
    run_options = {"jobs": len(os.sched_getaffinity(0)), **as_dict(given)}
    command = ["convert", "--quiet", "--at-once=1", f"--out={os.fsdecode(out)}", f"--retries={retries}"]
    if timeout is not None:
        command.append(f"--timeout={timeout}")
    if redo:
        command.append(f"--redo={','.join(redo)}")
    is_url = _URL.match(os.fsdecode(path)) is not None
    source: ContextManager[List[str]] = _listed(path) if is_url else contextlib.nullcontext(input_arguments(path))
    with source as words, Run([*command, options_argument(), *words], options=json.dumps(run_options)) as run:
        line = run.output.read()
        if run.wait() not in (0, 1) or not line:
            raise _error(run)
    manifest: Dict[str, Any] = json.loads(line)
    if is_url:
        return manifest
    # Only Python's text can represent a path that is not UTF-8.
    return {**manifest, "path": os.path.abspath(os.fsdecode(path))}


@contextlib.contextmanager
def _listed(url: PathLike) -> Iterator[List[str]]:
    """Arguments for a recording at a URL. A signed URL is a secret, and every user can see arguments: a list has it."""
    descriptor = os.memfd_create("unwind-perf")
    try:
        os.write(descriptor, os.fsencode(url))
        yield ["-0", f"--list=/proc/{os.getpid()}/fd/{descriptor}"]
    finally:
        os.close(descriptor)


def _error(run: Run) -> Exception:
    """Returns the exception for a call without a manifest."""
    failure = run.failure
    if failure is not None and failure["error"] == "output" and failure.get("errno"):
        return OSError(failure["errno"], failure["message"], failure.get("path"))
    error: UnwindPerfError = run.error(run.wait())
    return error
