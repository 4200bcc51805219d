"""Options as text, as engines pass them on: each with the name of its keyword."""

from __future__ import annotations

import glob
import json
import os
from typing import Any, Callable, Dict, List, Mapping

_NUMBERS = ("pid", "tid")
_NAMES = ("comm", "cgroup", "event")
_FOLDERS = ("sysroot", "debug_dirs", "buildid_dirs", "extra_dirs", "modules", "perf_map_dirs")
_TRUTH = {"true": True, "false": False}


def options_of_text(texts: Mapping[str, str]) -> Dict[str, Any]:
    """The keywords. Lists are JSON, or one value; an unknown name, or a value of no meaning, is a ``ValueError``.

    Paths become absolute: executors are in folders of their own.
    """
    return {name: _value(name, text) for name, text in texts.items()}


def _value(name: str, text: str) -> Any:
    read: Callable[[str], Any]
    if name in _NUMBERS:
        read = _numbers
    elif name in _NAMES:
        read = _words
    elif name in _FOLDERS:
        read = _paths
    elif name in ("inlines", "symbols"):
        read = truth
    elif name in ("join", "debuginfod"):
        read = _truth_or_word
    elif name in ("jobs", "max_frames", "retries", "batch_rows", "recordings_per_task"):
        read = int
    elif name in ("cache_size", "demangle", "max_memory", "time"):
        read = str
    elif name == "timeout":
        read = float
    elif name in ("cache", "kallsyms"):
        read = os.path.abspath
    elif name == "path_map":
        read = _map
    else:
        raise ValueError(f"unknown option {name!r}")
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"option {name!r}: {text!r}: {error}") from error


def _words(text: str) -> List[str]:
    if not text.startswith("["):
        return [text]
    values = json.loads(text)
    if not all(isinstance(value, str) for value in values):
        raise ValueError("a list of text is expected")
    return list(values)


def _numbers(text: str) -> List[int]:
    return [int(number) for number in text.strip("[] ").split(",")]


def _paths(text: str) -> List[str]:
    return [os.path.abspath(path) for path in _words(text)]


def truth(text: str) -> bool:
    """``true`` or ``false``."""
    if text.lower() not in _TRUTH:
        raise ValueError("true or false is expected")
    return _TRUTH[text.lower()]


def _truth_or_word(text: str) -> Any:
    return _TRUTH.get(text.lower(), text)


def _map(text: str) -> Dict[str, str]:
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(to, str) for to in value.values()):
        raise ValueError("an object of text is expected")
    return value


def recordings_of_text(texts: List[str]) -> List[str]:
    """The recordings that paths and patterns name, or JSON lists of them, in order and each once."""
    found: Dict[str, None] = {}
    for text in texts:
        for word in _words(text):
            path = word[len("file:") :] if word.startswith("file:") else word
            if path.startswith("///"):
                path = path[2:]
            there = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
            if not there:
                raise ValueError(f"no recording matches {word!r}")
            found.update((os.path.abspath(one), None) for one in there)
    return list(found)
