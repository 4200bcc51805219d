"""What can be asked of a run, as keywords; each stands for the option of the program that is called alike."""

from __future__ import annotations

import os
from typing import Iterable, List, Mapping, Tuple, TypedDict, Union

PathLike = Union[str, "os.PathLike[str]"]


class Options(TypedDict, total=False):
    """Keywords of :func:`read`, :func:`scan`, :func:`folded` and :func:`diff`."""

    pid: Union[int, Iterable[int]]
    """Only samples of these processes."""
    tid: Union[int, Iterable[int]]
    """Only samples of these threads."""
    comm: Union[str, Iterable[str]]
    """Only samples of threads of these names, which may be patterns (``"worker-*"``)."""
    cgroup: Union[str, Iterable[str]]
    """Only samples of these control groups."""
    event: Union[str, Iterable[str]]
    """Only samples of these events."""
    time: Union[str, Tuple[Union[float, None], Union[float, None]]]
    """Only samples of this time, in seconds of the recording's clock, or as text: ``"+1,+2"``, ``"10%-20%"``."""
    inlines: bool
    """Whether inlined functions are functions of their own."""
    symbols: bool
    """Whether names are looked up."""
    demangle: str
    """``"full"``, ``"short"`` or ``"none"``."""
    join: Union[str, bool]
    """``"gaps"`` (the default), ``"exact"``, or ``False``: how far chains that the copy of the stack cut off go on."""
    sysroot: Union[PathLike, Iterable[PathLike]]
    """Folders below which recorded paths are looked for, and nowhere else."""
    debug_dirs: Iterable[PathLike]
    """Folders of separate debug files."""
    buildid_dirs: Iterable[PathLike]
    """Build-id caches, or archives of ``perf archive``."""
    extra_dirs: Iterable[PathLike]
    """Folders in which files are looked for by their names."""
    modules: Iterable[PathLike]
    """Files to be used for modules of their build-id or name."""
    path_map: Mapping[str, str]
    """Where recorded paths that begin with a key are looked for."""
    perf_map_dirs: Iterable[PathLike]
    """Folders with the ``perf-PID.map`` files of JIT compilers."""
    kallsyms: PathLike
    """The file with the kernel's names."""
    debuginfod: Union[str, bool]
    """A debuginfod server that is asked for missing files, or ``True`` for those of ``DEBUGINFOD_URLS``."""
    cache: PathLike
    """A folder in which names are kept for the next recording of the same files; what comes out is the same."""
    cache_size: str
    """The most that is kept there, as ``"1G"``."""
    jobs: int
    """Threads."""
    max_frames: int
    """The most user frames of a chain."""
    max_memory: str
    """What the run may hold in memory, as ``"2G"``."""


_REPEATED = {
    "pid": "--pid",
    "tid": "--tid",
    "comm": "--comm",
    "cgroup": "--cgroup",
    "event": "--event",
    "sysroot": "--sysroot",
    "debug_dirs": "--debug-dir",
    "buildid_dirs": "--buildid-dir",
    "extra_dirs": "--extra-dir",
    "modules": "--module",
    "perf_map_dirs": "--perf-map-dir",
}
_SINGLE = {
    "demangle": "--demangle",
    "kallsyms": "--kallsyms",
    "cache": "--cache",
    "cache_size": "--cache-size",
    "jobs": "--jobs",
    "max_frames": "--max-frames",
    "max_memory": "--max-memory",
}
_OFF = {"inlines": "--no-inline", "symbols": "--no-symbols"}


def arguments(options: Mapping[str, object]) -> List[str]:
    """The options as arguments of the program. An unknown one is a ``TypeError``; ``None`` is none."""
    words: List[str] = []
    for name, value in options.items():
        if value is None:
            continue
        if name in _REPEATED:
            single = isinstance(value, (str, int, os.PathLike))
            for one in [value] if single else value:  # type: ignore[attr-defined]
                words.append(f"{_REPEATED[name]}={_word(one)}")
        elif name in _SINGLE:
            words.append(f"{_SINGLE[name]}={_word(value)}")
        elif name in _OFF:
            words += [] if value else [_OFF[name]]
        elif name == "time":
            words.append(f"--time={_time(value)}")
        elif name == "join":
            words += [] if value is True else [f"--join={value}" if value else "--no-join"]
        elif name == "path_map":
            words += [f"--path-map={a}={b}" for a, b in dict(value).items()]  # type: ignore[call-overload]
        elif name == "debuginfod":
            words += [] if value is False else ["--debuginfod" if value is True else f"--debuginfod={value}"]
        else:
            raise TypeError(f"unknown option {name!r}")
    return words


def _word(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)


def _time(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError("time is text, or its first and last second")
    return ",".join("" if end is None else f"{end:.9f}" for end in value)
