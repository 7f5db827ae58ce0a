"""Orders of several tenants that come at the same moment share a transaction, and become what each would have become alone."""

import asyncio
from typing import Any

from tests.support.people import rows, unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order, person
from tests.support.statements import counting
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.ids import TenantId

_POLICY = NotificationPolicy(searchable_metadata=("order_number",))
#: What accepting writes, without what is drawn by lot or taken from the clock.
_WRITTEN = {
    "notifications": "SELECT status, channel, category, use_case, priority, retention_class, locale, template_key, "
    "template_semver, is_test, source_event_id, correlation_id, metadata, scheduled_for IS NOT NULL AS scheduled, "
    "variables_ciphertext IS NOT NULL AS sealed FROM notification.notifications WHERE tenant_id = '{tenant}'",
    "queue": "SELECT priority, weight, claimed_by FROM notification.dispatch_queue WHERE tenant_id = '{tenant}'",
    "schedule": "SELECT kind, priority FROM notification.notification_scheduled WHERE tenant_id = '{tenant}'",
    "recipients": "SELECT identity_type, identity_id, primary_locale, primary_timezone, tags, version "
    "FROM notification.recipients WHERE tenant_id = '{tenant}'",
    "addresses": "SELECT channel, is_primary, verified FROM notification.recipient_addresses WHERE tenant_id = '{tenant}'",
    "keys": "SELECT version, tenant_key_version FROM kernel.data_keys WHERE tenant_id = '{tenant}' AND subject_id LIKE 'rcp_%'",
    "profiles": "SELECT email_verified FROM chan.recipient_profiles WHERE tenant_id = '{tenant}'",
    "searchable": "SELECT key FROM notification.searchable_metadata WHERE tenant_id = '{tenant}'",
    "ledger": "SELECT source_event_id, template_key, channel FROM notification.dedup_ledger WHERE tenant_id = '{tenant}'",
    "counters": "SELECT name, channel, category, sum(n) AS n FROM notification.counters WHERE tenant_id = '{tenant}' "
    "GROUP BY name, channel, category",
    "idempotency": "SELECT scope, key, state, status FROM notification.idempotency_keys WHERE tenant_id = '{tenant}'",
}


def _orders(known: dict[str, Any], event: str) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """All kinds: body and headers."""
    new = {
        "identity": {"type": "guest", "id": "new"},
        "addresses": [{"channel": "email", "address": "n@example.test"}],
    }
    changed = {**known, "tags": ["vip"]}
    proven = {
        "identity": {"type": "guest", "id": "proven"},
        "addresses": [{"channel": "email", "address": "p@example.test", "verified": True}],
    }
    return [
        (order(recipient=known), {}),
        (order(recipient=new, metadata={"order_number": "A-1"}), {"Idempotency-Key": "one"}),
        (order(recipient=new), {}),
        (order(recipient=changed), {}),
        (
            order(recipient=known, source_event={"id": event, "type": "order.paid.v1"}),
            {"Idempotency-Key": "two"},
        ),
        (order(recipient={"id": "rcp_01M7JQ7EFHHDWW5H226882Y9T0"}), {"Idempotency-Key": "three"}),
        (order(recipient=known, scheduled_for="2999-01-01T00:00:00Z"), {}),
        (order("nameless@example.test"), {}),
        (order(recipient=proven), {}),
    ]


async def _written(world: PipelineWorld, tenant_id: TenantId) -> dict[str, list[str]]:
    found = {}
    for name, query in _WRITTEN.items():
        found[name] = sorted(
            str(dict(row)) for row in await rows(world.db, tenant_id, query.format(tenant=tenant_id))
        )
    events = "SELECT subject FROM notification.outbox WHERE tenant_id = $1 AND subject LIKE 'notification.%'"
    async with world.unguarded("notification.outbox") as owner:
        found["events"] = sorted(row["subject"] for row in await owner.fetch(events, tenant_id))
    return found


async def test_a_mixed_set_writes_what_each_tenants_orders_write_alone(world: PipelineWorld) -> None:
    """The same orders, once one after the other and once of three tenants at the same moment."""
    event, someone = unused(), person(f"{unused()}@example.test")
    async with (
        world.sender(_POLICY) as alone,
        world.sender(_POLICY) as a,
        world.sender(_POLICY) as b,
        world.sender(_POLICY) as c,
    ):
        together = (a, b, c)
        for sender in (alone, *together):
            await sender.client.post(HOME, json=order(recipient=someone))
        kinds = _orders(someone, event)
        expected = [await alone.client.post(HOME, json=body, headers=headers) for body, headers in kinds]
        posts = [(sender, body, headers) for body, headers in kinds for sender in together]
        with counting(world.db) as asked:
            answers = await asyncio.gather(
                *(sender.client.post(HOME, json=body, headers=headers) for sender, body, headers in posts)
            )
        stored = await _written(world, alone.tenant_id)
        for place, sender in enumerate(together):
            statuses = [answer.status_code for answer in answers[place::3]]
            assert statuses == [answer.status_code for answer in expected], (place, statuses)
            assert await _written(world, sender.tenant_id) == stored
    assert asked.transactions < len(posts) / 2


async def test_a_tenant_whose_row_is_locked_keeps_no_other_waiting(world: PipelineWorld) -> None:
    """An order that has to wait for a lock waits alone."""
    someone = person(f"{unused()}@example.test")
    async with world.sender() as held, world.sender() as free:
        for sender in (held, free):
            await sender.client.post(HOME, json=order(recipient=someone))
        async with world.db.tenant(held.tenant_id) as tx:
            await tx.connection.execute("SELECT 1 FROM notification.recipients FOR UPDATE")
            changed = {**someone, "tags": ["vip"]}
            waiting = [asyncio.create_task(_send(held, changed))]
            others = await asyncio.gather(*(_send(free, changed) for _ in range(5)))
            # What comes next of the held tenant joins no mixed set, which would have to be begun anew.
            waiting.append(asyncio.create_task(_send(held, changed)))
            with counting(world.db) as asked:
                others += await asyncio.gather(*(_send(free, someone) for _ in range(5)))
            assert not [text for text in asked.texts if held.tenant_id in text and free.tenant_id in text]
            assert not any(task.done() for task in waiting)
        assert (others, await asyncio.gather(*waiting)) == ([202] * 10, [202, 202])


async def _send(sender: Sender, recipient: dict[str, Any]) -> int:
    return (await sender.client.post(HOME, json=order(recipient=recipient))).status_code
