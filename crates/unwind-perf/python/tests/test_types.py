"""Types of options: their names, and mistakes that checkers of types find in a user's program."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from unwind_perf import _option_types

ROOT = pathlib.Path(__file__).resolve().parents[4]
PACKAGE = ROOT / "crates" / "unwind-perf" / "python"

PROGRAM = """import pathlib
import unwind_perf as up

up.read("perf.data", demangle="foo")
up.scan("perf.data", join="x")
up.convert("perf.data", "out", pids=1)
up.top("perf.data", pid=1.5)
up.rows("perf.data", sysroot=3)
options: up.Options = {"demangle": "bar"}
up.read(b"perf.data", demangle="short", join=False, pid=[1, 2], comm=b"x", time=(None, 2.5), sysroot=pathlib.Path("/"))
up.top("perf.data", event="cycles", pid="1,2", path_map={"/build": "/src"}, max_memory="2G", debuginfod=True)
up.convert("perf.data", "out", jobs=1, redo=["ok"], map=[{"object": "/o"}], cache=None)
"""
WRONG = [4, 5, 6, 7, 8, 9]


class Names(unittest.TestCase):
    def test_every_option_has_a_type(self):
        text = (ROOT / "docs" / "OPTIONS.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|", text, re.M)
        documented = [name for row in rows for name in re.findall(r"`([a-z_]+)`", row)]
        self.assertGreater(len(documented), 45)
        typed = {*_option_types.OptionsOfAnyEvent.__annotations__, *_option_types.Options.__annotations__}
        self.assertEqual(sorted(typed), sorted(documented))


class Checkers(unittest.TestCase):
    def lines(self, *command):
        """Returns the lines of the user's program with errors."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text(PROGRAM)
            environment = {"MYPYPATH": str(PACKAGE), "PYTHONPATH": str(PACKAGE), "PATH": "/usr/bin:/bin", "HOME": folder}
            words = [sys.executable, "-m", *command, str(program)]
            run = subprocess.run(words, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment)
        return sorted({int(line) for line in re.findall(r"program\.py:(\d+):.*?error", run.stdout)}), run.stdout

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy(self):
        found, printed = self.lines("mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent")
        self.assertEqual(found, WRONG, printed)

    @unittest.skipUnless(importlib.util.find_spec("pyright") and shutil.which("node"), "pyright is not installed")
    def test_pyright(self):
        found, printed = self.lines("pyright")
        self.assertEqual(found, WRONG, printed)


if __name__ == "__main__":
    unittest.main()
