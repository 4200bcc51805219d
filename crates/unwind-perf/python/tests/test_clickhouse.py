"""The statements of the chapter on ClickHouse in docs/SCALE.md, as they are printed, with chdb."""

import os
import pathlib
import re
import subprocess
import unittest

from chdb import session

from folders import Folder

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = ["--sysroot", str(ROOT / "testdata" / "sysroot")]
BUILDS = {
    "spin-bfd": "d306bc3c364ba5e040fc25266da671a4cc3928b3",
    "spin-lld-build-id": "f3dcf08ec49ecbf60ccffc71893cba205ac80401",
}


def statements():
    text = (ROOT / "docs" / "SCALE.md").read_text()
    chapter = text.split("\n## ClickHouse\n")[1].split("\n## ")[0]
    return re.findall(r"```sql\n(.*?)```", chapter, re.DOTALL)


class ClickHouse(Folder):
    def run_program(self, *arguments):
        subprocess.run([os.environ["UNWIND_PERF_PROGRAM"], *map(str, arguments), *FILES, "-q"], check=True)

    def test_the_printed_statements(self):
        table, insert, hottest, below, difference = statements()
        stacks = []
        for case in BUILDS:
            stacks.append(self.folder / f"{case}.parquet")
            recording = CASES / case / "perf.data"
            self.run_program(recording, "-f", "parquet", "--stacks", "-o", stacks[-1])
        self.run_program("symbolize", *stacks, "-o", self.folder / "named.parquet")
        difference = difference.replace("BEFORE", BUILDS["spin-bfd"])
        difference = difference.replace("AFTER", BUILDS["spin-lld-build-id"])
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            engine = session.Session()
            for statement in (table, insert):
                engine.query(statement)
            answers = [str(engine.query(query, "CSV")) for query in (hottest, below, difference)]
            engine.close()
        finally:
            os.chdir(here)
        expected = [
            '"spin",83\n',
            '"main;outer;inner;spin",51\n"main;outer.constprop.0;inner;spin",32\n',
            '"spin",100,100\n',
        ]
        self.assertEqual(answers, expected)


if __name__ == "__main__":
    unittest.main()
