"""Conversion of one recording to a file of rows, at most once: for loops over many recordings, on one host or on
many."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import stat
import time
import uuid
from typing import TYPE_CHECKING, Any, Collection, Dict, Iterator, List, Optional

from .._option_types import Options, PathLike
from .._options import as_dict, checked, require_folders
from .._program import version
from .._tables import require_pyarrow
from .attempts import Outcome, attempt

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

# Folder of the tree; its number changes with the layout.
_TREE = "v2"
_PART = "part.parquet"
# Engines that read folders ignore names that begin with an underscore or a dot.
_MANIFEST = "_manifest.json"
# Prefix of a file name until the file is complete.
_UNFINISHED = ".unfinished-"
_BLOCK = 1 << 20
# Statuses that no other attempt would change.
_FINAL = ("ok", "damaged", "not-a-recording")
# Threads and cached names do not change the rows.
_WITHOUT_EFFECT = ("jobs", "cache", "cache_size")


def convert(
    path: PathLike,
    out: PathLike,
    *,
    retries: int = 2,
    timeout: Optional[float] = None,
    redo: Collection[str] = (),
    **options: "Unpack[Options]",
) -> Dict[str, Any]:
    """Writes the rows of a recording to ``out/v2/date=DAY/recording_sha256=SHA256/opts=HASH/part.parquet``; returns its
    manifest.

    The folder name contains hashes of the recording's bytes, and of the options and the program's version. The work is
    therefore done only once, regardless of the order and number of calls. An existing ``_manifest.json`` is returned if
    its ``status`` is final (``ok``, ``damaged`` or ``not-a-recording``) and not one of ``redo``. It is written last.
    docs/SCALE.md of the project describes its contents.

    ``retries``: number of repetitions of a run that was killed or took more than ``timeout`` seconds. The other
    keywords are options of the run. Invalid options (``TypeError``, ``ValueError``), a missing folder of an option
    (``FileNotFoundError``) and an unusable ``out`` raise an exception; a missing or defective recording never does.
    """
    require_pyarrow()
    started = time.monotonic()
    given = checked(options)
    require_folders(given)
    tool = version()
    named = [f"{name}={json.dumps(value)}" for name, value in as_dict(given).items() if name not in _WITHOUT_EFFECT]
    manifest: Dict[str, Any] = {
        "manifest": 2,
        "path": os.path.abspath(os.fsdecode(path)),
        "recording_sha256": None,
        "bytes": None,
        "date": None,
        "opts": hashlib.sha256("\n".join([tool, *named]).encode()).hexdigest()[:16],
        "options": named,
        "tool": tool,
        "part": None,
        "part_bytes": None,
    }
    before = _state(path)
    try:
        manifest["recording_sha256"], manifest["bytes"] = _digest(path)
        written = _day_written(path)
    except OSError as error:
        manifest.update(Outcome("unreadable", str(error), 0)._asdict(), seconds=_since(started))
        return manifest
    tree = os.path.join(os.fsdecode(out), _TREE)
    own = os.path.join(f"recording_sha256={manifest['recording_sha256']}", f"opts={manifest['opts']}")
    day, there = _stored(tree, own, written)
    if there is not None and there["status"] in _FINAL and there["status"] not in redo:
        return {**there, "path": manifest["path"]}
    manifest["date"] = day or written
    os.makedirs(tree, exist_ok=True)
    with _unfinished(tree) as part:

        def sink(schema: "pa.Schema", batches: "Iterator[pa.RecordBatch]") -> None:
            manifest["date"] = _day_recorded(schema) or manifest["date"]
            _write_rows(part, schema, batches)

        outcome = attempt(path, given, sink, retries, timeout)
        if _state(path) != before:
            outcome = Outcome("gave-up", "the recording changed while it was read", outcome.attempts)
        folder = os.path.join(tree, f"date={manifest['date']}", own)
        os.makedirs(folder, exist_ok=True)
        if outcome.status in ("ok", "damaged"):
            name = os.path.join(folder, _PART)
            manifest.update(part=os.path.relpath(name, os.fsdecode(out)), part_bytes=os.path.getsize(part))
            _finish(part, name)
    manifest.update(outcome._asdict(), seconds=_since(started))
    with _unfinished(tree) as file:
        with open(file, "w", encoding="utf-8") as text:
            json.dump(manifest, text, indent=1)
        _finish(file, os.path.join(folder, _MANIFEST))
    _remove_others(tree, own, manifest["date"])
    return manifest


def _day(seconds: int) -> str:
    """Returns the day in UTC of a time in seconds since 1970."""
    start = datetime.datetime(1970, 1, 1)
    return (start + datetime.timedelta(seconds=seconds)).date().isoformat()


def _day_recorded(schema: "pa.Schema") -> Optional[str]:
    """Returns the day of the first sample, if the recorder stated the time of day."""
    start = (schema.metadata or {}).get(b"unwind_perf.start_utc_ns")
    return None if start is None else _day(int(start) // 10**9)


def _day_written(path: PathLike) -> str:
    """Returns the day on which a recording was last written."""
    data = os.path.join(os.fsdecode(path), "data")
    return _day(os.stat(data if os.path.isfile(data) else path).st_mtime_ns // 10**9)


def _state(path: PathLike) -> Any:
    """Returns values that change with a file; ``None`` if the file is missing."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _digest(path: PathLike) -> "tuple[str, int]":
    """Returns the SHA-256 and the size of a recording; for a directory, those of the names and bytes of its files."""
    if not stat.S_ISDIR(os.stat(path).st_mode):
        return _file_digest(os.fsdecode(path))
    whole, size = hashlib.sha256(), 0
    for name in sorted(os.listdir(os.fsdecode(path))):
        digest, length = _file_digest(os.path.join(os.fsdecode(path), name))
        whole.update(f"{digest}  {name}\n".encode("utf-8", "surrogateescape"))
        size += length
    return whole.hexdigest(), size


