"""Four times the lines take no more memory: an import holds one set, however long the file is."""

import tracemalloc
from collections.abc import AsyncIterator

import pytest

from tests.support.people import PeopleWorld
from tidings.notify.imports import engine
from tidings.notify.imports.model import ImportKind, ImportRequest
from tidings.notify.imports.suppression_target import SuppressionImportOptions, SuppressionTarget


async def lines(count: int) -> AsyncIterator[bytes]:
    yield b"email,created\n"
    for n in range(count):
        yield b"memory-%d@example.test,1600000000\n" % n


@pytest.mark.parametrize("dry_run", [False, True])
async def test_memory_does_not_grow_with_the_file(
    world: PeopleWorld, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    monkeypatch.setattr(engine, "SET", 200)
    tenant = await world.tenant()
    system = world.system

    async def peak(count: int) -> int:
        order = ImportRequest(
            tenant_id=tenant.id,
            kind=ImportKind.SUPPRESSIONS,
            options="{}",
            dry_run=dry_run,
            emit_events=True,
            idempotency_key=None,
            actor="test",
            role="tenant.admin",
        )
        target = SuppressionTarget(system.notify.suppressor, system.clock, SuppressionImportOptions())
        tracemalloc.start()
        done = await system.notify.importer.run(order, target, lines(count))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert done.records_done == count + 1
        return found

    await peak(400)
    short, long = await peak(1_000), await peak(4_000)

    assert long < short * 1.2 + 200_000
