"""Errors of runs."""

from __future__ import annotations

import errno
import json
from typing import Any, Dict, Mapping, Optional, Sequence


class UnwindPerfError(Exception):
    """A run without a result.

    ``code`` is the program's exit status (2: no output, for the reason in the message), or the negative number of the
    signal that ended it. ``findings`` lists the known defects of the recording. ``cause`` is the keyword of the cause in
    docs/OUTPUT.md of the project, such as ``call`` or ``not-a-recording``; ``None`` if the program stated none.
    """

    def __init__(
        self, code: int, message: str, findings: Sequence[Mapping[str, Any]] = (), cause: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.findings = list(findings)
        self.cause = cause

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> "tuple[Any, ...]":
        # Pickling, used by multiprocessing, calls the constructor with these arguments.
        return (type(self), (self.code, self.message, self.findings, self.cause))


class CallError(UnwindPerfError, ValueError):
    """A wrong call, or an unusable setting of this machine: the run would fail on any recording."""


class MissingFileError(UnwindPerfError, FileNotFoundError):
    """A recording, or a file or folder of an option, does not exist. ``filename`` is its path, if known."""

    def __init__(
        self,
        code: int,
        message: str,
        findings: Sequence[Mapping[str, Any]] = (),
        cause: Optional[str] = "missing",
        filename: Optional[str] = None,
    ) -> None:
        super().__init__(code, message, findings, cause)
        self.errno = errno.ENOENT
        self.strerror = message
        self.filename = filename

    def __reduce__(self) -> "tuple[Any, ...]":
        return (type(self), (self.code, self.message, self.findings, self.cause, self.filename))


def failure_line(line: str) -> Optional[Dict[str, Any]]:
    """Returns the program's line of JSON about an error; ``None`` if the line is another one."""
    if not line.startswith("{"):
        return None
    try:
        failure = json.loads(line)
    except ValueError:
        return None
    return failure if isinstance(failure, dict) and "error" in failure else None


def error_of(code: int, failure: Mapping[str, Any]) -> UnwindPerfError:
    """Returns the exception for an exit status and the program's line about the error."""
    cause, message, findings = failure["error"], failure["message"], failure.get("findings", ())
    if cause == "missing":
        return MissingFileError(code, message, findings, cause, failure.get("path"))
    return (CallError if cause == "call" else UnwindPerfError)(code, message, findings, cause)
