"""Comparison of the package with the program's own JSON, NDJSON and folded stacks."""

import contextlib
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
import xml.dom.minidom

import pyarrow

import unwind_perf as up
from unwind_perf import _options, _program

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = {"sysroot": ROOT / "testdata" / "sysroot"}


def case(name):
    return CASES / name / "perf.data"


def printed(name, *words):
    command = [up.program(), "-q", case(name), "--sysroot", FILES["sysroot"], *words]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert run.returncode in (0, 1), run
    return run.stdout


class Tables(unittest.TestCase):
    def test_tables_are_those_of_json(self):
        for name in ("inlines-gcc", "two-events", "syscalls"):
            document = json.loads(printed(name, "-f", "json"))
            recording = up.read(case(name), **FILES)
            self.assertEqual(recording.recording, document["recording"])
            self.assertEqual(recording.summary, document["summary"])
            for table, columns in recording.tables.items():
                theirs = document[table]
                self.assertEqual(columns.num_rows, theirs["length"], (name, table))
                for column in columns.column_names:
                    expected = [named(document, table, column, value) for value in theirs.get(column, [])]
                    expected = expected or [None] * columns.num_rows
                    ours = [plain(table, column, value) for value in columns[column].to_pylist()]
                    self.assertEqual(ours, expected, (name, table, column))

    def test_rows_are_the_lines_of_ndjson(self):
        for name in ("inlines-gcc", "two-events", "syscalls"):
            lines = [json.loads(line) for line in printed(name, "-f", "ndjson").splitlines()]
            reader = up.scan(case(name), batch_rows=10, **FILES)
            batches = list(reader)
            self.assertEqual({batch.num_rows for batch in batches[:-1]}, {10})
            rows = [row for batch in batches for row in batch.to_pylist()]
            self.assertEqual(len(rows), len(lines))
            for row, line in zip(rows, lines):
                self.assertEqual(row.pop("recording"), "perf.data")
                self.assertEqual(row.pop("weight"), line.get("period", 1))
                self.assertEqual(row.pop("complete"), line["end"] in ("root", "kernel-only", "guest"))
                row.pop("host"), row.pop("build_id")
                row["frames"] = [as_text(frame) for frame in row["frames"]]
                self.assertEqual({key: value for key, value in row.items() if value is not None}, line)

    def test_filters_and_names(self):
        recording = up.read(case("two-events"), event="cpu-clock:u", symbols=False, **FILES)
        self.assertEqual(recording.samples["event"].unique().to_pylist(), [0])
        self.assertEqual(set(recording.inlines["function"].to_pylist()), set())
        first = recording.samples["time_ns"].to_pylist()[0] / 1e9
        part = up.read(case("two-events"), time=(None, first + 1e-6), **FILES)
        self.assertEqual(part.samples.num_rows, 1)

    def test_the_share_of_complete_chains(self):
        self.assertEqual(up.read(case("inlines-gcc"), **FILES).complete_share, 1.0)


def plain(table, column, value):
    if (table, column) in (("locations", "relative"), ("locations", "offset")) and value is not None:
        return hex(value)
    if table == "layouts":
        return [[one["module"], one["instance"], hex(one["bias"])] for one in value]
    return value


def named(document, table, column, value):
    strings = {("inlines", "function"), ("inlines", "file"), ("modules", "path"), ("modules", "opened")}
    strings |= {("inlines", "declared_file"), ("threads", "comm"), ("threads", "process"), ("threads", "cgroup"), ("events", "name")}
    words = {("samples", "end"): "end", ("frames", "found_by"): "found_by", ("modules", "kind"): "module_kind"}
    if value is None:
        return None
    if (table, column) in strings:
        return document["strings"][value]
    if (table, column) in words:
        return document["words"][words[table, column]][value]
    return value


def as_text(frame):
    text = {key: hex(frame[key]) for key in ("addr", "svma", "offset") if frame[key] is not None}
    return {key: value for key, value in {**frame, **text}.items() if value is not None}


