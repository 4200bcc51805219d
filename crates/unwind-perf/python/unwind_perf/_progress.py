"""Progress of a run, in notebooks and on terminals."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional


@contextmanager
def shown(wanted: Optional[bool]) -> Iterator[Optional[Callable[[str], None]]]:
    """Yields a function that shows progress, or ``None`` if progress is not wanted. Clears the display after the
    run."""
    notebook = _notebook()
    if wanted is False or (wanted is None and notebook is None):
        yield None
        return
    if notebook is not None:
        handle = notebook({"text/plain": ""}, raw=True, display_id=True)

        def tell(text: str) -> None:
            handle.update({"text/plain": text}, raw=True)

        try:
            yield tell
        finally:
            tell("")
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _notebook() -> Optional[Callable[..., Any]]:
    """Returns the function that displays objects in a notebook; ``None`` outside notebooks."""
    shell = sys.modules.get("IPython")
    if shell is None or type(shell.get_ipython()).__name__ != "ZMQInteractiveShell":
        return None
    display: Callable[..., Any] = importlib.import_module("IPython.display").display
    return display
