"""The generated client against the application: what it asks is understood, and what is answered fits its types."""

from datetime import UTC, datetime

import httpx2
import pytest

from tests.support.http import HttpWorld
from tidings_client import AsyncTidings, ConflictError, RefusedError


async def test_resources_are_made_changed_listed_and_removed(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, key = await world.key(tenant.id)
    transport = httpx2.ASGITransport(app=world.app)
    async with AsyncTidings("http://tidings.test", key, transport=transport) as tidings:
        made = await tidings.status_map.put("http", "E/9", canonical="bounced", reason="gone")
        assert made.tenant is not None
        listed = [one.code async for one in tidings.status_map.iterate(adapter="http", limit=1)]
        with pytest.raises(ConflictError):
            await tidings.status_map.delete("http", "E/9", if_match=made.tenant.version + 1)
        await tidings.status_map.delete("http", "E/9", if_match=made.tenant.version)

        category = await tidings.categories.create(category="parcel", names={"en": "Parcels"}, use_case="txn")
        changed = await tidings.categories.change("parcel", hidden=True, if_match=category.version)

        added = await tidings.suppressions.create(channel="email", address="laila@example.test")
        found = await tidings.suppressions.lookup(channel="email", address="laila@example.test")
        csv = b"".join([piece async for piece in tidings.suppressions.export(reveal=True)])
        await tidings.suppressions.delete(added.id, reason="asked for")

        taken = await tidings.recipients.import_(b"email,locale\nzahra@example.test,fa-AF\n", dry_run=True)
        with pytest.raises(RefusedError) as refused:
            await tidings.notifications.list(since=datetime.now(UTC).replace(tzinfo=None))

    assert "E/9" in listed
    assert (changed.hidden, changed.version) == (True, category.version + 1)
    assert [one.id for one in found.items] == [added.id]
    assert b"laila@example.test" in csv
    assert (taken.status, taken.lines) == ("completed", 2)
    assert refused.value.errors[0].field == "since"


async def test_the_platforms_own_calls(world: HttpWorld) -> None:
    _, key = await world.key(None)
    transport = httpx2.ASGITransport(app=world.app)
    async with AsyncTidings("http://tidings.test", key, transport=transport) as tidings:
        kinds = await tidings.platform.adapters.kinds()
        tenants = await tidings.platform.tenants.list(limit=1)
        lines = await tidings.platform.status_map.list(limit=2)

    assert "smtp" in {kind.name for kind in kinds.items}
    assert len(tenants.items) <= 1
    assert len(lines.items) == 2