class Costs(unittest.TestCase):
    def test_top_agrees_with_folded_stacks(self):
        for name in ("inlines-gcc", "recursion-rs", "two-events"):
            own, inclusive = {}, {}
            stacks = up.folded(case(name), **FILES)
            for row in stacks.to_pylist():
                functions = row["stack"].split(";")[1:]
                own[functions[-1]] = own.get(functions[-1], 0) + row["weight"]
                for function in set(functions):
                    inclusive[function] = inclusive.get(function, 0) + row["weight"]
            ours_own, ours_inclusive = {}, {}
            for row in up.top(up.read(case(name), **FILES)).to_pylist():
                function = row["function"]
                ours_own[function] = ours_own.get(function, 0) + row["own"]
                ours_inclusive[function] = ours_inclusive.get(function, 0) + row["inclusive"]
            self.assertEqual({key: value for key, value in ours_own.items() if value}, own, name)
            self.assertEqual(ours_inclusive, inclusive, name)

    def test_a_tree_adds_up_to_top_and_folded(self):
        for name in ("inlines-gcc", "recursion-rs"):
            rows = up.tree(case(name), **FILES).to_pylist()
            paths = []
            for number, row in enumerate(rows):
                above = [] if row["parent"] is None else paths[row["parent"]]
                self.assertEqual(row["depth"], len(above))
                paths.append([*above, row["function"]])
            ours = {";".join(path): row["own"] for path, row in zip(paths, rows) if row["own"]}
            folded = up.folded(case(name), root="none", **FILES).to_pylist()
            self.assertEqual(ours, {row["stack"]: row["weight"] for row in folded}, name)
            roots = [row["inclusive"] for row in rows if row["parent"] is None]
            self.assertEqual(sum(roots), sum(ours.values()))
            callers = up.tree(up.read(case(name), **FILES), bottom_up=True).to_pylist()
            own = {row["function"]: row["inclusive"] for row in callers if row["parent"] is None}
            top = up.top(case(name), **FILES).to_pylist()
            self.assertEqual(own, {row["function"]: row["own"] for row in top if row["own"]}, name)
        few = up.tree(case("inlines-gcc"), min_share=0.5, **FILES)
        self.assertEqual(few["inclusive_share"].to_pylist()[-1], 27 / 35)

    def test_the_lines_and_instructions_of_a_function(self):
        top = next(row for row in up.top(case("inlines-gcc"), **FILES).to_pylist() if "_M_gen_rand" in row["function"])
        for recording, options in ((case("inlines-gcc"), FILES), (up.read(case("inlines-gcc"), **FILES), {})):
            it = up.annotate(recording, "_M_gen_rand", **options)
            self.assertEqual((it.function, it.module, it.own, it.inclusive, it.total), (top["function"], top["module"], 15, 15, 35))
            self.assertEqual(it.lines.slice(0, 1).to_pylist()[0]["line"], 408)
            self.assertEqual(sum(it.lines["own"].to_pylist()), it.own)
            self.assertEqual(sum(it.instructions["own"].to_pylist()), it.own)
            self.assertEqual(it.instructions.slice(0, 1).to_pylist()[0]["text"], "mov %rdi,%r8")
        self.assertEqual(up.annotate(case("inlines-gcc"), "_M_gen_rand", code=False, **FILES).instructions.num_rows, 0)
        with self.assertRaisesRegex(up.UnwindPerfError, "no sampled function has --nobody in its name"):
            up.annotate(case("inlines-gcc"), "--nobody", **FILES)

    def test_top_by_module_and_period(self):
        rows = up.top(up.read(case("two-events"), **FILES), by="module", weight="period").to_pylist()
        self.assertEqual(rows[0]["inclusive_share"], 1.0)
        self.assertEqual([row["module"].rpartition("/")[2] for row in rows], ["two-events", "libc.so.6"])
        with self.assertRaisesRegex(ValueError, "no event 'x'; there are cpu-clock:u"):
            up.top(up.read(case("two-events"), **FILES), event="x")
        with self.assertRaisesRegex(up.UnwindPerfError, "--by colour is none of function, module, .* nor a label or field"):
            up.top(case("two-events"), by="colour", **FILES)

    def test_costs_and_spans_have_values(self):
        path, files = case("syscalls"), ["--sysroot", FILES["sysroot"]]

        def of_program(*words):
            run = subprocess.run([up.program(), *words, "-q", "--format=json", path, *files], stdout=subprocess.PIPE, check=True)
            return json.loads(run.stdout)["rows"]

        table = up.top(path, by="field:addr", **FILES)
        self.assertEqual(table.column_names[:2], ["value", "missing"])
        self.assertEqual(str(table.schema.field("value").type), "uint64")
        self.assertEqual(table.to_pylist(), of_program("top", "--by=field:addr"))
        folded = up.folded(path, root="field:addr", **FILES).to_pylist()
        self.assertEqual({row["stack"].split(";")[0] for row in folded}, {str(row["value"]) for row in table.to_pylist()})
        span = "s=cpu-clock,cpu-clock"
        spans = up.spans(path, span=span, by="addr", **FILES)
        self.assertEqual(spans.column_names[:4], ["span", "value", "missing", "spans"])
        self.assertEqual(spans.num_rows, len(of_program("spans", f"--span={span}", "--by=addr")))
        with self.assertRaisesRegex(up.UnwindPerfError, "needs --span"):
            up.spans(path, **FILES)

    def test_top_chooses_functions(self):
        recording = up.read(case("recursion-rs"), **FILES)
        all_rows = up.top(recording).to_pylist()
        hottest = all_rows[0]["function"]
        without = up.top(recording, hide=f"^{re.escape(hottest)}$").to_pylist()
        self.assertNotIn(hottest, [row["function"] for row in without])
        self.assertEqual(sum(row["own"] for row in without), sum(row["own"] for row in all_rows))
        with self.assertRaisesRegex(up.UnwindPerfError, "no function matches --focus 'nobody' or 'none of all'"):
            up.top(case("recursion-rs"), focus=["nobody", "none of all"], **FILES)
        threads = up.top(recording, by="thread", sort="inclusive")
        self.assertEqual(threads.column_names[:3], ["thread", "pid", "tid"])

    def test_a_recording_does_not_differ_from_itself(self):
        table = up.diff(case("inlines-gcc"), [case("inlines-gcc")], **FILES)
        self.assertEqual(set(table["own_delta"].to_pylist()), {0.0})
        self.assertEqual(set(table["inclusive_marked"].to_pylist()), {False})
        self.assertEqual(json.loads(table.schema.metadata[b"unwind_perf.diff"])["event"], "cpu-clock:u")

    def test_the_picture_is_the_flame_graph(self):
        recording = up.read(case("exceptions"), **FILES)
        html = recording._repr_html_()
        document = xml.dom.minidom.parseString(html.replace("&nbsp;", " "))
        frame = document.getElementsByTagName("iframe")[0]
        page = frame.getAttribute("srcdoc")
        self.assertIn("40 samples", html)
        # All functions, not only the outermost ones, and one place for incomplete stacks.
        titles = re.findall(r"<title>(.*?) \(", page)
        self.assertEqual(titles.count("[truncated]"), 1)
        functions = {row["function"] for row in up.top(recording).to_pylist()}
        self.assertLessEqual({name for name in functions if name.isidentifier()}, set(titles))
        # A search and a zoom, without an address to keep them in.
        for part in ('<input id="wanted"', "function zoom(", "function search(", "history.replaceState = function"):
            self.assertIn(part, page)

    def test_a_recording_that_is_gone_has_a_message_as_its_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "perf.data")
            path.write_bytes(case("inlines-gcc").read_bytes())
            recording = up.read(path, **FILES)
        html = recording._repr_html_()
        self.assertNotIn("<iframe", html)
        self.assertIn("No such file or directory", html)


