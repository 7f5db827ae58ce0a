"""A dry run counts an address once, however far apart its lines are, and leaves nothing behind."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.people import PeopleWorld, rows
from tidings.kernel.http.asgi import ClientGoneError
from tidings.kernel.ids import TenantId
from tidings.notify.imports import engine

IMPORT = "/api/v1/suppressions/import"
SEEN = "SELECT import_id FROM notification.import_seen"
#: Each address three times: next to itself, and far away.
TEXT = "email,created\n" + "".join(f"p{n // 2}@example.test,1\n" for n in range(60)) + "".join(
    f"P{n}@example.test,2\n" for n in range(30)
)  # fmt: skip


async def send(world: PeopleWorld, tenant_id: TenantId, body: Any, key: str, **query: str) -> Any:
    headers = {"Content-Type": "text/csv", "Idempotency-Key": key}
    async with world.http.as_tenant(tenant_id) as client:
        return (await client.post(IMPORT, content=body, headers=headers, params=query)).json()


@pytest.fixture(autouse=True)
def short_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "SET", 7)
    monkeypatch.setattr(engine, "_FORGET", 10)


async def test_it_counts_as_the_real_one_does(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await send(world, tenant.id, "email,created\np3@example.test,1\n", "before")

    tried = await send(world, tenant.id, TEXT, "try", dry_run="true")
    left = await rows(world.db, tenant.id, SEEN)
    twice = await send(world, tenant.id, TEXT, "try-2", dry_run="true")
    done = await send(world, tenant.id, TEXT, "do")

    counts = ("added", "changed", "unchanged", "refused")
    assert [tried[name] for name in counts] == [29, 0, 61, 0]
    assert [twice[name] for name in counts] == [29, 0, 61, 0]
    assert [done[name] for name in counts] == [29, 0, 61, 0]
    assert left == []
    assert await rows(world.db, tenant.id, SEEN) == []


async def test_one_that_broke_off_remembers_what_it_saw(world: PeopleWorld) -> None:
    tenant = await world.tenant()

    async def cut_off() -> AsyncIterator[bytes]:
        yield TEXT[: len(TEXT) // 2].encode()
        raise ClientGoneError

    # There is nobody to answer, which this transport can't bear.
    with pytest.raises(AssertionError):
        await send(world, tenant.id, cut_off(), "try", dry_run="true")
    kept = await rows(world.db, tenant.id, SEEN)
    done = await send(world, tenant.id, TEXT, "try", dry_run="true")

    assert kept
    assert (done["status"], done["added"], done["unchanged"]) == ("completed", 30, 60)
    assert await rows(world.db, tenant.id, SEEN) == []
