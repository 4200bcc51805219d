"""Processing of recordings on a Spark cluster.

>>> from unwind_perf.spark import register
>>> register(spark)
>>> spark.read.format("unwind_perf").load("/recordings/*.data").groupBy("comm").count()

Requires PySpark 4 and pyarrow, and this package in the executors' Python. See docs/SCALE.md of the project for details.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Collection, Dict, Iterable, Optional, Union

from ._option_types import Options, PathLike
from ._options import as_dict, checked, require_folders
from ._scale.text_options import recordings_of_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import Unpack

_FRAME = (
    "addr: bigint, module: string, build_id: string, svma: bigint, offset: bigint, function: string, "
    "function_offset: bigint, file: string, line: bigint, inlined: boolean, found_by: string, kernel: boolean"
)
#: Columns of :func:`unwind_perf.rows`, as a Spark schema.
ROWS = (
    "time_ns bigint, pid int, tid int, comm string, process string, cpu bigint, event string, period bigint, "
    "weight bigint, end string, complete boolean, cgroup string, recording string, host string, build_id string, "
    f"frames array<struct<{_FRAME}>>, status string, message string"
)
#: Columns of a manifest, as a Spark schema.
MANIFESTS = (
    "path string, recording_sha256 string, bytes bigint, date string, opts string, options array<string>, tool string, part string, "
    "part_bytes bigint, status string, message string, attempts int, samples bigint, complete_share double, "
    "findings array<struct<kind:string,count:bigint,message:string>>, "
    "modules array<struct<path:string,build_id:string,frames:bigint>>, seconds double"
)


def register(spark: "SparkSession") -> None:
    """Registers the format ``unwind_perf`` in the session."""
    from pyspark.sql import datasource

    from ._scale.spark_source import ManifestSource, RecordingSource

    spark.dataSource.register(RecordingSource)
    spark.dataSource.register(ManifestSource)
    if hasattr(datasource, "EqualTo"):
        # Since 4.1, for the option "pushdown": Spark rejects a source with filter pushdown while this setting is off.
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


def convert_all(
    spark: "SparkSession",
    paths: Union[PathLike, Iterable[PathLike]],
    out: PathLike,
    *,
    recordings_per_task: int = 1,
    retries: int = 2,
    timeout: Optional[float] = None,
    redo: Collection[str] = (),
    **options: "Unpack[Options]",
) -> "DataFrame":
    """Runs :func:`unwind_perf.convert` on each recording on the executors, immediately; returns the manifests.

    ``paths``: recordings, or patterns. ``out`` is a folder that all executors and the driver can access. The keywords
    are those of :func:`unwind_perf.convert`. Spark retains the manifests until they are unpersisted. If it loses some,
    it processes their recordings again, which finds them already converted.
    """
    from pyspark import StorageLevel

    named = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    own: Dict[str, Any] = {"retries": retries, "timeout": timeout, "redo": list(redo)}
    # A wrong option or a missing folder concerns all recordings. Executors run in other folders, so paths are absolute.
    given = checked(options)
    require_folders(given)
    keywords: Dict[str, Any] = {**own, **as_dict(given)}
    job = {
        "paths": recordings_of_text([os.fsdecode(path) for path in named]),
        "out": os.path.abspath(os.fsdecode(out)),
        "recordings_per_task": recordings_per_task,
        "options": keywords,
    }
    register(spark)
    manifests = spark.read.format("unwind_perf_manifests").option("job", json.dumps(job)).load()
    manifests = manifests.persist(StorageLevel.MEMORY_AND_DISK)
    manifests.count()
    return manifests
