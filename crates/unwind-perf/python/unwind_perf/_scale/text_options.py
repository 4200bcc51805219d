"""Options as text, the form that engines pass on: each with the name of its keyword."""

from __future__ import annotations

import glob
import json
import os
import re
from typing import Any, Callable, Dict, List, Mapping

from .._options import as_dict, checked

# Keywords that are not options of a run.
_OWN: Dict[str, Callable[[str], Any]] = {
    "batch_rows": int,
    "recordings_per_task": int,
    "retries": int,
    "timeout": float,
}
_TRUTH = {"true": True, "false": False}


def options_of_text(texts: Mapping[str, str]) -> Dict[str, Any]:
    """Returns the keywords. Lists and objects are JSON. Raises ``ValueError`` for an unknown name or an invalid value.

    Paths become absolute, since executors run in other folders.
    """
    own = {name: _read(name, _OWN[name], text) for name, text in texts.items() if name in _OWN}
    run = {name: _read(name, _value, text) for name, text in texts.items() if name not in _OWN}
    try:
        return {**own, **as_dict(checked(run))}
    except TypeError as error:
        raise ValueError(str(error)) from error


def _read(name: str, read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"option {name!r}: {text!r}: {error}") from error


def _value(text: str) -> Any:
    return json.loads(text) if text.startswith(("[", "{")) else text


def _words(text: str) -> List[str]:
    if not text.startswith("["):
        return [text]
    values = json.loads(text)
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a list of text is expected")
    return list(values)


def truth(text: str) -> bool:
    """Parses ``true`` or ``false``."""
    if text.lower() not in _TRUTH:
        raise ValueError("true or false is expected")
    return _TRUTH[text.lower()]


def recordings_of_text(texts: List[str]) -> List[str]:
    """Returns the recordings that paths, patterns, folders, or JSON lists of them name, in order and without duplicates.

    Raises ``ValueError`` if a pattern or a folder has no recording, and for addresses of other stores.
    """
    found: Dict[str, None] = {}
    for text in texts:
        for word in _words(text):
            path = _local(word)
            there = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
            there = [one for name in there for one in _in_folder(name)]
            if not there:
                raise ValueError(f"no recording matches {word!r}")
            found.update((os.path.abspath(one), None) for one in there)
    return list(found)


def _local(word: str) -> str:
    """Returns the path of a word, which may be a ``file:`` address."""
    if word.startswith("file:"):
        path = word[len("file:") :]
        return path[2:] if path.startswith("///") else path
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", word) and not os.path.exists(word):
        raise ValueError(
            f"{word!r} is not a local path: mount the store, or copy the recordings to a folder of all executors; "
            "unwind-perf convert reads URLs if it was built with the feature urls"
        )
    return word


def _in_folder(path: str) -> List[str]:
    """Returns the files of a folder, as engines do: without those whose name begins with an underscore or a dot.

    A folder of ``perf record --threads`` is a recording itself.
    """
    if not os.path.isdir(path) or os.path.isfile(os.path.join(path, "data")):
        return [path]
    names = sorted(name for name in os.listdir(path) if not name.startswith(("_", ".")))
    files = (os.path.join(path, name) for name in names)
    return [file for file in files if os.path.isfile(file)]
