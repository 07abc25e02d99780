"""An object store for a test: moto's S3 in a process of its own on loopback, with one bucket."""

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fleets import until

BUCKET = "middlemark-runs"
URL = f"s3://{BUCKET}"
ANYONE = {"Authorization": "AWS anyone:nothing"}
STARTED = re.compile(r"Running on (http://127\.0\.0\.1:\d+)")


@dataclass(frozen=True)
class ObjectStore:
    """The server, as a program is told of it."""

    endpoint: str
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a client is told by variables; no file of this user has a say."""
        files = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
        who = {"AWS_ACCESS_KEY_ID": "anyone", "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": "us-east-1"}
        return {"AWS_ENDPOINT_URL": self.endpoint, **who, **files}

    def write(self, name: str, content: bytes) -> None:
        """An object; without a name the bucket."""
        self._ask("PUT", f"/{name}" if name else "", content)

    def names(self) -> list[str]:
        """Of all objects."""
        return re.findall(r"<Key>([^<]*)</Key>", self._ask("GET", "?list-type=2", None))

    def requests(self, method: str) -> list[str]:
        """The objects that were read (GET) or written (PUT) so far."""
        return re.findall(rf'"{method} /{BUCKET}/([^ ?]+)', self.log.read_text())

    def _ask(self, method: str, path: str, content: bytes | None) -> str:
        request = urllib.request.Request(f"{self.endpoint}/{BUCKET}{path}", content, ANYONE, method=method)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return str(answer.read().decode())


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    log = folder / "object-store.log"
    command = (sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0")
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            until(lambda: STARTED.search(log.read_text()) is not None, "the object store does not come up")
            endpoint = STARTED.search(log.read_text())
            assert endpoint is not None
            store = ObjectStore(endpoint[1], log)
            store.write("", b"")
            yield store
        finally:
            server.terminate()
