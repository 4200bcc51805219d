"""Path of the program, and runs with their output in a pipe."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sysconfig
import threading
import weakref
from collections import deque
from typing import IO, TYPE_CHECKING, Any, Callable, Deque, Dict, List, Optional, Sequence

from ._errors import UnwindPerfError, error_of, failure_line

if TYPE_CHECKING:
    from ._option_types import PathLike

_NAME = "unwind-perf"
# Number of retained lines of the program's standard error.
_LINES = 200


def program() -> str:
    """Returns the path of the program: ``UNWIND_PERF_PROGRAM``, else the one in this package, else one on the search
    path."""
    named = os.environ.get("UNWIND_PERF_PROGRAM")
    if named:
        return named
    folders = [sysconfig.get_path("scripts")]
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", user))
    for folder in folders:
        path = os.path.join(folder, _NAME)
        if os.path.exists(path):
            return path
    found = shutil.which(_NAME)
    if found is None:
        raise FileNotFoundError(f"no program {_NAME}: it belongs to this package's wheel; UNWIND_PERF_PROGRAM can name one")
    return found


def version() -> str:
    """Returns the program's version."""
    return subprocess.run([program(), "--version"], check=True, capture_output=True, text=True).stdout.split()[1]


def environment() -> Dict[str, str]:
    """Returns the environment of runs, which asks for errors as lines of JSON."""
    return {**os.environ, "UNWIND_PERF_ERRORS": "json"}


class Run:
    """Run of the program. Leaving the ``with`` statement ends it, also after an interrupt, an error or an early stop of
    the reader. So does the loss of the last reference."""

    def __init__(
        self,
        arguments: Sequence[str],
        timeout: Optional[float] = None,
        progress: Optional[Callable[[str], None]] = None,
        options: Optional[str] = None,
    ) -> None:
        words = [program(), *(["--progress-lines"] if progress else []), *arguments]
        self._timeout = timeout
        pipe = subprocess.PIPE
        stdin = subprocess.DEVNULL if options is None else pipe
        self._process = subprocess.Popen(words, stdin=stdin, stdout=pipe, stderr=pipe, env=environment())
        if options is not None:
            self._give(options)
        assert self._process.stdout is not None and self._process.stderr is not None
        #: Standard output of the program.
        self.output: IO[bytes] = self._process.stdout
        # Threads have no reference to this object, which could not end otherwise.
        self._said = _Said(progress)
        self._listener = threading.Thread(target=self._said.listen, args=(self._process.stderr,), daemon=True)
        self._listener.start()
        self._timer = None if timeout is None else _Timer(timeout, self._process)
        self._end = weakref.finalize(self, _end, self._process, self._listener, self._timer)

    def _give(self, options: str) -> None:
        """Writes the options of the run, which the program reads first."""
        assert self._process.stdin is not None
        # A program that has ended reports the reason itself.
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(options.encode())

    def finish(self) -> bool:
        """Waits for the program's end. Returns true if the recording, or a file for it, is damaged or partly missing.

        Raises :class:`UnwindPerfError` if there is no result.
        """
        code = self.wait()
        if self._timer is not None and self._timer.ended_it:
            raise UnwindPerfError(code, f"the run took longer than {self._timeout} seconds")
        if code not in (0, 1):
            raise self.error(code)
        return code == 1

    def wait(self) -> int:
        """Waits for the program's end. Returns its exit status, or the negative number of the signal that ended it."""
        code = self._process.wait()
        self._listener.join()
        return code

    def send(self, number: int) -> None:
        """Sends a signal to the program, if it is still running."""
        self._process.send_signal(number)

    def error(self, code: int) -> UnwindPerfError:
        """Returns the exception for an exit status, with the program's message."""
        if self._said.failure is not None:
            return error_of(code, self._said.failure)
        return UnwindPerfError(code, self.message or f"the program ended with status {code}")

    @property
    def failure(self) -> Optional[Dict[str, Any]]:
        """The program's line about an error, if there was one."""
        return self._said.failure

    @property
    def lines(self) -> List[str]:
        """The last lines on the program's standard error."""
        return list(self._said.lines)

    @property
    def message(self) -> str:
        """Last line on the program's standard error."""
        prefix = f"{_NAME}: "
        line = self._said.lines[-1] if self._said.lines else ""
        return line[len(prefix) :] if line.startswith(prefix) else line

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kills the program if it is still running."""
        self._end()


class _Said:
    """Lines on the program's standard error: its last ones, and the one about an error."""

    def __init__(self, progress: Optional[Callable[[str], None]]) -> None:
        self.lines: Deque[str] = deque(maxlen=_LINES)
        self.failure: Optional[Dict[str, Any]] = None
        self._progress = progress

    def listen(self, stderr: IO[bytes]) -> None:
        """Reads all lines; those about progress are passed on."""
        mark = b"progress: "
        for raw in stderr:
            if self._progress is not None and raw.startswith(mark):
                self._progress(raw[len(mark) :].decode("utf-8", "replace").rstrip("\n"))
                continue
            line = raw.decode("utf-8", "replace").rstrip("\n")
            failure = failure_line(line)
            if failure is not None:
                self.failure = failure
            elif line:
                self.lines.append(line)


class _Timer(threading.Timer):
    """Kills a program that runs for too long, in seconds."""

    def __init__(self, timeout: float, process: "subprocess.Popen[bytes]") -> None:
        super().__init__(timeout, self._kill)
        self.ended_it = False
        self._process = process
        self.daemon = True
        self.start()

    def _kill(self) -> None:
        if self._process.poll() is None:
            self.ended_it = True
            self._process.kill()


def _end(process: "subprocess.Popen[bytes]", listener: threading.Thread, timer: Optional[_Timer]) -> None:
    """Ends a run and closes its pipes."""
    if timer is not None:
        timer.cancel()
    if process.poll() is None:
        process.kill()
    process.wait()
    # The last reference can be lost in the listener itself, by a function that shows progress.
    if threading.current_thread() is not listener:
        listener.join()
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def options_argument() -> str:
    """Returns the argument that makes a run read its options."""
    return "--options-json=-"


def input_arguments(path: "PathLike") -> List[str]:
    """Returns the recording as the last argument."""
    return ["--", os.fsdecode(path)]
