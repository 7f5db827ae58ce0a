"""A file goes out in pieces, whoever sends it; what comes back is what became of its lines."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.unit.client.conftest import KEY, URL, Caller, PlayedServer
from tidings_client import AsyncTidings, NotReachedError, RefusedError, operations
from tidings_client.api.shared import ImportView

DONE = {
    "id": "imp_1", "kind": "suppressions", "status": "completed", "format": "generic", "dry_run": False,
    "lines": 3, "bytes": 30, "added": 2, "changed": 0, "unchanged": 0, "refused": 0, "problems": 1, "warnings": 1,
    "first_problems": [{"line": 2, "column": "date", "code": "bad_date", "what": "is no date", "severity": "warning"}],
    "emit_events": True, "skipped": 0, "created_at": "2026-11-15T12:00:00Z", "updated_at": "2026-11-15T12:00:00Z",
    "completed_at": None, "links": {"self": "/api/v1/imports/imp_1", "report": "/api/v1/imports/imp_1/report"}, "a_field_of_tomorrow": 1,
}  # fmt: skip
FILE = operations.call("import_suppressions", query={"format": "generic"}, key="k-1", media_type="text/csv")


def test_a_file_in_pieces(call: Caller, server: PlayedServer) -> None:
    """With its kind and its key, and none of it looked into."""
    server.answers(httpx2.Response(200, json=DONE))

    pieces = iter([b"address\n", b"a@example.test\n"])
    done = call.of("suppressions").import_(pieces, format="generic", idempotency_key="k-1")

    [sent] = server.heard
    assert (sent.method, sent.url.raw_path) == ("POST", b"/api/v1/suppressions/import?format=generic")
    assert (sent.headers["content-type"], sent.headers["idempotency-key"]) == ("text/csv", "k-1")
    assert sent.content == b"address\na@example.test\n"
    assert sent.extensions["timeout"]["read"] > sent.extensions["timeout"]["connect"]
    assert (done.added, done.warnings, done.first_problems[0].severity) == (2, 1, "warning")


def test_one_that_fails_is_not_repeated(call: Caller, server: PlayedServer) -> None:
    """The pieces are gone; whoever has the file sends it again."""
    problem = {"type": "about:blank", "title": "no", "status": 400, "code": "bad_value", "detail": "no"}
    server.answers(httpx2.Response(400, json=problem), httpx2.ConnectError("gone"))

    with pytest.raises(RefusedError):
        call.upload(FILE, iter([b"x"]))
    with pytest.raises(NotReachedError):
        call.upload(FILE, iter([b"x"]))

    assert len(server.heard) == 2


def test_pieces_that_have_to_be_waited_for(server: PlayedServer) -> None:
    """The client for asyncio takes them as they come."""
    server.answers(httpx2.Response(200, json=DONE))

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"address\n", b"a@example.test\n"):
            await asyncio.sleep(0)
            yield piece

    async def run() -> ImportView:
        async with AsyncTidings(URL, KEY, transport=httpx2.MockTransport(server.take)) as tidings:
            return await tidings.suppressions.import_(pieces(), idempotency_key="k-1")

    assert asyncio.run(run()).added == 2
    assert server.heard[0].content == b"address\na@example.test\n"
