"""What goes wrong."""

from __future__ import annotations

from typing import Any, Mapping, Sequence


class UnwindPerfError(Exception):
    """A run that has no result.

    ``code`` is the program's exit status (2: no output, for the reason that the message tells), or the negative number
    of the signal that ended it. ``findings`` is what is known to be wrong with the recording.
    """

    def __init__(self, code: int, message: str, findings: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.findings = list(findings)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers of other processes hand it on.
        return (type(self), (self.code, self.message, self.findings))
