"""Files that the program writes: pages and bundles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Union

from .._option_types import Options, PathLike
from .._options import checked
from .._program import Run, input_arguments, options_argument
from .._top import Patterns, function_arguments, recorded

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._recording import Recording

# Options that a bundle has a use for.
_OF_FILES = frozenset(
    "modules path_map sysroot buildid_dirs debug_dirs extra_dirs perf_map_dirs trust_perf_maps debuginfod fetched map "
    "map_file source_dirs kallsyms jobs max_memory with_arguments".split()
)


class WrittenFile(NamedTuple):
    """A file that was written; functions such as ``open`` take it as a path."""

    path: str
    #: Whether the recording, or a file with names, is damaged or partly missing.
    damaged: bool

    def __fspath__(self) -> str:
        return self.path


def report(
    recording: "Union[Recording, PathLike]",
    output: PathLike,
    *,
    embed_sources: bool = False,
    sources: bool = True,
    code: bool = True,
    focus: Patterns = (),
    ignore: Patterns = (),
    hide: Patterns = (),
    charge_to_caller: Patterns = (),
    show_module: Patterns = (),
    collapse_recursion: bool = False,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> WrittenFile:
    """Writes the page of a recording, as ``unwind-perf report`` does.

    ``embed_sources`` includes the source texts of any recording; without ``sources`` the page has none, without ``code``
    no instructions. The other keywords are those of :func:`top`.
    """
    words = ["report", "--no-open"]
    words += ["--embed-sources"] if embed_sources else []
    words += [] if sources else ["--no-sources"]
    words += [] if code else ["--no-code"]
    words += function_arguments(focus, ignore, hide, charge_to_caller, show_module, collapse_recursion)
    return _written(words, recording, output, timeout, options)


def bundle(
    recording: "Union[Recording, PathLike]",
    output: PathLike,
    *,
    whole: bool = False,
    files: bool = True,
    stacks: bool = True,
    anonymize: bool = False,
    timeout: Optional[float] = None,
    **options: "Unpack[Options]",
) -> WrittenFile:
    """Packs a recording and its files into one file, as ``unwind-perf bundle`` does; ``output`` ends in ``.upb``.

    ``whole`` includes complete files. Without ``files``, readers need a store of the files with a build-id. Without
    ``stacks``, each sample has its frames instead; ``with_arguments`` then keeps the program's arguments. ``anonymize``
    replaces names. The other keywords are options on files, ``jobs`` and ``max_memory``. A bundle has all samples and
    names, so other options of a :class:`Recording` are left out.
    """
    words = ["bundle"]
    words += ["--whole"] if whole else []
    words += [] if files else ["--no-files"]
    words += [] if stacks else ["--no-stacks"]
    words += ["--anonymize"] if anonymize else []
    return _written(words, recording, output, timeout, options)


def _written(
    words: List[str],
    recording: "Union[Recording, PathLike]",
    output: PathLike,
    timeout: Optional[float],
    options: Mapping[str, Any],
) -> WrittenFile:
    path, given = recorded(recording, options)
    if words[0] == "bundle" and path is not recording:
        given = {name: given[name] for name in given if name in options or name in _OF_FILES}
    target = os.fsdecode(output)
    command = [words[0], "--quiet", f"--output={target}", *words[1:], options_argument(), *input_arguments(path)]
    with Run(command, timeout, options=checked(given)) as run:
        run.output.read()
        return WrittenFile(target, run.finish())
