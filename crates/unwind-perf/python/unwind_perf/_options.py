"""Options of a run, as keywords. The program knows their names and values.

A keyword is the name of an option in docs/OPTIONS.md of the project, such as ``pid``, ``comm``, ``time``, ``inlines``,
``join``, ``sysroot``, ``debug_dirs``, ``path_map``, ``map`` or ``max_memory``.
A list may be a single value. A mapping stands for a list of pairs. A time is text or its two ends in seconds. ``None``
is the default.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from typing import Any, Dict, Iterable, Mapping

from ._errors import MissingFileError, failure_line
from ._program import environment, program

_UNKNOWN = "unknown option "
# Options whose values are folders. The program refuses a run without one of them.
_FOLDERS = ("sysroot", "debug_dirs", "extra_dirs", "perf_map_dirs", "source_dirs")


def checked(options: Mapping[str, object]) -> str:
    """Returns the options in the program's form: a JSON object, without defaults, with absolute paths.

    Raises ``TypeError`` for an unknown option and ``ValueError`` for an invalid value.
    """
    text = json.dumps({name: _plain(value) for name, value in options.items() if value is not None})
    return _checked(program(), os.getcwd(), text) if text != "{}" else text


def require_folders(options: str) -> None:
    """Checks that the folders of :func:`checked` options exist. Raises :class:`MissingFileError` for the first that does
    not, before a run on any recording."""
    for name, folders in as_dict(options).items():
        for folder in folders if name in _FOLDERS else ():
            path = os.fsdecode(bytes.fromhex(folder["hex"])) if isinstance(folder, dict) else folder
            if not os.path.isdir(path):
                raise MissingFileError(2, f"option {name!r}: {path}: not a directory", filename=path)


def as_dict(options: str) -> Dict[str, Any]:
    """Returns the options of :func:`checked` as keywords that are valid in any folder."""
    keywords: Dict[str, Any] = json.loads(options)
    return keywords


@functools.lru_cache(maxsize=256)
def _checked(path: str, folder: str, text: str) -> str:
    """Checks options with the program. The result depends on the folder, since paths may be relative to it."""
    command = [path, "options-json"]
    run = subprocess.run(command, input=text.encode(), capture_output=True, cwd=folder, check=False, env=environment())
    if run.returncode == 0:
        return run.stdout.decode().strip()
    lines = run.stderr.decode("utf-8", "replace").splitlines()
    failures = [failure for failure in map(failure_line, lines) if failure is not None]
    message: str = failures[0]["message"] if failures else "".join(lines[-1:])
    raise (TypeError if message.startswith(_UNKNOWN) else ValueError)(message)


def _plain(value: object, inner: bool = False) -> Any:
    """Returns a value in JSON form. Text that is not valid Unicode, such as a file name, becomes hexadecimal digits."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        value = os.fsencode(value) if any("\ud800" <= letter <= "\udfff" for letter in value) else value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"hex": value.hex()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        if inner:
            return dict(value)
        return [[_plain(one, True) for one in pair] for pair in value.items()]
    if isinstance(value, Iterable):
        return [_plain(one, True) for one in value]
    # Numbers of numpy and similar libraries.
    return value.item() if hasattr(value, "item") else str(value)
