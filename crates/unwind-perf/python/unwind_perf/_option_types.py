"""Types of the options of a run, for checkers of types. A test compares their names with docs/OPTIONS.md of the project;
the program checks the values."""

from __future__ import annotations

import os
from typing import Any, Iterable, Literal, Mapping, Optional, Tuple, TypedDict, Union

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

Name = Union[str, bytes]
Names = Union[Name, Iterable[Name]]
#: Single numbers can be text, as in engines that pass on options as text.
Number = Union[int, str]
Numbers = Union[Number, Iterable[int]]
Flag = Union[bool, Literal["true", "false"]]
Texts = Union[str, Iterable[str]]
Paths = Union[PathLike, Iterable[PathLike]]
#: Bytes, or text with the unit K, M or G.
Size = Union[int, str]
#: Seconds, or text as for the argument; ``None`` is an open end.
Time = Union[str, Tuple[Optional[float], Optional[float]]]


class OptionsOfAnyEvent(TypedDict, total=False):
    """All options but ``event``, for functions that count the samples of one event."""

    pid: Optional[Numbers]
    tid: Optional[Numbers]
    comm: Optional[Names]
    cgroup: Optional[Names]
    cpu: Optional[Numbers]
    time: Optional[Time]
    where: Optional[Texts]
    inlines: Optional[Flag]
    symbols: Optional[Flag]
    demangle: Optional[Literal["full", "short", "perf", "none"]]
    fold_parts: Optional[Flag]
    fold_threads: Optional[Flag]
    only_without_build_id: Optional[Flag]
    join: Union[Literal["gaps", "exact", "off", "true", "false"], bool, None]
    tail_calls: Optional[Flag]
    with_fields: Optional[Names]
    value: Optional[Texts]
    trace_text: Optional[Flag]
    branches: Optional[Flag]
    label: Optional[Texts]
    label_when: Optional[Texts]
    label_end: Optional[Names]
    handover: Optional[Names]
    span: Optional[Texts]
    inside: Optional[str]
    longer_than: Optional[str]
    up_to: Optional[str]
    redact: Optional[Name]
    weight_field: Optional[str]
    off_cpu: Optional[Flag]
    off_cpu_optional: Optional[Flag]
    with_arguments: Optional[Flag]
    max_frames: Optional[Number]
    max_memory: Optional[Size]
    jobs: Optional[Number]
    cache: Optional[PathLike]
    cache_size: Optional[Size]
    modules: Optional[Paths]
    path_map: Union[Mapping[Any, PathLike], Texts, Iterable[Tuple[PathLike, PathLike]], None]
    sysroot: Optional[Paths]
    buildid_dirs: Optional[Paths]
    debug_dirs: Optional[Paths]
    extra_dirs: Optional[Paths]
    perf_map_dirs: Optional[Paths]
    trust_perf_maps: Optional[Flag]
    debuginfod: Union[Flag, Texts, None]
    fetched: Optional[Flag]
    map: Union[Texts, Iterable[Mapping[str, Any]], None]
    map_file: Optional[Paths]
    source_dirs: Optional[Paths]
    kallsyms: Optional[PathLike]


class Options(OptionsOfAnyEvent, total=False):
    """Keywords of :func:`read`, :func:`scan`, :func:`folded`, :func:`diff`, :func:`convert` and others: options by name.

    ``None`` is the default of each.
    """

    event: Optional[Names]
