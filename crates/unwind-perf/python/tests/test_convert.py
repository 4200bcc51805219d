"""Recordings to files of rows: what is written, what a second call does, and what becomes of runs that fail."""

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
from unwind_perf import _rows

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = {"sysroot": ROOT / "testdata" / "sysroot"}

# Notes each run in $RUNS; the first of those that print rows go wrong as $FAULTS says, a word for each.
FAULTY = """#!/bin/sh
case "$1" in --version) exec "$REAL" "$@";; esac
echo run >> "$RUNS"
set -- "$(sed -n "$(wc -l < "$RUNS")p" "$FAULTS")" "$@"
fault=$1; shift
case "$fault" in
killed) kill -9 $$;;
slow) exec sleep 100;;
broken) "$REAL" "$@" | head -c 5000; exit 0;;
cut) "$REAL" "$@" | head -c 30000; kill -9 $$;;
panicked) exit 101;;
grows) "$REAL" "$@"; for last; do :; done; printf x >> "$last"; exit 0;;
esac
exec "$REAL" "$@"
"""


def case(name):
    return CASES / name / "perf.data"


def kept(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file())


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def written(self, manifest):
        return pq.read_table(self.out / manifest["part"], partitioning=None)


class Files(Folder):
    def test_the_rows_are_those_of_scan(self):
        for name in ("inlines-gcc", "two-events", "syscalls"):
            manifest = up.convert(case(name), self.out, **FILES)
            ours, expected = self.written(manifest), up.scan(case(name), **FILES).read_all()
            self.assertEqual(ours.to_pylist(), expected.to_pylist(), name)
            self.assertEqual(ours.schema.remove_metadata(), _rows.row_schema())

    def test_the_manifest_says_what_was_done(self):
        manifest = up.convert(case("inlines-gcc"), self.out, jobs=1, **FILES)
        recording = case("inlines-gcc").read_bytes()
        digest = hashlib.sha256(recording).hexdigest()
        folder = f"v1/recording={digest}/opts={manifest['opts']}"
        self.assertEqual(kept(self.out), [f"{folder}/manifest.json", f"{folder}/part.parquet"])
        self.assertEqual(json.loads((self.out / folder / "manifest.json").read_text()), manifest)
        self.assertGreater(manifest.pop("seconds"), 0)
        read = up.read(case("inlines-gcc"), **FILES)
        expected = {
            "manifest": 1,
            "path": str(case("inlines-gcc")),
            "recording": digest,
            "bytes": len(recording),
            "opts": manifest["opts"],
            "options": [f"--sysroot={FILES['sysroot']}"],
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
        self.assertIn("the recording is damaged: file is cut", manifest["message"])
        self.assertIn("data-cut", [one["kind"] for one in manifest["findings"]])
        self.assertEqual(self.written(manifest).num_rows, manifest["samples"])

    def test_no_wanted_sample_is_a_file_without_rows(self):
        manifest = up.convert(case("inlines-gcc"), self.out, pid=1, **FILES)
        self.assertEqual((manifest["status"], manifest["samples"]), ("ok", 0))
        self.assertIn("no sample passes the filters", manifest["message"])
        self.assertEqual(self.written(manifest).schema.remove_metadata(), _rows.row_schema())

    def test_a_directory_is_known_by_its_files(self):
        folder = self.folder / "threads.data"
        folder.mkdir()
        shutil.copy(case("inlines-gcc"), folder / "data")
        first = up.convert(folder, self.out, **FILES)
        (folder / "data").rename(folder / "header")
        second = up.convert(folder, self.out, **FILES)
        self.assertNotEqual(first["recording"], second["recording"])
        self.assertEqual(first["bytes"], case("inlines-gcc").stat().st_size)


class Again(Folder):
    """The program is one that notes its runs and goes wrong as it is told."""

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
        """Converts; gives the manifest and the number of runs."""
        self.faults.write_text("".join(f"{fault}\n" for fault in faults))
        self.runs.write_text("")
        manifest = up.convert(self.recording, self.out, **FILES, **options)
        return manifest, len(self.runs.read_text().splitlines())

    def test_what_was_done_is_not_done_again(self):
        first, runs = self.convert()
        self.assertEqual(runs, 1)
        self.assertEqual(self.convert(), (first, 0))
        self.assertEqual(self.convert(jobs=2), (first, 0))
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
            lambda: (folder / "manifest.json").unlink(),
            lambda: (folder / "manifest.json").write_text("{"),
            lambda: (folder / "manifest.json").write_text("[]"),
        ):
            spoil()
            again, runs = self.convert()
            self.assertEqual((runs, again["part_bytes"]), (1, first["part_bytes"]))

    def test_a_killed_run_is_repeated(self):
        expected = up.scan(case("inlines-gcc"), **FILES).read_all().to_pylist()
        for fault in ("killed", "broken", "cut", "panicked"):
            manifest, runs = self.convert(fault, redo=("ok",))
            self.assertEqual((runs, manifest["attempts"], manifest["status"]), (2, 2, "ok"), fault)
            rows = [{**row, "recording": "perf.data"} for row in self.written(manifest).to_pylist()]
            self.assertEqual(rows, expected, fault)

    def test_retries_end(self):
        manifest, runs = self.convert("killed", "killed", "killed")
        self.assertEqual((runs, manifest["attempts"], manifest["status"]), (3, 3, "gave-up"))
        self.assertEqual((manifest["message"], manifest["part"]), ("the program ended with status -9", None))
        # Only the manifest is left, and it does not keep another call from trying.
        self.assertEqual([os.path.basename(path) for path in kept(self.out)], ["manifest.json"])
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
        self.assertEqual((runs, manifest["status"], manifest["part"]), (1, "unreadable", None))
        self.assertIn("not a perf.data recording", manifest["message"])
        self.assertEqual(self.convert(), (manifest, 0))

    def test_what_cannot_be_opened_is_unreadable_and_leaves_nothing(self):
        os.mkfifo(self.folder / "fifo")
        for name in ("nothing", "fifo"):
            self.recording = self.folder / name
            manifest, runs = self.convert()
            self.assertEqual((runs, manifest["status"], manifest["recording"]), (0, "unreadable", None))
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
        self.assertEqual([os.path.basename(path) for path in kept(self.out)], ["manifest.json", "part.parquet"])


class Numbers(unittest.TestCase):
    def test_signed_numbers_have_the_same_bits(self):
        frames = pa.array([[{"addr": 2**64 - 4096, "line": 2**32 - 1}], []], pa.list_(pa.struct({"addr": pa.uint64(), "line": pa.uint32()})))
        self.assertEqual(_rows.signed(frames).to_pylist(), [[{"addr": -4096, "line": 2**32 - 1}], []])
        self.assertEqual(_rows.signed(frames.slice(1)).to_pylist(), [[]])
        self.assertEqual(_rows.signed(pa.array([None, 5], pa.uint64())).to_pylist(), [None, 5])


if __name__ == "__main__":
    unittest.main()