class Readers(unittest.TestCase):
    def test_a_recording_is_a_stream_of_rows(self):
        recording = up.read(case("inlines-gcc"), **FILES)
        self.assertEqual(pyarrow.table(recording).to_pylist(), recording.to_table().to_pylist())
        with contextlib.suppress(ImportError):
            import polars

            self.assertEqual(polars.DataFrame(recording).height, 35)
        with contextlib.suppress(ImportError):
            import duckdb

            self.assertEqual(duckdb.sql("SELECT count(*) FROM recording").fetchall(), [(35,)])

    def test_polars_pandas_and_duckdb_take_a_scan(self):
        with contextlib.suppress(ImportError):
            import polars

            self.assertEqual(polars.from_arrow(up.scan(case("inlines-gcc"), **FILES)).height, 35)
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(len(up.scan(case("inlines-gcc"), **FILES).read_pandas()), 35)
        with contextlib.suppress(ImportError):
            import duckdb

            rows = up.scan(case("inlines-gcc"), **FILES)  # noqa: F841
            self.assertEqual(duckdb.sql("SELECT count(*) FROM rows").fetchall(), [(35,)])


class Errors(unittest.TestCase):
    def test_no_result_is_an_error_with_the_reason(self):
        message = "cannot read /nonexistent/perf.data: No such file or directory (os error 2)"
        for read in (up.read, up.scan, up.folded, up.top, lambda path: up.diff(path, path)):
            with self.assertRaises(FileNotFoundError) as caught:
                read("/nonexistent/perf.data")
            self.assertIsInstance(caught.exception, up.UnwindPerfError)
            for error in (caught.exception, pickle.loads(pickle.dumps(caught.exception))):
                self.assertEqual((error.code, error.message, str(error)), (2, message, message))
                self.assertEqual((error.cause, error.filename, error.errno), ("missing", "/nonexistent/perf.data", 2))

    def test_a_wrong_call_has_the_programs_message(self):
        for call, message in (
            (lambda: up.top(case("plt"), sort="x", **FILES), "invalid value 'x' for '--sort <COST>' [possible values: own, inclusive]"),
            (lambda: up.read(case("plt"), span="x", **FILES), "option 'span': "),
            (lambda: up.read(case("plt"), demangle="foo"), "option 'demangle': "),
            (lambda: up.read(case("plt"), jobs=-1), "option 'jobs': "),
            (lambda: up.convert(case("plt"), "/nonexistent", demangle="foo"), "option 'demangle': "),
        ):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertEqual(str(caught.exception)[: len(message)], message)
        with self.assertRaises(up.CallError) as caught:
            up.top(case("plt"), sort="x")
        self.assertEqual((caught.exception.code, caught.exception.cause), (2, "call"))

    def test_an_error_has_the_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder, "cut.data")
            whole = case("inlines-gcc").read_bytes()
            cut.write_bytes(whole[: len(whole) * 3 // 4])
            findings = up.read(cut, **FILES).findings
            with self.assertRaisesRegex(up.UnwindPerfError, "no sample passes the filters") as caught:
                up.read(cut, pid=1, **FILES)
        self.assertEqual(caught.exception.cause, "no-samples")
        self.assertEqual(caught.exception.findings[0]["kind"], "data-cut")
        self.assertEqual(set(caught.exception.findings[0]), {"kind", "count", "message"})
        self.assertIn("data-cut", [one["kind"] for one in findings])

    def test_without_pyarrow_the_error_names_the_extra(self):
        line = "import sys, unwind_perf as up\nsys.modules['pyarrow'] = None\n"
        for call in ("up.read('x')", "up.scan('x')", "up.top('x')", "up.folded('x')", "up.rows('x')"):
            run = subprocess.run([sys.executable, "-c", line + call], stderr=subprocess.PIPE, text=True)
            last = run.stderr.splitlines()[-1]
            self.assertEqual(last, "ModuleNotFoundError: tables need pyarrow: pip install 'unwind-perf[tables]'", call)

    def test_convert_needs_no_pyarrow(self):
        with tempfile.TemporaryDirectory() as folder:
            line = "import sys, unwind_perf as up\nsys.modules['pyarrow'] = None\n"
            call = f"print(up.convert({str(case('inlines-gcc'))!r}, {folder!r}, symbols=False)['samples'])"
            run = subprocess.run([sys.executable, "-c", line + call], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(run.stdout, "35\n")

    def test_a_damaged_recording_says_how(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder, "cut.data")
            whole = case("inlines-gcc").read_bytes()
            cut.write_bytes(whole[: len(whole) * 3 // 4])
            recording = up.read(cut, **FILES)
        self.assertTrue(recording.damaged)
        self.assertIn("data-cut", [one["kind"] for one in recording.findings])
        self.assertFalse(up.read(case("spin-lld"), **FILES).damaged)

    def test_unknown_options_are_refused(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'pids'"):
            up.read(case("plt"), pids=1)
        with self.assertRaisesRegex(ValueError, "option 'max_memory': at least 32 M are needed"):
            up.read(case("plt"), max_memory="1M")
        with self.assertRaisesRegex(ValueError, "batch_rows"):
            up.scan(case("plt"), batch_rows=0)


class Options(unittest.TestCase):
    def test_every_option_arrives_unchanged(self):
        everything = {
            "pid": [1],
            "tid": [2],
            "comm": ["a,b", {"hex": "ff2a"}],
            "cgroup": ["/a"],
            "event": ["cycles:u"],
            "time": "1.500000000,",
            "inlines": False,
            "symbols": False,
            "demangle": "short",
            "join": "exact",
            "off_cpu": True,
            "max_frames": 7,
            "max_memory": 64 << 20,
            "jobs": 2,
            "cache": "/c",
            "cache_size": 64 << 20,
            "modules": ["/m"],
            "path_map": [["/a", "/b"]],
            "sysroot": ["/s"],
            "buildid_dirs": ["/i"],
            "debug_dirs": ["/d"],
            "extra_dirs": ["/e"],
            "perf_map_dirs": ["/p"],
            "trust_perf_maps": True,
            "debuginfod": ["http://host"],
            "fetched": True,
            "map": [{"object": "/o", "pid": 7, "start": 4096, "len": 32, "offset": 768}],
            "map_file": ["/hints"],
            "source_dirs": ["/src"],
            "kallsyms": "/k",
        }
        self.assertEqual(json.loads(_options.checked(everything)), everything)

    def test_values_are_read_as_they_are_written(self):
        def known(**options):
            return json.loads(_options.checked(options))

        self.assertEqual(known(pid=range(3), comm=b"\xff", join=False), {"pid": [0, 1, 2], "comm": [{"hex": "ff"}], "join": "off"})
        self.assertEqual(known(sysroot=pathlib.Path("a"), time=(None, 2.5)), {"sysroot": [os.path.abspath("a")], "time": ",2.500000000"})
        self.assertEqual(known(kallsyms=os.fsdecode(b"/\xff")), {"kallsyms": {"hex": "2fff"}})
        self.assertEqual(known(path_map={"/b": "/c", "/a": "/d"}), {"path_map": [["/b", "/c"], ["/a", "/d"]]})
        self.assertEqual(known(map="/o@*,0x10,2", debuginfod=True)["map"], [{"object": "/o", "start": 16, "len": 2}])
        self.assertEqual(known(jobs=None, demangle=None, cache_size=None), {})

    def test_hints_and_trusted_maps_are_obeyed(self):
        with tempfile.TemporaryDirectory() as folder:
            hints = pathlib.Path(folder, "hints")
            hints.write_text("# none\n/nonexistent/object@*,0x1000,0x1000,0\n")
            for options in ({"map_file": hints}, {"map": "/nonexistent/object@*,0x1000,0x1000,0"}):
                with self.assertRaisesRegex(up.UnwindPerfError, "/nonexistent/object"):
                    up.read(case("plt"), **options, **FILES)
        self.assertEqual(up.read(case("plt"), trust_perf_maps=True, **FILES).complete_share, 1.0)


class Endings(unittest.TestCase):
    """Runs that wait for ever, for a recording without a writer."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.fifo = os.path.join(self.folder.name, "fifo")
        os.mkfifo(self.fifo)
        self.runs = []
        popen = subprocess.Popen
        recorded = lambda *words, **more: self.runs.append(popen(*words, **more)) or self.runs[-1]  # noqa: E731
        _program.subprocess.Popen = recorded
        self.addCleanup(setattr, _program.subprocess, "Popen", popen)
        self.addCleanup(self.folder.cleanup)

    def test_a_timeout_ends_the_program(self):
        with self.assertRaisesRegex(up.UnwindPerfError, "took longer than 0.3 seconds"):
            up.read(self.fifo, timeout=0.3)
        self.assertIsNotNone(self.runs[0].poll())

    def test_an_interrupt_ends_the_program(self):
        # Background jobs of shells start with interrupts ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaises(KeyboardInterrupt):
            up.read(self.fifo)
        self.assertIsNotNone(self.runs[0].poll())

    def test_a_scan_that_is_dropped_ends_the_program(self):
        def unread(reader):
            pass

        def read(reader):
            reader.read_next_batch()

        def closed(reader):
            reader.close()

        for use in (unread, read, closed):
            reader = up.scan(case("inlines-gcc"), batch_rows=1, **FILES)
            use(reader)
            del reader
            # It was also waited for: there is no zombie.
            self.assertIsNotNone(self.runs[-1].returncode, use.__name__)
            self.assertTrue(self.runs[-1].stdout.closed, use.__name__)

    def test_a_run_that_is_dropped_ends_the_program(self):
        run = _program.Run(["-q", self.fifo], timeout=100)
        del run
        self.assertEqual(self.runs[0].returncode, -signal.SIGKILL)

    def test_the_end_of_python_ends_the_program(self):
        line = "from unwind_perf import _program; run = _program.Run(['-q', %r]); print(run._process.pid)" % self.fifo
        run = subprocess.run([sys.executable, "-c", line], stdout=subprocess.PIPE, text=True, check=True)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(run.stdout), 0)


class Documentation(unittest.TestCase):
    def test_the_lines_of_the_readme_run(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", readme, re.S)
        self.assertEqual(len(blocks), 1)
        before = os.getcwd()
        os.chdir(CASES / "spin-lld")
        try:
            with contextlib.redirect_stdout(None):
                exec(compile(blocks[0], "README.md", "exec"), {})
        finally:
            os.chdir(before)

    def test_progress_is_told(self):
        told = []
        with _program.Run(["-q", "-f", "json", str(case("inlines-gcc"))], progress=told.append) as run:
            run.output.read()
            run.finish()
        self.assertEqual(told[0], "reading")
        self.assertEqual(told[-1], "writing")


if __name__ == "__main__":
    unittest.main()
