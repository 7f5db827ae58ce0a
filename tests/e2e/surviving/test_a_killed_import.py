"""A server that is killed in the middle of a file: the same file again, and every line counts once."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2

from tests.support.running import RunningTidings, wait_until

LINES = 12_000
PATH = "/api/v1/suppressions/import"
HEADERS = {"Content-Type": "text/csv", "Idempotency-Key": "killed-1"}


def whole() -> bytes:
    people = "".join(f"killed-{n}@example.test,1600000000\n" for n in range(LINES))
    return f"email,created\n{people}".encode()


def test_killed_in_the_middle(data_dir: Path) -> None:
    raw = whole()
    over = threading.Event()

    def half() -> Iterator[bytes]:
        for start in range(0, len(raw) // 2, 65_536):
            yield raw[start : min(start + 65_536, len(raw) // 2)]
        over.wait()

    def begin(running: RunningTidings) -> None:
        with running.client() as client, contextlib.suppress(httpx2.HTTPError):
            client.post(PATH, content=half(), headers=HEADERS)

    with RunningTidings(data_dir) as running, running.client() as client:
        before = client.get("/api/v1/suppressions/stats").json()["total"]
        sender = threading.Thread(target=begin, args=[running])
        sender.start()

        def halfway() -> bool:
            items = client.get("/api/v1/imports").json()["items"]
            return bool(items) and items[0]["added"] > 0

        wait_until(halfway, "some lines to be taken in")
        running.kill()
        over.set()
        sender.join()
        running.await_nobody_left()
    with RunningTidings(data_dir) as running, running.client() as client:
        stood = client.get("/api/v1/imports").json()["items"][0]
        counted = client.get("/api/v1/suppressions/stats").json()["total"]
        done = client.post(PATH, content=raw, headers=HEADERS, timeout=120).json()
        total = client.get("/api/v1/suppressions/stats").json()["total"]

    assert stood["status"] == "running"
    assert 0 < stood["added"] < LINES
    assert counted - before == stood["added"]
    assert (done["id"], done["status"]) == (stood["id"], "completed")
    assert (done["added"], done["unchanged"], done["refused"]) == (LINES, 0, 0)
    assert total - before == LINES
