"""Calls about people, suppressions, and finding messages again."""

import json

import httpx2
import pytest

from tests.unit.client.conftest import Caller, PlayedServer
from tests.unit.client.test_calls import ACCEPTED, NOTIFICATION
from tidings_client import Address, ConflictError, Identity, Recipient, operations


def test_notifications_are_looked_up_and_sent_again(call: Caller, server: PlayedServer) -> None:
    found = {"items": [{**NOTIFICATION, "resent_from": "ntf_00"}], "next_cursor": None}
    server.answers(httpx2.Response(200, json=found), httpx2.Response(200, json=found))
    looked = call.look_up(address=Address("email", "kamran@example.test"), status="failed", limit=5)
    listed = call.page(metadata={"order_number": "A-77"})
    server.answers(httpx2.Response(202, json=ACCEPTED))
    again = call.resend("ntf_01", idempotency_key="once")

    assert looked.items[0].resent_from == "ntf_00"
    assert listed.items[0].id == again.id == "ntf_01"
    assert json.loads(server.heard[0].content) == {
        "status": "failed",
        "limit": 5,
        "address": {"channel": "email", "address": "kamran@example.test"},
    }
    assert dict(server.heard[1].url.params) == {"metadata.order_number": "A-77"}
    assert (server.heard[2].url.path, server.heard[2].headers["idempotency-key"]) == (
        "/api/v1/notifications/ntf_01/resend",
        "once",
    )


def test_people_are_made_found_and_changed(call: Caller, server: PlayedServer) -> None:
    server.answers(httpx2.Response(200, json={"id": "rcp_1", "version": 3}))
    kamran = Recipient(
        identity=Identity("guest", "g-77"), addresses=[Address("email", "kamran@example.test")]
    )
    made = call.call(operations.call("upsert_recipient", body=kamran))
    call.call(operations.call("show_recipient", "rcp_1", query={"reveal": True}))
    call.call(
        operations.call("look_up_recipients", body={"channel": "email", "address": "kamran@example.test"})
    )
    call.call(operations.call("list_recipients", query={"identity_type": "guest", "identity_id": "g-77"}))
    call.call(operations.call("update_recipient", "rcp_1", body={"locale": "fa-AF"}, if_match=3))
    call.call(operations.call("show_preferences", "rcp_1"))
    call.call(operations.call("update_preferences", "rcp_1", body={"quiet_hours": []}, if_match=0))

    assert made["id"] == "rcp_1"
    heard = [(request.method, request.url.raw_path.decode()) for request in server.heard]
    assert heard == [
        ("POST", "/api/v1/recipients"),
        ("GET", "/api/v1/recipients/rcp_1?reveal=true"),
        ("POST", "/api/v1/recipients/lookup"),
        ("GET", "/api/v1/recipients?identity_type=guest&identity_id=g-77"),
        ("PATCH", "/api/v1/recipients/rcp_1"),
        ("GET", "/api/v1/recipients/rcp_1/preferences"),
        ("PATCH", "/api/v1/recipients/rcp_1/preferences"),
    ]
    assert [server.heard[place].headers["if-match"] for place in (4, 6)] == ['"v3"', '"v0"']


def test_an_address_of_several_is_a_conflict(call: Caller, server: PlayedServer) -> None:
    problem = {
        "status": 409,
        "code": "address_shared",
        "title": "Shared",
        "detail": "Several recipients have it.",
    }
    server.answers(httpx2.Response(409, json=problem))

    with pytest.raises(ConflictError) as refused:
        call.of("recipients").create(addresses=[{"channel": "email", "address": "a@example.test"}])

    assert refused.value.code == "address_shared"


def test_one_address_is_suppressed_found_and_released(call: Caller, server: PlayedServer) -> None:
    server.answers(httpx2.Response(201, json={"id": "sup_1"}))
    kamran = {"channel": "email", "address": "kamran@example.test"}
    call.call(operations.call("add_suppression", body={**kamran, "notes": "ticket 7"}))
    server.answers(httpx2.Response(200, json={"items": []}))
    call.call(operations.call("look_up_suppressions", body=kamran))
    call.of("suppressions").list(channel="email")
    server.answers(httpx2.Response(204))
    released = call.of("suppressions").delete("sup_1", reason="asked for it")

    assert released is None
    assert json.loads(server.heard[0].content) == {
        "channel": "email",
        "address": "kamran@example.test",
        "notes": "ticket 7",
    }
    assert [(r.method, r.url.path) for r in server.heard] == [
        ("POST", "/api/v1/suppressions"),
        ("POST", "/api/v1/suppressions/lookup"),
        ("GET", "/api/v1/suppressions"),
        ("DELETE", "/api/v1/suppressions/sup_1"),
    ]
