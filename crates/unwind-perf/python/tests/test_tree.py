"""The tree of converted recordings: its days, and engines that read it as one table."""

import os
import pathlib
import shutil
import struct
import subprocess
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import unwind_perf as up
from folders import Folder, installed, kept

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = {"sysroot": ROOT / "testdata" / "sysroot"}
CLOCK_DATA = 29


def with_clock(recording, utc_ns, time_ns):
    """Adds the section of ``perf record -k CLOCK_MONOTONIC``: one time on two clocks, in nanoseconds."""
    out = bytearray(recording)
    data, size = struct.unpack_from("<QQ", out, 40)
    bits = int.from_bytes(out[72:104], "little")
    assert out[:8] == b"PERFILE2" and not bits >> CLOCK_DATA & 1
    table, count = data + size, bin(bits).count("1")
    slots = [struct.unpack_from("<QQ", out, table + 16 * slot) for slot in range(count)]
    slots = [(offset + 16, length) for offset, length in slots]
    slots.insert(bin(bits & ((1 << CLOCK_DATA) - 1)).count("1"), (len(out) + 16, 24))
    out[table : table + 16 * count] = b"".join(struct.pack("<QQ", *slot) for slot in slots)
    out[72:104] = (bits | 1 << CLOCK_DATA).to_bytes(32, "little")
    return bytes(out + struct.pack("<IIQQ", 1, 1, utc_ns, time_ns))


class Days(Folder):
    def test_the_day_is_that_of_the_recorded_clock(self):
        recording = (CASES / "inlines-gcc" / "perf.data").read_bytes()
        first = min(up.read(CASES / "inlines-gcc" / "perf.data", **FILES).samples["time_ns"].to_pylist())
        midnight = 1_700_006_400 * 10**9
        for name, utc_ns, day in (("a", midnight - 1, "2023-11-14"), ("b", midnight, "2023-11-15")):
            path = self.folder / f"{name}.data"
            path.write_bytes(with_clock(recording, utc_ns, first))
            manifest = up.convert(path, self.out, **FILES)
            self.assertEqual((manifest["status"], manifest["samples"], manifest["date"]), ("ok", 35, day))
            self.assertIn(f"/date={day}/", manifest["part"])

    def test_without_a_clock_it_is_that_of_the_file_and_copies_are_known(self):
        path = self.folder / "perf.data"
        shutil.copy(CASES / "inlines-gcc" / "perf.data", path)
        os.utime(path, (86400, 86399))
        first = up.convert(path, self.out, **FILES)
        self.assertEqual(first["date"], "1970-01-01")
        os.utime(path, (86400, 86400))
        self.assertEqual(up.convert(path, self.out, **FILES), first)
        again = up.convert(path, self.out, redo=("ok",), **FILES)
        self.assertEqual((again["date"], again["part"]), (first["date"], first["part"]))
        self.assertEqual(len(kept(self.out)), 2)

    def test_a_failure_does_not_keep_its_day(self):
        recording = (CASES / "inlines-gcc" / "perf.data").read_bytes()
        path = self.folder / "perf.data"
        path.write_bytes(with_clock(recording, 86400 * 10**9, 0))
        failed = up.convert(path, self.out, timeout=1e-6, retries=0, **FILES)
        self.assertEqual(failed["status"], "gave-up")
        manifest = up.convert(path, self.out, **FILES)
        self.assertEqual((manifest["status"], manifest["date"]), ("ok", "1970-01-02"))
        self.assertEqual(len(kept(self.out)), 2)
        self.assertEqual(os.listdir(self.out / "v2"), ["date=1970-01-02"])


