"""Options of a run, as keywords. The program knows their names and values; nothing of them is listed here.

A keyword is the name of an option in docs/OPTIONS.md of the project: ``pid``, ``comm``, ``time``, ``inlines``, ``join``,
``sysroot``, ``debug_dirs``, ``path_map``, ``map``, ``max_memory``, …
A list may be one value, a mapping is a list of pairs, a time is text or its two ends in seconds, ``None`` is the default.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from typing import Any, Dict, Iterable, Mapping, Union

from ._program import program

PathLike = Union[str, "os.PathLike[str]"]

#: Keywords of :func:`read`, :func:`scan`, :func:`folded`, :func:`diff` and :func:`convert`: options by their names.
Options = Dict[str, Any]

_UNKNOWN = "unknown option "


def checked(options: Mapping[str, object]) -> str:
    """The options as the program states them: a JSON object, without defaults, with absolute paths.

    An unknown option is a ``TypeError``, a value that means nothing a ``ValueError``.
    """
    text = json.dumps({name: _plain(value) for name, value in options.items() if value is not None})
    return _checked(program(), os.getcwd(), text) if text != "{}" else text


def as_dict(options: str) -> Dict[str, Any]:
    """The options of :func:`checked` as keywords that mean the same in any folder."""
    keywords: Dict[str, Any] = json.loads(options)
    return keywords


@functools.lru_cache(maxsize=256)
def _checked(path: str, folder: str, text: str) -> str:
    """Asks the program. Its answer depends on the folder, to which relative paths belong."""
    run = subprocess.run([path, "options-json"], input=text.encode(), capture_output=True, cwd=folder, check=False)
    if run.returncode == 0:
        return run.stdout.decode().strip()
    message = run.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].partition(": ")[2]
    raise (TypeError if message.startswith(_UNKNOWN) else ValueError)(message)


def _plain(value: object, inner: bool = False) -> Any:
    """The value as JSON has it. Text that is no Unicode, such as the name of a file, is hexadecimal digits."""
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
    # Numbers of numpy and its like.
    return value.item() if hasattr(value, "item") else str(value)
