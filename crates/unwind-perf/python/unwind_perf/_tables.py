"""Presence of pyarrow, which all tables need."""

from __future__ import annotations


def require_pyarrow() -> None:
    """Imports pyarrow. Raises ``ModuleNotFoundError`` with the command that installs it."""
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        message = "tables need pyarrow: pip install 'unwind-perf[tables]'"
        raise ModuleNotFoundError(message, name="pyarrow") from error