class Engines(Folder):
    """Each reads the folder as a whole, with a manifest that has no rows and an unfinished file in it, and merged."""

    def setUp(self):
        super().setUp()
        for name, count in (("inlines-gcc", 35), ("two-events", 52), ("syscalls", 48)):
            path = self.folder / f"{name}.data"
            shutil.copy(CASES / name / "perf.data", path)
            os.utime(path, (86400 * count, 86400 * count))
            self.assertEqual(up.convert(path, self.out, **FILES)["samples"], count)
        junk = self.folder / "junk.data"
        junk.write_bytes(b"junk")
        self.assertEqual(up.convert(junk, self.out, **FILES)["status"], "not-a-recording")
        self.tree = str(self.out / "v2")
        (self.out / "v2" / ".unfinished-0").write_bytes(b"PAR1")
        self.parts = f"{self.tree}/**/*.parquet"
        merged = self.folder / "merged"
        command = [up.program(), "compact", "-q", self.tree, "--out", str(merged)]
        subprocess.run(command, check=True, timeout=600)
        self.assertEqual(len(list(merged.glob("date=*/opts=*/part-0-*.parquet"))), 3)
        # Each engine reads both trees.
        self.trees = (self.tree, str(merged))
        self.counts = [("1970-02-05", 35), ("1970-02-18", 48), ("1970-02-22", 52)]

    def test_pyarrow(self):
        for tree in self.trees:
            with self.subTest(tree=tree):
                self.pyarrow_reads(tree)

    def pyarrow_reads(self, tree):
        table = pq.read_table(tree)
        self.assertEqual(table.num_rows, 135)
        days = table.group_by("date").aggregate([("pid", "count")]).to_pylist()
        self.assertEqual(sorted((one["date"], one["pid_count"]) for one in days), self.counts)
        self.assertEqual(set(table["recording"].to_pylist()), {"inlines-gcc.data", "two-events.data", "syscalls.data"})
        self.assertEqual(len(set(table["recording_sha256"].to_pylist())), 3)

        def unsigned(kind):
            if pa.types.is_list(kind):
                return unsigned(kind.value_type)
            if pa.types.is_struct(kind):
                return any(unsigned(kind.field(at).type) for at in range(kind.num_fields))
            return pa.types.is_unsigned_integer(kind)

        columns = [field for field in table.schema if not pa.types.is_dictionary(field.type)]
        self.assertEqual([field.name for field in columns if unsigned(field.type)], [])
        self.assertEqual(table.schema.field("weight").type, pa.int64())

    @unittest.skipUnless(installed("polars"), "polars is not installed")
    def test_polars(self):
        import polars

        for rows in (
            *(polars.scan_parquet(f"{tree}/**/*.parquet", hive_partitioning=True) for tree in self.trees),
            *(polars.scan_parquet(tree, hidden_file_prefix=["_", "."]) for tree in self.trees),
        ):
            self.assertEqual(rows.select("recording_sha256").unique().collect().height, 3)
            days = rows.group_by("date").len().sort("date").collect().rows()
            self.assertEqual([(str(day), count) for day, count in days], self.counts)

    @unittest.skipUnless(installed("duckdb"), "DuckDB is not installed")
    def test_duckdb(self):
        import duckdb

        sums = []
        for tree in self.trees:
            table = f"read_parquet('{tree}/**/*.parquet', hive_partitioning = true)"
            days = duckdb.sql(f"SELECT date, count(*) FROM {table} GROUP BY date ORDER BY date").fetchall()
            self.assertEqual([(str(day), count) for day, count in days], self.counts)
            names = duckdb.sql(f"SELECT DISTINCT recording FROM {table} WHERE date = '1970-02-05'").fetchall()
            self.assertEqual(names, [("inlines-gcc.data",)])
            by = "recording_sha256, frames[1].function"
            sums.append(duckdb.sql(f"SELECT {by}, sum(weight) FROM {table} GROUP BY ALL ORDER BY ALL").fetchall())
        self.assertEqual(sums[0], sums[1])

    @unittest.skipUnless(installed("dask", "pandas"), "Dask is not installed")
    def test_dask(self):
        import dask.dataframe

        sums = []
        for tree in self.trees:
            rows = dask.dataframe.read_parquet(tree)
            self.assertEqual(len(rows), 135)
            self.assertEqual(rows["weight"].dtype, "int64")
            sums.append(rows["weight"].sum().compute())
        self.assertEqual(sums[0], sums[1])

    @unittest.skipUnless(installed("pyspark") and shutil.which("java"), "Spark is not installed")
    def test_spark(self):
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        try:
            for tree in self.trees:
                rows = spark.read.parquet(tree)
                days = rows.groupBy("date").count().orderBy("date").collect()
                self.assertEqual([(str(day), count) for day, count in days], self.counts)
                kinds = dict(rows.dtypes)
                self.assertEqual((kinds["time_ns"], kinds["weight"], kinds["date"]), ("bigint", "bigint", "date"))
                self.assertEqual(rows.select("recording_sha256").distinct().count(), 3)
        finally:
            spark.stop()


if __name__ == "__main__":
    unittest.main()
