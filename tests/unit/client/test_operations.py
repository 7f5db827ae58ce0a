"""Calls of operations by their names: what goes out, and the answer as it came."""

from datetime import UTC, datetime

import httpx2

from tests.unit.client.conftest import Caller, PlayedServer
from tidings_client import operations


def test_changes_name_the_version_they_are_made_from(call: Caller, server: PlayedServer) -> None:
    server.answers(*(httpx2.Response(200, json={}) for _ in range(4)))

    call.call(operations.call("put_policy", "policy_1", body={"ladder": []}, if_match=3))
    call.call(operations.call("delete_policy", "policy_1", if_match=3))
    call.call(operations.call("roll_back_policy", "policy_1", body={"version": 2}, if_match=3))
    call.call(operations.call("delete_policy", "a/b"))

    assert [request.headers.get("if-match") for request in server.heard] == ['"v3"', '"v3"', '"v3"', None]
    assert [(request.method, request.url.raw_path) for request in server.heard] == [
        ("PUT", b"/api/v1/router/policies/policy_1"),
        ("DELETE", b"/api/v1/router/policies/policy_1"),
        ("POST", b"/api/v1/router/policies/policy_1/rollback"),
        ("DELETE", b"/api/v1/router/policies/a%2Fb"),
    ]


def test_making_one_can_be_repeated(call: Caller, server: PlayedServer) -> None:
    server.answers(httpx2.Response(201, json={"id": "policy_1", "a_field_of_tomorrow": 1}))

    made = call.call(operations.call("create_policy", body={"use_case": "otp", "ladder": []}))

    assert made["a_field_of_tomorrow"] == 1
    assert server.heard[0].headers["idempotency-key"]


def test_only_what_is_asked_for_is_in_the_query(call: Caller, server: PlayedServer) -> None:
    server.answers(*(httpx2.Response(200, json={"items": []}) for _ in range(3)))

    call.call(operations.call("list_policies"))
    call.call(operations.call("list_policies", query={"use_case": "otp", "deleted": True, "cursor": "x"}))
    call.call(
        operations.call(
            "list_executions",
            query={"outcome": "FAILED", "since": datetime(2026, 11, 15, tzinfo=UTC), "limit": 5},
        )
    )

    assert [request.url.query for request in server.heard] == [
        b"",
        b"use_case=otp&deleted=true&cursor=x",
        b"outcome=FAILED&since=2026-11-15T00%3A00%3A00%2B00%3A00&limit=5",
    ]


def test_the_platforms_own_is_asked_below_its_own_address(call: Caller, server: PlayedServer) -> None:
    server.answers(httpx2.Response(204))

    call.call(operations.call("delete_status_line", "http", "5/1", if_match=1, platform=True))

    assert server.heard[0].url.raw_path == b"/internal/v1/router/status-map/http/5~1"
