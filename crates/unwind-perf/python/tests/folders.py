"""Temporary folders of tests, and the packages that they need."""

import importlib.util
import pathlib
import tempfile
import unittest


def installed(*names):
    """Returns true if all of these packages are installed."""
    return all(importlib.util.find_spec(name) for name in names)


def kept(folder):
    """Returns the files below a folder, sorted."""
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file())


class Folder(unittest.TestCase):
    """Tests with a folder, and a path in it for output."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
