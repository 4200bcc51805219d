"""The recipes of docs/SCALE.md, as they are printed but for the places of recordings and files."""

import contextlib
import datetime
import glob
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import pyarrow.parquet as pq

import unwind_perf as up
from folders import Folder, installed

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
SYSROOT = str(ROOT / "testdata" / "sysroot")
SAMPLES = {"inlines-gcc": 35, "two-events": 52, "syscalls": 48}
ALL = sum(SAMPLES.values())
# The day in the commands.
DAY = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc).timestamp()


HAS_SPARK = installed("pyspark") and bool(shutil.which("java"))
# Workers of Ray find the package and the program as this process does.
RAY = {name: os.environ[name] for name in ("PYTHONPATH", "UNWIND_PERF_PROGRAM") if name in os.environ}


def blocks(chapter, language):
    """Returns the blocks of a chapter in a language."""
    text = (ROOT / "docs" / "SCALE.md").read_text()
    chapter = re.split(r"\n###? ", text.split(f" {chapter}\n")[1])[0]
    return re.findall(rf"```{language}\n(.*?)```", chapter, re.DOTALL)


class Recipes(Folder):
    """Each test has recordings of one day, and runs in a folder of its own."""

    def setUp(self):
        super().setUp()
        for place in ("recordings", "shared", "bin"):
            (self.folder / place).mkdir()
        for name in SAMPLES:
            path = self.folder / "recordings" / f"{name}.data"
            shutil.copy(CASES / name / "perf.data", path)
            os.utime(path, (DAY, DAY))
        (self.folder / "bin" / "unwind-perf").symlink_to(up.program())
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        self.recordings = sorted(map(str, (self.folder / "recordings").iterdir()))

    def placed(self, text):
        """Returns a recipe with the places of this test."""
        for printed, here in (
            ("/recordings", f"{self.folder}/recordings"),
            ("/shared/out", f"{self.folder}/shared/out"),
            ("/images/web-17", SYSROOT),
        ):
            text = text.replace(printed, here)
        return text

    def shell(self, text, status=0):
        command = ["bash", "-ec", self.placed(text)]
        ran = subprocess.run(command, env=self.environment, timeout=600, text=True, capture_output=True)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran.stdout

    def python(self, text, **names):
        """Runs a recipe; returns its names and output."""
        names.update(up=up, glob=glob, recordings=self.recordings)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(self.placed(text), "SCALE.md", "exec"), names)
        return names, out.getvalue()

    def tree(self):
        """Converts the recordings; returns the chapter's lines that read their tree."""
        for path in self.recordings:
            self.assertEqual(up.convert(path, "out", sysroot=SYSROOT)["status"], "ok")
        (lines,) = blocks("The tree as a table", "python")
        return lines.splitlines()

    def test_the_command(self):
        (text,) = blocks("The command", "sh")
        arguments, listed, watched = text.splitlines()
        self.assertEqual(len(self.shell(arguments).splitlines()), 3)
        self.shell(listed)
        self.assertEqual(len((self.folder / "manifests.ndjson").read_text().splitlines()), 3)
        words = self.placed(watched).split()
        with subprocess.Popen(words, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            limit = threading.Timer(120, run.kill)
            limit.start()
            manifests = [run.stdout.readline() for _ in SAMPLES]
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(), 0)
            limit.cancel()
        self.assertTrue(all('"samples":' in line for line in manifests), manifests)

    def test_merged_days(self):
        self.tree()
        (text,) = blocks("Few large files", "sh")
        both, day = text.splitlines()
        self.shell(both)
        self.assertEqual(pq.read_table("merged").num_rows, ALL)
        self.shell(day)
        self.assertEqual(os.listdir("merged/date=2026-11-30/")[0].split("=")[0], "opts")

    def test_stacks(self):
        shutil.copy(self.recordings[0], "perf.data")
        stored, named = blocks("A fleet", "sh")[0].split("unwind-perf symbolize ")
        self.shell(stored)
        # No server has that name. Names of files without a build-id are missing then: status 1.
        name = f"stacks/{datetime.date.today()}"
        self.shell("unwind-perf symbolize " + named.replace("stacks/2026-11-30", name), status=1)
        total = sum(int(line.rsplit(" ", 1)[1]) for line in pathlib.Path("day.folded").read_text().splitlines())
        self.assertEqual(total, 35)

    def test_the_loop(self):
        (text,) = blocks("A loop in Python", "python")
        self.assertEqual(self.python(text)[1], "")
        self.assertEqual(pq.read_table("out/v2").num_rows, ALL)

    def test_pyarrow(self):
        line = next(line for line in self.tree() if line.startswith("pyarrow"))
        self.assertEqual(eval(line, {"pyarrow": sys.modules["pyarrow"]}).num_rows, ALL)

    @unittest.skipUnless(installed("polars"), "polars is not installed")
    def test_polars(self):
        import polars

        line = next(line for line in self.tree() if line.startswith("polars"))
        self.assertEqual(eval(line, {"polars": polars}).collect().height, ALL)

    @unittest.skipUnless(installed("duckdb"), "DuckDB is not installed")
    def test_duckdb(self):
        import duckdb

        line = next(line for line in self.tree() if line.startswith("duckdb"))
        self.assertEqual(len(eval(line, {"duckdb": duckdb}).fetchall()), ALL)

    @unittest.skipUnless(installed("dask", "pandas"), "Dask is not installed")
    def test_dask(self):
        import dask.dataframe

        line = next(line for line in self.tree() if line.startswith("dask"))
        self.assertEqual(len(eval(line, {"dask": dask})), ALL)
        text = next(text for text in blocks("Dask and Ray", "python") if "dask" in text)
        manifests = self.python(text)[0]["manifests"]
        self.assertEqual({one["status"] for one in manifests}, {"ok"})
        self.assertEqual(pq.read_table("shared/out/v2").num_rows, ALL)

    @unittest.skipUnless(installed("ray"), "Ray is not installed")
    def test_ray(self):
        import ray

        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": RAY})
        self.addCleanup(ray.shutdown)
        text = next(text for text in blocks("Dask and Ray", "python") if "ray" in text)
        manifests = self.python(text)[0]["manifests"]
        self.assertEqual({one["status"] for one in manifests}, {"ok"})
        self.assertEqual(pq.read_table("shared/out/v2").num_rows, ALL)

    @unittest.skipUnless(HAS_SPARK, "Spark is not installed")
    def test_spark(self):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        self.addCleanup(spark.stop)
        line = next(line for line in self.tree() if line.startswith("spark"))
        self.assertEqual(eval(line, {"spark": spark}).count(), ALL)
        source, batches = blocks("Spark", "python")
        names, _ = self.python(source, spark=spark)
        self.assertEqual(names["samples"].where("status = 'ok'").count(), ALL)
        self.assertEqual([row["status"] for row in names["manifests"].collect()], ["ok"] * 3)
        names, _ = self.python(batches, spark=spark)
        self.assertEqual(names["samples"].where("status = 'ok'").count(), ALL)


if __name__ == "__main__":
    unittest.main()
