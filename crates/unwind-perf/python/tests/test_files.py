"""Pages, bundles and recordings from Python."""

import contextlib
import io
import json
import os
import pathlib
import stat
import unittest

import unwind_perf as up
from folders import Folder

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = {"sysroot": ROOT / "testdata" / "sysroot"}

# A program in the place of perf: it answers questions about itself, and copies a recording to the place of -o.
PERF = """#!/bin/sh
case "$1" in
  version | --version | -v) echo "perf version 6.1.0"; exit 0 ;;
esac
echo "$@" >> "{folder}/words"
exit {status}
"""


def case(name):
    return CASES / name / "perf.data"


class Pages(Folder):
    def test_a_page_is_that_of_the_command(self):
        page = up.report(case("inlines-gcc"), self.folder / "a.html", sources=False, **FILES)
        self.assertEqual((page.path, page.damaged), (os.fspath(self.folder / "a.html"), False))
        text = pathlib.Path(page).read_text(encoding="utf-8")
        self.assertTrue(text.startswith("<!") and "</html>" in text[-200:])
        whole = up.report(up.read(case("inlines-gcc"), **FILES), self.folder / "b.html", sources=False)
        self.assertEqual(pathlib.Path(whole).read_text(encoding="utf-8"), text)
        without = up.report(case("inlines-gcc"), self.folder / "c.html", sources=False, code=False, **FILES)
        self.assertLess(os.path.getsize(without), os.path.getsize(page))
        with self.assertRaises(FileNotFoundError):
            up.report(self.folder / "none", self.folder / "d.html")


class Bundles(Folder):
    def test_a_bundle_is_a_recording(self):
        recording = up.read(case("inlines-gcc"), comm="inlines*", **FILES)
        bundle = up.bundle(recording, self.folder / "a.upb")
        self.assertFalse(bundle.damaged)
        self.assertEqual(up.read(bundle).samples.num_rows, 35)
        self.assertEqual(up.top(bundle).to_pylist(), up.top(recording).to_pylist())

    def test_a_bundle_can_lose_data(self):
        up.bundle(case("inlines-gcc"), self.folder / "a.upb", jobs=1, **FILES)
        up.bundle(self.folder / "a.upb", self.folder / "b.upb", anonymize=True)
        self.assertNotIn("testbox", json.dumps(up.read(self.folder / "b.upb").recording))
        thin = up.bundle(case("inlines-gcc"), self.folder / "c.upb", files=False, stacks=False, **FILES)
        self.assertLess(os.path.getsize(thin) * 5, os.path.getsize(self.folder / "a.upb"))
        self.assertTrue(up.read(thin).damaged)

    def test_wrong_calls_are_errors(self):
        for options, reason in (({"comm": "x"}, "the option comm means nothing"), ({"whole": True, "files": False}, "cannot be used")):
            with self.assertRaisesRegex(up.UnwindPerfError, reason):
                up.bundle(case("inlines-gcc"), self.folder / "a.upb", **options)


class Stacks(unittest.TestCase):
    def test_folded_stacks_can_be_had_otherwise(self):
        def stacks(**how):
            return up.folded(case("exceptions"), **how, **FILES)["stack"].to_pylist()

        usual, reverse = stacks(root="none"), stacks(root="none", reverse=True)
        # One [truncated] is above incomplete stacks in both.
        complete = [stack for stack in usual if not stack.startswith("[truncated];")]
        turned = {";".join(reversed(stack.split(";"))) for stack in reverse if not stack.startswith("[truncated];")}
        self.assertEqual(turned, set(complete))
        self.assertTrue(any(stack.startswith("[truncated];") for stack in usual))
        self.assertFalse(any("[truncated]" in stack for stack in stacks(keep_unrooted=True)))

    def test_arguments_are_included_if_wanted(self):
        for options in ({}, {"with_arguments": True}):
            self.assertTrue(up.read(case("plt"), **options, **FILES).recording["command_line"])


class Records(Folder):
    def perf(self, status):
        path = self.folder / "perf"
        path.write_text(PERF.format(folder=self.folder, status=status))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_options_are_those_of_the_command(self):
        perf = self.perf(1)
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(up.UnwindPerfError):
            up.record(["true"], self.folder / "a.data", perf=perf, frequency=99, event=["cycles", "faults"], no_store=True)
        words = (self.folder / "words").read_text()
        for part in (" -F 99 ", " -e cycles ", " -e faults ", " -- true"):
            self.assertIn(part, f" {' '.join(words.split())} ".replace("\n", " "), words)

    def test_wrong_calls_are_errors(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'freq'"):
            up.record(["true"], freq=1)
        with self.assertRaisesRegex(up.UnwindPerfError, "nowhere"):
            up.record(["true"], self.folder / "a.data", perf="/nowhere/perf")


if __name__ == "__main__":
    unittest.main()
