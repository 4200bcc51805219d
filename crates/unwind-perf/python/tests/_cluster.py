"""Standalone Spark cluster on the loopback interface, from PySpark's jars, and the memory use of its processes."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pyspark

HOME = pathlib.Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"


def descendants(root):
    """Returns a process and all of its descendants."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def memory(pids):
    """Returns the memory of processes in MiB; shared pages are counted once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total // 1024


class Peak:
    """Peak memory of this process and its descendants."""

    def __enter__(self):
        self.most = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        self._started = time.monotonic()
        return self

    def _watch(self):
        while not self._end.wait(0.25):
            self.most = max(self.most, memory(descendants(os.getpid())))

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self._started
        self._end.set()
        self._thread.join()

    def __str__(self):
        return f"{self.seconds:.1f} s, {self.most} MiB"


class Cluster:
    """Master and two workers with one processor each."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []

    def __enter__(self):
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            port = free.getsockname()[1]
        self.url = f"spark://{LOOPBACK}:{port}"
        try:
            self._start("master.Master", "--host", LOOPBACK, "--port", port, "--webui-port", 0)
            self._wait("master.Master", "elected leader")
            for name in ("one", "two"):
                work = ["--cores", 1, "--memory", "1G", "--work-dir", self.folder / name]
                self._start("worker.Worker", "--host", LOOPBACK, "--webui-port", 0, *work, self.url)
            self._wait("worker.Worker", "Successfully registered", 2)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, name, *words):
        setting = {
            "SPARK_HOME": HOME,
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_LOG_DIR": self.folder,
        }
        command = [HOME / "bin/spark-class", f"org.apache.spark.deploy.{name}", *words]
        with open(self.folder / f"{name}.{len(self.processes)}.log", "w") as log:
            environment = {**os.environ, **{key: str(value) for key, value in setting.items()}}
            child = subprocess.Popen([str(word) for word in command], env=environment, stdout=log, stderr=log)
        self.processes.append(child)

    def _wait(self, name, words, count=1):
        """Waits until ``count`` logs contain the words."""
        for _ in range(600):
            said = [log.read_text() for log in self.folder.glob(f"{name}.*.log")]
            if sum(words in log for log in said) >= count:
                return
            if any(child.poll() is not None for child in self.processes):
                break
            time.sleep(0.1)
        raise RuntimeError(f"{name} does not start:\n" + "\n".join(log[-2000:] for log in said))

    def lose(self):
        """Kills a worker with all of its descendants, as in the loss of a host."""
        for pid in descendants(self.processes[-1].pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def session(self):
        """Returns a session with executors that use this package and this Python."""
        from pyspark.sql import SparkSession

        os.environ.update(SPARK_LOCAL_IP=LOOPBACK, PYSPARK_PYTHON=sys.executable)
        settings = {
            "spark.driver.host": LOOPBACK,
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.executorEnv.UNWIND_PERF_PROGRAM": os.environ["UNWIND_PERF_PROGRAM"],
            "spark.executorEnv.PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        builder = SparkSession.builder.master(self.url).appName("unwind-perf")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("FATAL")
        return spark

    def __exit__(self, *_):
        for child in reversed(self.processes):
            for pid in descendants(child.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            child.wait()
