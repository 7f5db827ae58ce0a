"""The client for asyncio sends a file to the application itself."""

from collections.abc import AsyncIterator
from functools import partial

import httpx2
import pytest

from tests.support.people import PeopleWorld
from tidings_client import AsyncTidings, ConflictError


async def pieces(text: str) -> AsyncIterator[bytes]:
    for start in range(0, len(text), 16):
        yield text[start : start + 16].encode()


async def test_a_file_and_its_report(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    _, key = await world.http.key(tenant.id)
    transport = httpx2.ASGITransport(app=world.http.app, raise_app_exceptions=False)
    text = "email,created\na@example.test,1605261600\nb@example.test,never\nnobody,1\n"

    async with AsyncTidings("http://tidings.test", key, transport=transport) as tidings:
        send = partial(tidings.suppressions.import_, idempotency_key="file-1")
        done = await send(pieces(text))
        again = await send(iter([text.encode()]))
        with pytest.raises(ConflictError):
            await send(iter([b"email,created\nother@example.test,1\n"]))
        report = b"".join([piece async for piece in tidings.imports.report(done.id)])

    assert (done.added, done.refused, done.problems, done.warnings) == (2, 1, 2, 1)
    assert again == done
    assert [line.rpartition(",")[2] for line in report.decode().splitlines()] == [
        "severity", "warning", "error",
    ]  # fmt: skip
