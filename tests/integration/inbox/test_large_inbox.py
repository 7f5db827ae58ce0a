"""A person with very many items: a page is read by index alone, whatever it shows."""

import json
from datetime import timedelta
from typing import Any

from tests.support.inbox import publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld, Sender
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Query
from tidings.notify.ids import INBOX_ITEM
from tidings.notify.inbox import store

ITEMS = 8_000
PAGE = 50


async def crowd(sender: Sender, recipient_id: str) -> None:
    """So many items, a tenth of them unread and of another category, in every month that there is."""
    now = sender.world.clock.now()
    ids = [INBOX_ITEM.new(now - timedelta(days=n % 4 * 10)) for n in range(ITEMS)]
    async with sender.world.db.tenant(sender.tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.inbox_items "
            "(tenant_id, id, created_at, recipient_id, is_test, place, category, priority, arrived_at, expires_at, due_at, read_at, seen_at) "
            "SELECT $1, one.id, one.at, $2, false, 10 + n, CASE WHEN n % 10 = 0 THEN 'billing' ELSE 'reminder' END, 'normal', $3::timestamptz, "
            "$3::timestamptz + interval '30 days', $3::timestamptz + interval '30 days', CASE WHEN n % 10 <> 0 THEN $3::timestamptz END, CASE WHEN n % 10 <> 0 THEN $3::timestamptz END "
            "FROM unnest($4::text[], $5::timestamptz[]) WITH ORDINALITY AS one (id, at, n)",
            sender.tenant_id,
            recipient_id,
            now,
            ids,
            [time_of(id_) for id_ in ids],
        )
        await tx.connection.execute(
            "UPDATE notification.inboxes SET unread = $3, unseen = $3, latest = $4 WHERE tenant_id = $1 AND recipient_id = $2",
            sender.tenant_id,
            recipient_id,
            ITEMS // 10,
            ITEMS + 10,
        )


def scans(node: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [one for child in node.get("Plans", ()) for one in scans(child)]
    return [node, *inner] if str(node.get("Relation Name", "")).startswith("inbox_items") else inner


async def test_a_page_reads_no_more_rows_than_it_shows(world: PipelineWorld) -> None:
    ways: list[tuple[Query, dict[str, Any]]] = [
        (store.QUERIES.read_feed, {}),
        (store.QUERIES.read_category, {"category": "billing"}),
        (store.QUERIES.read_unread, {}),
    ]
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        await send(sender, {"id": laila})
        await settle(world)
        await crowd(sender, laila)
        for query, more in ways:
            values = {
                "tenant_id": sender.tenant_id,
                "recipient_id": laila,
                "is_test": False,
                "below": store.TOP,
                "most": PAGE,
            } | more
            async with world.db.tenant(sender.tenant_id) as tx:
                plan = await tx.connection.fetchval(
                    f"EXPLAIN (ANALYZE, FORMAT JSON) {query.text}", *query.arguments(values)
                )
            read = scans(json.loads(plan)[0]["Plan"])
            assert {node["Node Type"] for node in read} <= {"Index Scan", "Index Only Scan"}, query.name
            # One more of each month may be looked at, to merge them.
            assert PAGE <= sum(node["Actual Rows"] for node in read) <= PAGE + len(read), query.name
        async with visitor(sender, laila) as her:
            page = (await her.get("/api/v1/inbox", params={"view": "unread"})).json()
            every = (await her.post("/api/v1/inbox/read-all", json={"category": "billing"})).json()

    assert (len(page["items"]), page["unread"]) == (PAGE, ITEMS // 10)
    assert every["changed"] == ITEMS // 10
