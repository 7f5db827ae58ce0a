"""Erasing and exporting from a program: what goes out, what comes back, and what a refusal looks like half-way."""

import httpx2
import pytest

from tidings_client import AsyncTidings, ConflictError, Tidings, operations

_PIECES = [b"PK", b"\x03\x04" * 1000]


def _answer(request: httpx2.Request) -> httpx2.Response:
    if request.url.path.endswith("/rcp_gone/export"):
        problem = {"status": 409, "code": "recipient_erased", "title": "Erased", "detail": "Erased."}
        return httpx2.Response(409, json=problem)
    if request.url.path.endswith("/export"):
        return httpx2.Response(200, content=b"".join(_PIECES))
    return httpx2.Response(200, json={"heard": request.content.decode(), "path": request.url.path})


def _client() -> Tidings:
    return Tidings("http://tidings.test", "tdk_x", transport=httpx2.MockTransport(_answer))


def test_an_erasure_brings_its_reason() -> None:
    with _client() as tidings:
        told = tidings.call(operations.call("erase_recipient", "rcp_1", body={"reason": "ticket 4711"}))
        assert told == {"heard": '{"reason":"ticket 4711"}', "path": "/api/v1/recipients/rcp_1/erase"}
        assert (
            tidings.call(operations.call("show_erasure", "rcp_1"))["path"]
            == "/api/v1/recipients/rcp_1/erasure"
        )


def test_an_export_comes_in_pieces() -> None:
    with _client() as tidings:
        assert b"".join(tidings.recipients.export("rcp_1")) == b"".join(_PIECES)
        with pytest.raises(ConflictError) as refused:
            list(tidings.recipients.export("rcp_gone"))
    assert refused.value.code == "recipient_erased"


async def test_tasks_download_too() -> None:
    transport = httpx2.MockTransport(_answer)
    async with AsyncTidings("http://tidings.test", "tdk_x", transport=transport) as tidings:
        pieces = [piece async for piece in tidings.recipients.export("rcp_1")]
        assert b"".join(pieces) == b"".join(_PIECES)
        with pytest.raises(ConflictError):
            _ = [piece async for piece in tidings.recipients.export("rcp_gone")]
