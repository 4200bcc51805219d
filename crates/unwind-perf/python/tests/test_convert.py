"""Conversion of recordings to files of rows: contents, repeated calls, and failing runs."""

import datetime
import hashlib
import json
import multiprocessing
import os
import pathlib
import shutil
import tempfile
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import unwind_perf as up
from folders import Folder, kept
from unwind_perf import spark
from unwind_perf._scale import pushdown, rows, shard, text_options

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = {"sysroot": ROOT / "testdata" / "sysroot"}

# Records each run in $RUNS; the runs fail in the ways that $FAULTS lists, one word per run.
FAULTY = """#!/bin/sh
case "$1" in
--version|options-json) exec "$REAL" "$@";;
convert) shift; exec "$REAL" convert --program "$0" "$@";;
esac
echo run >> "$RUNS"
set -- "$(sed -n "$(wc -l < "$RUNS")p" "$FAULTS")" "$@"
fault=$1; shift
case "$fault" in
killed) kill -9 $$;;
slow) exec sleep 100;;
broken) "$REAL" "$@" | head -c 50; exit 0;;
cut) "$REAL" "$@" | head -c 30000; kill -9 $$;;
panicked) exit 101;;
vanished) printf '{"error":"missing","message":"gone","path":"%s/data.7"}\\n' "$VANISHED" >&2; exit 2;;
failing) echo '{"error":"run","message":"the disk failed"}' >&2; exit 2;;
grows) "$REAL" "$@"; for last; do :; done; printf x >> "$last"; exit 0;;
esac
exec "$REAL" "$@"
"""


def case(name):
    return CASES / name / "perf.data"


def written(path):
    """Returns the day on which a file was written."""
    return datetime.datetime.fromtimestamp(os.stat(path).st_mtime, datetime.timezone.utc).date().isoformat()


