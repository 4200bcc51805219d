"""Recordings at URLs and trees in stores of objects, with emulators of S3 and Azure on the loopback, and a stand-in for
Google Cloud.

The environment names the program (``UNWIND_PERF_PROGRAM``) and the folder of the emulators (``EMULATORS``).
"""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import socket
import subprocess
import threading
import time
import unittest
import urllib.parse

import boto3
from azure.storage.blob import BlobServiceClient

import unwind_perf as up
from folders import Folder, kept

ROOT = pathlib.Path(__file__).resolve().parents[4]
CASES = ROOT / "testdata" / "cases"
FILES = ["--sysroot", str(ROOT / "testdata" / "sysroot")]
EMULATORS = pathlib.Path(os.environ["EMULATORS"])
RECORDINGS = {"fleet/a b.data": "inlines-gcc", "fleet/two.data": "two-events"}
SECRET = "not-a-real-secret"
# Known to all users of the emulator. Source: https://learn.microsoft.com/azure/storage/common/storage-use-azurite
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Emulator:
    """A program that listens on the loopback, and the variables that name it."""

    def __init__(self, *command):
        self.port = free_port()
        words = [str(word).replace("PORT", str(self.port)) for word in command]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=EMULATORS)
        self.address = f"http://127.0.0.1:{self.port}"
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.1)
        raise TimeoutError(words[0])

    def stop(self):
        self.process.kill()
        self.process.wait()


class S3(Emulator):
    def __init__(self):
        super().__init__(EMULATORS / "bin" / "moto_server", "-H", "127.0.0.1", "-p", "PORT")
        self.root = "s3://recordings"
        self.environment = {
            "AWS_ENDPOINT": self.address,
            "AWS_ACCESS_KEY_ID": "user",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }
        self.client = boto3.client(
            "s3",
            endpoint_url=self.address,
            region_name="us-east-1",
            aws_access_key_id="user",
            aws_secret_access_key=SECRET,
        )
        self.client.create_bucket(Bucket="recordings")

    def write(self, name, content):
        self.client.put_object(Bucket="recordings", Key=name, Body=content)

    def read(self, name):
        return self.client.get_object(Bucket="recordings", Key=name)["Body"].read()

    def names(self):
        listed = self.client.list_objects_v2(Bucket="recordings")
        return [one["Key"] for one in listed["Contents"]]