def _file_digest(path: str) -> "tuple[str, int]":
    # A blocking open of a FIFO would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"not a file: {path!r}")
        digest, size = hashlib.sha256(), 0
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def _stored(tree: str, own: str, likely: str) -> "tuple[Optional[str], Optional[Dict[str, Any]]]":
    """Returns the day and the manifest of a recording's folder, if it and the file that it describes exist and are
    complete. The day of copies can differ, so that all are searched, the likely one first."""
    for day in sorted(_days(tree), key=lambda day: (day != likely, day)):
        folder = os.path.join(tree, f"date={day}", own)
        try:
            with open(os.path.join(folder, _MANIFEST), encoding="utf-8") as text:
                manifest = json.load(text)
            whole = manifest["part"] is None or os.path.getsize(os.path.join(folder, _PART)) == manifest["part_bytes"]
            if whole and isinstance(manifest["status"], str):
                return day, manifest
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            continue
    return None, None


def _days(tree: str) -> List[str]:
    """Returns the days of the tree, in any order."""
    try:
        return [name[len("date=") :] for name in os.listdir(tree) if name.startswith("date=")]
    except FileNotFoundError:
        return []


def _remove_others(tree: str, own: str, day: str) -> None:
    """Removes the files of earlier attempts under other days, and the folders that become empty."""
    for other in _days(tree):
        folder = os.path.join(tree, f"date={other}", own)
        if other == day or not os.path.isdir(folder):
            continue
        for name in (_MANIFEST, _PART):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        with contextlib.suppress(OSError):
            os.removedirs(folder)


@contextlib.contextmanager
def _unfinished(folder: str) -> Iterator[str]:
    """Yields a unique path in the folder. Removes the file afterwards unless it was renamed."""
    path = os.path.join(folder, f"{_UNFINISHED}{uuid.uuid4().hex}")
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _finish(path: str, name: str) -> None:
    """Renames a file after its bytes are on disk, since a manifest must be correct even after a crash of the host."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    os.replace(path, name)


def _write_rows(path: str, schema: "pa.Schema", batches: "Iterator[pa.RecordBatch]") -> None:
    """Writes one row group per batch; only one batch is in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_batches([batch], schema))
