"""Data sources for PySpark 4: rows of recordings, and manifests of their conversion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Sequence, Tuple

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ..spark import MANIFESTS, ROWS
from .convert import convert
from .pushdown import Condition, condition, options_of, wanted
from .shard import BATCH_ROWS, rows
from .text_options import options_of_text, recordings_of_text, truth

if TYPE_CHECKING:
    import pyarrow as pa


class Shard(InputPartition):
    """Recordings of one task."""

    def __init__(self, paths: List[str]) -> None:
        super().__init__(paths)
        self.paths = paths


def _shards(paths: List[str], most: int) -> List[Shard]:
    if most < 1:
        raise ValueError("recordings_per_task has to be at least 1")
    return [Shard(paths[at : at + most]) for at in range(0, len(paths), most)]


class RecordingSource(DataSource):
    """``spark.read.format("unwind_perf")``: a row for each sample, and one for each unreadable recording."""

    @classmethod
    def name(cls) -> str:
        return "unwind_perf"

    def schema(self) -> str:
        return ROWS

    def reader(self, schema: Any) -> "RecordingReader":
        texts = dict(self.options)
        pushdown = truth(texts.pop("pushdown", "false"))
        return (PushingReader if pushdown else RecordingReader)(texts)


class RecordingReader(DataSourceReader):
    """Reads the recordings of a partition."""

    def __init__(self, texts: Dict[str, str]) -> None:
        named = [texts.pop(name) for name in ("path", "paths") if name in texts]
        if not named:
            raise ValueError('no recording is named: load(path), or the option "paths"')
        options = options_of_text(texts)
        self._paths = recordings_of_text(named)
        self._most = options.pop("recordings_per_task", 1)
        self._run = {name: options.pop(name) for name in ("retries", "timeout") if name in options}
        self._batch_rows = options.pop("batch_rows", BATCH_ROWS)
        self._options = options
        self._conditions: List[Condition] = []

    def partitions(self) -> Sequence[InputPartition]:
        return _shards(self._paths, self._most)

    def read(self, partition: Any) -> "Iterator[pa.RecordBatch]":
        options = options_of(self._conditions, self._options)
        for path in partition.paths:
            for batch in rows(path, batch_rows=self._batch_rows, **self._run, **options):
                yield wanted(batch, self._conditions)


class PushingReader(RecordingReader):
    """Reader for one query, which applies the query's conditions itself.

    Spark (4.1 to 4.3 at least) reuses the conditions of a query in later ones on the same DataFrame that have no
    conditions. This would silently lose rows, so users have to enable it.
    """

    def pushFilters(self, filters: List[Any]) -> Iterable[Any]:
        self._conditions = [known for known in map(condition, filters) if known is not None]
        # Spark filters again, so that superfluous rows do no harm.
        return filters


class ManifestSource(DataSource):
    """A row for each recording, which reading converts; used by :func:`unwind_perf.spark.convert_all`."""

    @classmethod
    def name(cls) -> str:
        return "unwind_perf_manifests"

    def schema(self) -> str:
        return MANIFESTS

    def reader(self, schema: Any) -> "ManifestReader":
        return ManifestReader(json.loads(self.options["job"]))


class ManifestReader(DataSourceReader):
    """Converts the recordings of a partition."""

    def __init__(self, job: Dict[str, Any]) -> None:
        self._job = job

    def partitions(self) -> Sequence[InputPartition]:
        return _shards(self._job["paths"], self._job["recordings_per_task"])

    def read(self, partition: Any) -> Iterator[Tuple[Any, ...]]:
        for path in partition.paths:
            manifest = convert(path, self._job["out"], **self._job["options"])
            findings = [(one["kind"], one["count"], one["message"]) for one in manifest["findings"]]
            modules = [(one["path"], one["build_id"], one["frames"]) for one in manifest["modules"]]
            yield tuple({**manifest, "findings": findings, "modules": modules}[name] for name in _columns())


def _columns() -> List[str]:
    return [column.strip().split(" ")[0] for column in MANIFESTS.split(", ")]
