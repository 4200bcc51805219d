"""Errors of runs."""

from __future__ import annotations

from typing import Any, Mapping, Sequence


class UnwindPerfError(Exception):
    """A run without a result.

    ``code`` is the program's exit status (2: no output, for the reason in the message), or the negative number of the
    signal that ended it. ``findings`` lists the known defects of the recording.
    """

    def __init__(self, code: int, message: str, findings: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.findings = list(findings)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling, used by multiprocessing, calls the constructor with these arguments.
        return (type(self), (self.code, self.message, self.findings))
