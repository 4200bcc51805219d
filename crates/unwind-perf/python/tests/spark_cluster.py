"""Conversion of recordings on a real Spark cluster that loses a worker halfway, compared with a loop on this host.

``spark_cluster.py [COUNT]``: 100 recordings by default. Prints the time and the peak memory of each method.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow as pa
import pyarrow.parquet as pq

import unwind_perf as up
from _cluster import Cluster, Peak
from unwind_perf.spark import convert_all, register

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ("inlines-gcc", "two-events", "syscalls", "exceptions", "fork", "recursion-rs", "spin-lld", "plt")
FILES = {"sysroot": str(ROOT / "testdata" / "sysroot")}
# One recording is truncated, and one file is not a recording.
CUT, NONE = 50, 51


def make(folder, count):
    """Creates recordings that differ in the host name, which is the same in all cases."""
    paths = []
    for number in range(count):
        whole = (ROOT / "testdata" / "cases" / CASES[number % len(CASES)] / "perf.data").read_bytes()
        own = whole.replace(b"testbox", b"box%04d" % number)
        assert own != whole, number
        own = {CUT: own[: len(own) * 3 // 4], NONE: b"no recording"}.get(number, own)
        paths.append(folder / f"{number:05}.data")
        paths[-1].write_bytes(own)
    return paths


def comparable(manifest):
    """Returns the entries that do not depend on the time and the number of attempts."""
    return {key: value for key, value in manifest.items() if key not in ("manifest", "seconds", "attempts")}


def shell(folder, out):
    """Converts with a shell loop: the same rows, without manifests."""
    out.mkdir()
    line = 'for one in "$0"/*.data; do "$UNWIND_PERF_PROGRAM" -q "$one" --sysroot "$1" -o "$2/$(basename "$one").parquet"; done'
    with Peak() as peak:
        subprocess.run(["sh", "-c", line, folder, FILES["sysroot"], out], stderr=subprocess.DEVNULL, check=False)
    print(f"a loop of the shell: {peak}")


def loop(paths, out):
    with Peak() as peak:
        manifests = [up.convert(path, out, **FILES) for path in paths]
    print(f"convert in a loop: {peak}")
    return {one["path"]: comparable(one) for one in manifests}


def lose_a_worker(cluster, out, wanted, seen):
    """Waits until ``wanted`` recordings are done, then kills a worker."""
    while len(done := list(out.glob("v2/*/*/*/_manifest.json"))) < wanted:
        time.sleep(0.02)
    cluster.lose()
    seen.append(len(done))


def converted(spark, cluster, paths, out):
    """Returns the manifests of the cluster, which loses a worker when a quarter is done."""
    seen = []
    loser = threading.Thread(target=lose_a_worker, args=(cluster, out, len(paths) // 4, seen), daemon=True)
    loser.start()
    with Peak() as peak:
        manifests = convert_all(spark, paths, out, **FILES)
        loser.join(60)
    assert seen and seen[0] < len(paths), seen
    print(f"convert_all, a worker lost after {seen[0]}: {peak}")
    rows = [row.asDict(recursive=True) for row in manifests.collect()]
    assert len(rows) == len(paths), len(rows)
    return {one["path"]: comparable(one) for one in rows}


def compare_files(expected, folder, ours_folder, ours):
    assert ours == expected, [path for path in expected if ours.get(path) != expected[path]]
    statuses = [one["status"] for one in expected.values()]
    counts = {word: statuses.count(word) for word in sorted(set(statuses))}
    assert counts == {"damaged": 1, "not-a-recording": 1, "ok": len(statuses) - 2}, counts
    parts = [one["part"] for one in expected.values() if one["part"]]
    assert len(parts) == len(set(parts)) == len(statuses) - 1
    for part in parts:
        there, here = (pq.read_table(out / part, partitioning=None) for out in (ours_folder, folder))
        assert there.equals(here), part
    left = [path for path in ours_folder.rglob("*") if path.is_file() and path.name not in ("_manifest.json", "part.parquet")]
    # A run that was lost may leave its unfinished file.
    assert all(path.name.startswith(".unfinished-") for path in left) and len(left) <= 1, left
    print(f"the same {len(parts)} files, and manifests: {counts}")


def compare_rows(spark, folder, paths):
    """Compares the rows of the data source with those of the package."""
    register(spark)
    load = lambda: spark.read.format("unwind_perf").options(**FILES)  # noqa: E731
    pattern = str(folder / "*.data")
    out = folder / "rows"
    with Peak() as peak:
        load().load(pattern).write.parquet(str(out))
    print(f"the data source: {peak}")
    theirs = pq.read_table(out).to_pylist()
    expected = [row for path in paths for batch in up.rows(path, **FILES) for row in batch.to_pylist()]
    order = {str(path): number for number, path in enumerate(paths)}
    # Rows of a recording stay in order, since each task writes one file.
    theirs.sort(key=lambda row: order[row["recording"]])
    assert theirs == expected, (len(theirs), len(expected))
    print(f"the same {len(expected)} rows")
    few = [str(path) for path in paths[:8]]
    rows = [row for row in expected if row["recording"] in few]
    condition = "comm = 'two-events' and time_ns > 5"
    count = sum(row["comm"] == "two-events" for row in rows)
    frame = load().load(few)
    # Each query returns the rows of its own condition.
    assert [frame.count(), frame.where(condition).count(), frame.count()] == [len(rows), count, len(rows)]
    for join in ("false", "gaps"):
        assert load().option("pushdown", "true").option("join", join).load(few).where(condition).count() == count
    assert load().option("pid", "1").load(few).count() == 0


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        paths = make(folder, count)
        size = sum(path.stat().st_size for path in paths)
        print(f"{count} recordings of {size / count / 1e3:.0f} kB; pyarrow {pa.__version__}")
        shell(folder, folder / "shell")
        expected = loop(paths, folder / "loop")
        with Peak() as start, Cluster(folder) as cluster:
            spark = cluster.session()
            try:
                ours = converted(spark, cluster, paths, folder / "cluster")
                compare_files(expected, folder / "loop", folder / "cluster", ours)
                compare_rows(spark, folder, paths)
            finally:
                spark.stop()
        print(f"all with the cluster's start: {start}")


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