def signed(value):
    """Returns a row with 64-bit numbers as two's complement."""
    if isinstance(value, dict):
        return {key: signed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [signed(one) for one in value]
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


class Written(Folder):
    """Tests that read the rows of a manifest."""

    def written(self, manifest):
        return pq.read_table(self.out / manifest["part"], partitioning=None)


class Files(Written):
    def test_the_rows_are_those_of_scan(self):
        for name in ("inlines-gcc", "two-events", "syscalls"):
            manifest = up.convert(case(name), self.out, **FILES)
            ours, expected = self.written(manifest), up.scan(case(name), **FILES).read_all()
            self.assertEqual(ours.to_pylist(), [signed(row) for row in expected.to_pylist()], name)
            self.assertEqual(ours.schema.remove_metadata(), rows.row_schema())

    def test_the_manifest_says_what_was_done(self):
        manifest = up.convert(case("inlines-gcc"), self.out, jobs=1, **FILES)
        recording = case("inlines-gcc").read_bytes()
        digest = hashlib.sha256(recording).hexdigest()
        folder = f"v2/date={written(case('inlines-gcc'))}/recording_sha256={digest}/opts={manifest['opts']}"
        self.assertEqual(kept(self.out), [f"{folder}/_manifest.json", f"{folder}/part.parquet"])
        self.assertEqual(json.loads((self.out / folder / "_manifest.json").read_text()), manifest)
        self.assertGreater(manifest.pop("seconds"), 0)
        read = up.read(case("inlines-gcc"), **FILES)
        expected = {
            "manifest": 2,
            "path": str(case("inlines-gcc")),
            "recording_sha256": digest,
            "bytes": len(recording),
            "date": written(case("inlines-gcc")),
            "opts": manifest["opts"],
            "options": [f'sysroot=["{FILES["sysroot"]}"]'],
            "tool": up.version(),
            "part": f"{folder}/part.parquet",
            "part_bytes": (self.out / folder / "part.parquet").stat().st_size,
            "status": "ok",
            "message": "",
            "attempts": 1,
            "samples": 35,
            "complete_share": 1.0,
            "findings": read.findings,
            "modules": manifest["modules"],
        }
        self.assertEqual(manifest, expected)
        modules = {(one["path"], one["build_id"]) for one in manifest["modules"]}
        frames = [frame for row in up.scan(case("inlines-gcc"), **FILES).read_all().to_pylist() for frame in row["frames"]]
        self.assertEqual(modules, {(frame["module"], frame["build_id"]) for frame in frames})
        self.assertEqual(sum(one["frames"] for one in manifest["modules"]), len(frames))

    def test_a_damaged_recording_has_rows_and_says_so(self):
        cut = self.folder / "cut.data"
        whole = case("inlines-gcc").read_bytes()
        cut.write_bytes(whole[: len(whole) * 3 // 4])
        manifest = up.convert(cut, self.out, **FILES)
        self.assertEqual(manifest["status"], "damaged")
        self.assertIn("the recording is damaged: the file is truncated", manifest["message"])
        self.assertIn("data-cut", [one["kind"] for one in manifest["findings"]])
        self.assertEqual(self.written(manifest).num_rows, manifest["samples"])

    def test_no_wanted_sample_is_a_file_without_rows(self):
        manifest = up.convert(case("inlines-gcc"), self.out, pid=1, **FILES)
        self.assertEqual((manifest["status"], manifest["samples"]), ("ok", 0))
        self.assertIn("no sample passes the filters", manifest["message"])
        self.assertEqual(self.written(manifest).schema.remove_metadata(), rows.row_schema())

    def test_a_directory_is_known_by_its_files(self):
        folder = self.folder / "threads.data"
        folder.mkdir()
        shutil.copy(case("inlines-gcc"), folder / "data")
        first = up.convert(folder, self.out, **FILES)
        (folder / "data").rename(folder / "header")
        second = up.convert(folder, self.out, **FILES)
        self.assertNotEqual(first["recording_sha256"], second["recording_sha256"])
        self.assertEqual(first["bytes"], case("inlines-gcc").stat().st_size)


class Again(Written):
    """Uses a program that records its runs and fails on request."""

    def setUp(self):
        super().setUp()
        program = self.folder / "program"
        program.write_text(FAULTY)
        program.chmod(0o755)
        self.runs, self.faults = self.folder / "runs", self.folder / "faults"
        self.runs.touch()
        settings = {"REAL": up.program(), "RUNS": self.runs, "FAULTS": self.faults, "UNWIND_PERF_PROGRAM": program}
        for name, value in settings.items():
            before = os.environ.get(name)
            os.environ[name] = str(value)
            self.addCleanup(os.environ.__setitem__, name, before) if before else self.addCleanup(os.environ.pop, name)
        self.recording = self.folder / "perf.data"
        shutil.copy(case("inlines-gcc"), self.recording)

    def convert(self, *faults, **options):
        """Converts; returns the manifest and the number of runs."""
        self.faults.write_text("".join(f"{fault}\n" for fault in faults))
        self.runs.write_text("")
        manifest = up.convert(self.recording, self.out, **FILES, **options)
        return manifest, len(self.runs.read_text().splitlines())

    def test_what_was_done_is_not_done_again(self):
        first, runs = self.convert()
        self.assertEqual(runs, 1)
        self.assertEqual(self.convert(), (first, 0))
        self.assertEqual(self.convert(jobs=2), (first, 0))
        self.assertEqual(self.convert(cache=self.folder / "names", cache_size="1G"), (first, 0))
        other = self.folder / "other.data"
        self.recording.rename(other)
        self.recording = other
        self.assertEqual(self.convert(), ({**first, "path": str(other)}, 0))
        self.assertEqual(self.convert(symbols=False)[1], 1)
        self.assertEqual(self.convert(redo=("ok",))[1], 1)
        self.assertEqual(len(kept(self.out)), 4)

    def test_what_is_not_whole_is_done_again(self):
        first, _ = self.convert()
        part, folder = self.out / first["part"], (self.out / first["part"]).parent
        for spoil in (
            lambda: part.unlink(),
            lambda: os.truncate(part, 10),
            lambda: (folder / "_manifest.json").unlink(),
            lambda: (folder / "_manifest.json").write_text("{"),
            lambda: (folder / "_manifest.json").write_text("[]"),
        ):
            spoil()
            again, runs = self.convert()
            self.assertEqual((runs, again["part_bytes"]), (1, first["part_bytes"]))

    def test_a_killed_run_is_repeated(self):
        expected = up.scan(case("inlines-gcc"), **FILES).read_all().to_pylist()
        for fault in ("killed", "broken", "cut", "panicked"):
            manifest, runs = self.convert(fault, redo=("ok",))
            self.assertEqual((runs, manifest["attempts"], manifest["status"]), (2, 2, "ok"), fault)
            given = [{**row, "recording": "perf.data"} for row in self.written(manifest).to_pylist()]
            self.assertEqual(given, expected, fault)

    def test_a_scan_that_breaks_off_says_why(self):
        for read in (lambda: up.scan(self.recording, **FILES).read_all(), lambda: up.read(self.recording, **FILES)):
            self.faults.write_text("cut\n")
            self.runs.write_text("")
            with self.assertRaisesRegex(up.UnwindPerfError, "the program ended with status -9"):
                read()

    def test_retries_end(self):
        manifest, runs = self.convert("killed", "killed", "killed")
        self.assertEqual((runs, manifest["attempts"], manifest["status"]), (3, 3, "gave-up"))
        self.assertEqual((manifest["message"], manifest["part"]), ("the program ended with status -9", None))
        # Only the manifest remains, and it does not prevent another attempt.
        self.assertEqual([os.path.basename(path) for path in kept(self.out)], ["_manifest.json"])
        self.assertEqual(self.convert()[0]["status"], "ok")

    def test_a_timeout_is_repeated(self):
        manifest, runs = self.convert("slow", retries=1, timeout=5)
        self.assertEqual((runs, manifest["status"]), (2, "ok"))
        manifest, runs = self.convert("slow", retries=0, timeout=0.3, redo=("ok",))
        self.assertEqual((runs, manifest["status"]), (1, "gave-up"))
        self.assertEqual(manifest["message"], "the run took longer than 0.3 seconds")

    def test_what_is_no_recording_is_judged_once(self):
        self.recording.write_bytes(b"no recording")
        manifest, runs = self.convert()
        self.assertEqual((runs, manifest["status"], manifest["part"]), (1, "not-a-recording", None))
        self.assertIn("not a perf recording", manifest["message"])
        self.assertEqual(self.convert(), (manifest, 0))

    def test_a_failure_of_the_machine_is_tried_again(self):
        first, runs = self.convert("failing")
        self.assertEqual((runs, first["status"], first["message"]), (1, "unreadable", "the disk failed"))
        again, runs = self.convert()
        self.assertEqual((runs, again["status"]), (1, "ok"))

    def test_a_file_of_the_recording_that_vanished_is_its_fault(self):
        os.environ["VANISHED"] = str(self.recording)
        self.addCleanup(os.environ.pop, "VANISHED")
        manifest, runs = self.convert("vanished")
        self.assertEqual((runs, manifest["status"], manifest["message"]), (1, "unreadable", "gone"))
        os.environ["VANISHED"] = str(self.folder / "other")
        with self.assertRaisesRegex(up.MissingFileError, "gone"):
            self.convert("vanished")

    def test_a_missing_folder_stops_before_the_first_recording(self):
        root = self.folder / "root"
        for option in ("sysroot", "debug_dirs", "extra_dirs", "perf_map_dirs", "source_dirs"):
            options = {**FILES, option: root}
            self.runs.write_text("")
            for call in (lambda: up.convert(self.recording, self.out, **options), lambda: up.rows(self.recording, **options)):
                with self.assertRaises(FileNotFoundError) as caught:
                    call()
                self.assertEqual(caught.exception.filename, str(root))
                self.assertEqual(str(caught.exception), f"option {option!r}: {root}: not a directory")
            self.assertEqual((self.runs.read_text(), kept(self.out)), ("", []))
            # The program has the same opinion.
            with self.assertRaises(up.MissingFileError) as caught:
                up.read(self.recording, **options)
            self.assertEqual((caught.exception.filename, caught.exception.cause), (str(root), "missing"))
        for option in ("buildid_dirs", "map_file"):
            with self.assertRaises(FileNotFoundError):
                up.convert(self.recording, self.out, **{**FILES, option: root})
            self.assertEqual([name for name in kept(self.out) if "manifest" in name], [])
        with self.assertRaisesRegex(up.CallError, "--debuginfod names no server"):
            os.environ.pop("DEBUGINFOD_URLS", None)
            up.convert(self.recording, self.out, debuginfod=True, **FILES)
        root.mkdir()
        self.assertEqual(up.convert(self.recording, self.out, sysroot=root)["status"], "ok")

    def test_what_cannot_be_opened_is_unreadable_and_leaves_nothing(self):
        os.mkfifo(self.folder / "fifo")
        for name in ("nothing", "fifo"):
            self.recording = self.folder / name
            manifest, runs = self.convert()
            self.assertEqual((runs, manifest["status"], manifest["recording_sha256"]), (0, "unreadable", None))
            self.assertIn(name, manifest["message"])
        self.assertEqual(kept(self.out), [])

    def test_a_recording_that_changes_is_not_what_its_name_says(self):
        manifest, runs = self.convert("grows")
        self.assertEqual((runs, manifest["status"], manifest["part"]), (1, "gave-up", None))
        self.assertEqual(manifest["message"], "the recording changed while it was read")
        self.assertEqual(self.convert()[0]["status"], "ok")

    def test_what_is_wrong_with_the_call_is_an_exception(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'pids'"):
            self.convert(pids=1)
        self.out.write_text("a file")
        with self.assertRaises(OSError):
            self.convert()

    def test_several_at_once_give_one_result(self):
        self.faults.write_text("")
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            calls = [pool.apply_async(up.convert, (self.recording, self.out), FILES) for _ in range(8)]
            manifests = [call.get(120) for call in calls]
        for manifest in manifests:
            manifest.pop("seconds")
        self.assertEqual(manifests, manifests[:1] * 8)
        self.assertEqual([os.path.basename(path) for path in kept(self.out)], ["_manifest.json", "part.parquet"])


class Engines(Folder):
    """Rows in the form for Spark and similar engines."""

    def table(self, path, **options):
        return pa.Table.from_batches(up.rows(path, **options), shard.engine_schema())

    def test_rows_are_those_of_scan_with_a_status(self):
        ours = self.table(case("two-events"), batch_rows=7, **FILES).to_pylist()
        expected = up.scan(case("two-events"), **FILES).read_all().to_pylist()
        more = {"recording": str(case("two-events")), "status": "ok", "message": None}
        self.assertEqual(ours, [{**row, **more} for row in expected])
        batches = [batch.num_rows for batch in up.rows(case("two-events"), batch_rows=7, **FILES)]
        self.assertEqual(set(batches[:-1]), {7})

    def test_what_has_no_rows_is_one(self):
        for name, status in (("nothing", "unreadable"), ("junk", "not-a-recording")):
            path = self.folder / name
            if name == "junk":
                path.write_bytes(b"no recording")
            (row,) = self.table(path).to_pylist()
            self.assertIn("cannot read", row.pop("message"))
            self.assertEqual({key: value for key, value in row.items() if value is not None}, {"recording": str(path), "status": status})
        self.assertEqual(self.table(case("inlines-gcc"), pid=1, **FILES).num_rows, 0)
        self.assertEqual(self.table(case("two-events"), event="nothing", **FILES).num_rows, 0)
        self.assertEqual(self.table(case("syscalls"), where="addr=-1", **FILES).num_rows, 0)
        (row,) = self.table(case("two-events"), event=["nothing", "cpu-clock"], **FILES).to_pylist()
        self.assertEqual(row["status"], "unreadable")
        with self.assertRaisesRegex(TypeError, "unknown option 'pids'"):
            up.rows(case("plt"), pids=1)

    def test_types_of_the_same_shape(self):
        frame = pa.struct([pa.field("addr", pa.int64(), nullable=False)])
        ours = pa.list_(pa.field("element", pa.struct({"addr": pa.int64()})))
        frames = pa.array([[{"addr": -4096}], []], pa.list_(frame))
        self.assertEqual(rows.retyped(frames, ours).to_pylist(), [[{"addr": -4096}], []])
        self.assertEqual(rows.retyped(frames.slice(1), ours).to_pylist(), [[]])

    def test_the_words_of_spark_are_the_schema(self):
        kinds = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string(), "boolean": pa.bool_()}
        outer, _, rest = spark.ROWS.partition("frames array<struct<")
        inner, _, last = rest.partition(">>, ")
        columns = [(*column.split(" "),) for column in (outer + last).rstrip(", ").split(", ")]
        frame = [tuple(field.split(": ")) for field in inner.split(", ")]
        schema = shard.engine_schema()
        ours = [(field.name, field.type) for field in schema if field.name != "frames"]
        self.assertEqual([(name, kinds[kind]) for name, kind in columns], ours)
        kind = schema.field("frames").type.value_type
        fields = [kind.field(at) for at in range(kind.num_fields)]
        self.assertEqual([(name, kinds[word]) for name, word in frame], [(field.name, field.type) for field in fields])


class Filter:
    def __init__(self, attribute, value):
        self.attribute, self.value = (attribute,), value


class EqualTo(Filter):
    pass


class In(Filter):
    pass


class GreaterThan(Filter):
    pass


class LessThanOrEqual(Filter):
    pass


class StringContains(Filter):
    pass


class Conditions(unittest.TestCase):
    def test_the_rows_that_pass_do_not_depend_on_who_filters(self):
        path = case("two-events")
        for options in ({"join": False}, {}):
            (whole,) = up.rows(path, **FILES, **options)
            times = whole.column("time_ns").to_pylist()
            pid, middle = whole.column("pid")[0].as_py(), times[len(times) // 2]
            for filters, count in (
                ([EqualTo("pid", pid)], len(times)),
                ([EqualTo("pid", 1)], 0),
                ([In("event", ("cpu-clock:u", "x"))], whole.column("event").to_pylist().count("cpu-clock:u")),
                ([EqualTo("event", "task-clock:u")], whole.column("event").to_pylist().count("task-clock:u")),
                ([EqualTo("event", "x")], 0),
                ([EqualTo("comm", "two-events"), GreaterThan("time_ns", middle)], sum(time > middle for time in times)),
                ([LessThanOrEqual("time_ns", middle)], sum(time <= middle for time in times)),
                ([GreaterThan("time_ns", -5), LessThanOrEqual("time_ns", -5000)], 0),
            ):
                conditions = [pushdown.condition(filter) for filter in filters]
                expected = pushdown.wanted(whole, conditions).to_pylist()
                self.assertEqual(len(expected), count)
                pushed = pushdown.options_of(conditions, {**FILES, **options})
                # Several events, and limits before time zero, are not passed to the program.
                left = not options or any(type(filter) is In or filter.value == -5000 for filter in filters)
                self.assertEqual(pushed == {**FILES, **options}, left, conditions)
                ours = [row for batch in up.rows(path, **pushed) for row in pushdown.wanted(batch, conditions).to_pylist()]
                self.assertEqual(ours, expected)

    def test_what_is_not_known_is_left_to_the_engine(self):
        for filter in (
            EqualTo("end", "root"),
            EqualTo("pid", "5"),
            EqualTo("pid", True),
            EqualTo("time_ns", 2**63),
            In("pid", (None,)),
            StringContains("comm", "x"),
            GreaterThan("comm", "x"),
        ):
            self.assertIsNone(pushdown.condition(filter))
        none = {"join": False}
        self.assertEqual(pushdown.options_of([pushdown.condition(EqualTo("comm", "a,b"))], none), none)
        user = {"join": False, "pid": [1], "time": "1,2"}
        conditions = [pushdown.condition(EqualTo("pid", 2)), pushdown.condition(GreaterThan("time_ns", 5))]
        self.assertEqual(pushdown.options_of(conditions, user), user)


class Texts(unittest.TestCase):
    def test_options_of_text(self):
        texts = {"pid": "1,2", "tid": "[3]", "comm": '["a", "b"]', "symbols": "False", "join": "false", "sysroot": "root"}
        texts.update(cache="names", cache_size="2G")
        texts.update(debuginfod="http://host", jobs="1", timeout="2.5", path_map='{"/a": "/b"}', time="+1,", kallsyms="k")
        self.assertEqual(
            text_options.options_of_text(texts),
            {
                "pid": [1, 2],
                "tid": [3],
                "comm": ["a", "b"],
                "symbols": False,
                "join": "off",
                "sysroot": [os.path.abspath("root")],
                "cache": os.path.abspath("names"),
                "cache_size": 2 << 30,
                "debuginfod": ["http://host"],
                "jobs": 1,
                "timeout": 2.5,
                "path_map": [["/a", "/b"]],
                "time": "+1.000000000,",
                "kallsyms": os.path.abspath("k"),
            },
        )
        for name, text in (("pids", "1"), ("pid", "x"), ("symbols", "no"), ("path_map", "x"), ("comm", "[1]")):
            with self.assertRaisesRegex(ValueError, f"option '{name}'"):
                text_options.options_of_text({name: text})

    def test_recordings_of_text(self):
        pattern = str(CASES / "spin-l*" / "perf.data")
        expected = [str(case(name)) for name in ("spin-lld-build-id", "spin-lld-nopie", "spin-lld")]
        self.assertEqual(text_options.recordings_of_text([pattern, f"file://{case('spin-lld')}"]), expected)
        self.assertEqual(text_options.recordings_of_text([json.dumps(["/a", "/b"])]), ["/a", "/b"])
        with self.assertRaisesRegex(ValueError, "no recording matches"):
            text_options.recordings_of_text(["/nonexistent/*.data"])

    def test_folders_and_other_stores(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            for name in ("b.data", "a.data", "_SUCCESS", ".hidden"):
                (here / name).write_bytes(b"")
            (here / "threads").mkdir()
            (here / "threads" / "data").write_bytes(b"")
            (here / "empty").mkdir()
            expected = [str(here / "a.data"), str(here / "b.data")]
            self.assertEqual(text_options.recordings_of_text([folder]), expected)
            threads = str(here / "threads")
            self.assertEqual(text_options.recordings_of_text([threads]), [threads])
            with self.assertRaisesRegex(ValueError, "no recording matches"):
                text_options.recordings_of_text([str(here / "empty")])
        with self.assertRaisesRegex(ValueError, "^'s3a://bucket/x' is not a local path: mount the store, or copy"):
            text_options.recordings_of_text(["s3a://bucket/x"])


if __name__ == "__main__":
    unittest.main()