class Azure(Emulator):
    def __init__(self):
        program = EMULATORS / "node_modules" / ".bin" / "azurite-blob"
        super().__init__(program, "--blobPort", "PORT", "--inMemoryPersistence", "--skipApiVersionCheck", "--silent")
        self.root = "az://recordings"
        self.environment = {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": self.address}
        endpoint = f"{self.address}/devstoreaccount1"
        text = f"AccountName=devstoreaccount1;AccountKey={AZURE_KEY};BlobEndpoint={endpoint};"
        self.client = BlobServiceClient.from_connection_string(text).create_container("recordings")

    def write(self, name, content):
        self.client.upload_blob(name, content)

    def read(self, name):
        return self.client.download_blob(name).readall()

    def names(self):
        return list(self.client.list_blob_names())


class GoogleHandler(http.server.BaseHTTPRequestHandler):
    """Objects of Google's XML interface: reads with a token, and writes."""

    def do_GET(self):
        assert self.headers["Authorization"] == f"Bearer {SECRET}"
        content = self.server.objects.get(urllib.parse.unquote(self.path))
        etag = f'"{hashlib.md5(content or b"").hexdigest()}"'
        if content is not None and self.headers.get("If-None-Match") == etag:
            return self.answer(304, etag, b"")
        return self.answer(404 if content is None else 200, etag, content or b"")

    do_HEAD = do_GET

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.objects[urllib.parse.unquote(self.path)] = content
        self.answer(200, '"1"', b"")

    def answer(self, status, etag, content):
        self.send_response(status)
        self.send_header("ETag", etag)
        self.send_header("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


class Google:
    """A stand-in of this test: no emulator in a registry states the ETag of objects."""

    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GoogleHandler)
        self.server.objects = {}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.root = "gs://recordings"
        address = f"http://127.0.0.1:{self.server.server_port}"
        self.environment = {"GOOGLE_BASE_URL": address, "GOOGLE_BEARER_TOKEN": SECRET}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def write(self, name, content):
        self.server.objects[f"/recordings/{name}"] = content

    def read(self, name):
        return self.server.objects[f"/recordings/{name}"]

    def names(self):
        return [name[len("/recordings/") :] for name in self.server.objects]


class Urls(Folder):
    def convert(self, store, lines, *arguments):
        """Returns the manifests of a run and its standard error, which is without secrets as they are."""
        words = [os.environ["UNWIND_PERF_PROGRAM"], "convert", "--list", "-", *arguments, *FILES]
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_", "GOOGLE_"))}
        variables.update(store.environment, TMPDIR=str(self.folder / "scratch"))
        (self.folder / "scratch").mkdir(exist_ok=True)
        text = "\n".join(lines)
        ran = subprocess.run(words, input=text, env=variables, capture_output=True, text=True, timeout=300)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        for part in (ran.stdout, ran.stderr):
            self.assertNotIn(SECRET, part)
            self.assertNotIn("Signature", part)
        self.assertEqual(kept(self.folder / "scratch"), [])
        return {one["path"]: one for one in map(json.loads, ran.stdout.splitlines())}, ran.stderr

    def local(self, store):
        """Converts the recordings as local files. Returns the rows by name."""
        rows = {}
        for name, case in RECORDINGS.items():
            path = self.folder / "local" / pathlib.PurePath(name).name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes((CASES / case / "perf.data").read_bytes())
            out = self.folder / "local-out"
            manifests, _ = self.convert(store, [str(path)], "--out", str(out))
            rows[name] = (out / manifests[str(path)]["part"]).read_bytes()
        return rows

    def upload(self, store):
        for name, case in RECORDINGS.items():
            store.write(name, (CASES / case / "perf.data").read_bytes())
        return [f"{store.root}/{name.replace(' ', '%20')}" for name in RECORDINGS]

    def check_input(self, store):
        rows, urls = self.local(store), self.upload(store)
        absent = f"{store.root}/absent"
        manifests, _ = self.convert(store, [*urls, absent], "--out", str(self.out))
        self.assertEqual(sorted(manifests), sorted([*urls, absent]))
        self.assertEqual(manifests[absent]["status"], "unreadable")
        self.assertEqual(manifests[absent]["message"], f"cannot read {absent}: there is no such object")
        for url, expected in zip(urls, rows.values()):
            self.assertEqual(manifests[url]["status"], "ok")
            self.assertEqual((self.out / manifests[url]["part"]).read_bytes(), expected)
        again, summary = self.convert(store, urls, "--out", str(self.out), "--program", "/bin/false")
        self.assertIn("(2 converted earlier)", summary)
        self.assertEqual([again[url] for url in urls], [manifests[url] for url in urls])
        for path in kept(self.out):
            self.assertNotIn(SECRET, (self.out / path).read_text(errors="replace"))
        return rows, urls

    def check_output(self, store, rows, urls):
        out = f"{store.root}/tables"
        manifests, _ = self.convert(store, urls, "--out", out)
        for url, expected in zip(urls, rows.values()):
            part = manifests[url]["part"]
            self.assertEqual(store.read(f"tables/{part}"), expected)
            manifest = store.read(f"tables/{part}".replace("part.parquet", "_manifest.json"))
            self.assertEqual(json.loads(manifest), manifests[url])
        names = [name for name in store.names() if name.startswith("tables/v2/")]
        self.assertEqual(len(names), 2 * len(urls), names)
        again, summary = self.convert(store, urls, "--out", out, "--program", "/bin/false")
        self.assertIn("(2 converted earlier)", summary)
        self.assertEqual(again, manifests)

    def check(self, store):
        self.addCleanup(store.stop)
        rows, urls = self.check_input(store)
        self.check_output(store, rows, urls)

    def test_s3(self):
        self.check(S3())

    def test_azure(self):
        self.check(Azure())

    def test_google(self):
        self.check(Google())

    def test_a_signed_url_is_a_secret(self):
        store = S3()
        self.addCleanup(store.stop)
        self.upload(store)
        object_of = {"Bucket": "recordings", "Key": "fleet/two.data"}
        url = store.client.generate_presigned_url("get_object", Params=object_of)
        self.assertIn("Signature", url)
        environment = self.folder / "environment"
        program = self.folder / "program"
        real = os.environ["UNWIND_PERF_PROGRAM"]
        program.write_text(f'#!/bin/sh\nenv > {environment}\necho "$@" >> {environment}\nexec {real} "$@"\n')
        program.chmod(0o755)
        manifests, _ = self.convert(store, [url], "--out", str(self.out), "--program", str(program))
        shown = f"{store.address}/recordings/fleet/two.data"
        self.assertEqual(manifests[shown]["status"], "ok")
        for text in (environment.read_text(), *((self.out / path).read_text(errors="replace") for path in kept(self.out))):
            self.assertNotIn("AWS_SECRET", text)
            self.assertNotIn("Signature", text)

    def test_python_lists_the_url(self):
        store = S3()
        self.addCleanup(store.stop)
        self.upload(store)
        object_of = {"Bucket": "recordings", "Key": "fleet/two.data"}
        url = store.client.generate_presigned_url("get_object", Params=object_of)
        manifest = up.convert(url, self.out, sysroot=FILES[1])
        self.assertEqual(manifest["status"], "ok", manifest)
        self.assertEqual(manifest["path"], f"{store.address}/recordings/fleet/two.data")

    def test_a_missing_right_is_tried_again(self):
        store = S3()
        self.addCleanup(store.stop)
        (url, _) = self.upload(store)
        store.environment["AWS_SKIP_SIGNATURE"] = "true"
        manifests, _ = self.convert(store, [url], "--out", str(self.out))
        self.assertEqual(manifests[url]["status"], "unreadable")
        self.assertEqual(manifests[url]["message"], f"cannot read {url}: access denied (403 Forbidden)")
        del store.environment["AWS_SKIP_SIGNATURE"]
        manifests, _ = self.convert(store, [url], "--out", str(self.out))
        self.assertEqual(manifests[url]["status"], "ok")


if __name__ == "__main__":
    unittest.main()
