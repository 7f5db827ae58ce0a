"""Calls of resources: what goes out and what comes back, for every kind of operation."""

import httpx2
import pytest

from tests.unit.client.conftest import Caller, PlayedServer
from tidings_client import NotFoundError, Page
from tidings_client.api.status_map import CodeView

LINE = {
    "canonical": "bounced",
    "reason": "gone",
    "version": 3,
    "updated_at": "2026-11-15T12:00:00Z",
    "updated_by": None,
}
CODE = {
    "adapter": "http",
    "code": "5/1",
    "counts": "tenant",
    "tenant": LINE,
    "platform": None,
    "invented_later": 1,
}


def answered(**content: object) -> httpx2.Response:
    return httpx2.Response(200, json=content)


def test_a_change_names_its_version_and_the_answer_is_typed(call: Caller, server: PlayedServer) -> None:
    server.answers(answered(**CODE, history=[]))

    done = call.of("status_map").put("http", "5/1", canonical="bounced", reason="gone", if_match=2)

    asked = server.heard[0]
    assert (asked.method, asked.url.raw_path) == ("PUT", b"/api/v1/router/status-map/http/5~1")
    assert (asked.headers["if-match"], server.bodies) == (
        '"v2"',
        [{"canonical": "bounced", "reason": "gone"}],
    )
    assert (done.tenant.version, done.tenant.canonical, done.platform) == (3, "bounced", None)


def test_pages_are_fetched_as_they_are_needed(call: Caller, server: PlayedServer) -> None:
    first, last = answered(items=[CODE], next_cursor="abc"), answered(items=[CODE], next_cursor=None)
    server.answers(first, last, first)

    found = call.of("status_map").iterate(adapter="http")
    page = call.of("status_map").list(limit=1)

    assert [type(one) for one in found] == [CodeView, CodeView]
    assert (type(page), page.next_cursor) == (Page, "abc")
    assert [str(asked.url.query, "ascii") for asked in server.heard] == [
        "adapter=http",
        "adapter=http&cursor=abc",
        "limit=1",
    ]


def test_the_platform_has_the_same_calls_below_its_own_address(call: Caller, server: PlayedServer) -> None:
    server.answers(answered(items=[]))

    call.of("platform").of("status_map").unknown()

    assert server.heard[0].url.path == "/internal/v1/router/status-map/unknown"


def test_a_new_thing_is_made_once(call: Caller, server: PlayedServer) -> None:
    problem = {"status": 404, "code": "webhook_not_found", "detail": "There is none."}
    server.answers(httpx2.Response(503), httpx2.Response(404, json=problem))

    with pytest.raises(NotFoundError):
        call.of("inbound_routes").create(inbound="+1", webhook_url="https://x.test", secret_ref="sealed://x")

    first, again = (asked.headers["idempotency-key"] for asked in server.heard)
    assert first == again


def test_files_go_out_whole_or_in_pieces_and_come_back_in_pieces(call: Caller, server: PlayedServer) -> None:
    report = {
        "dry_run": True,
        "written": False,
        "publishable": True,
        "templates": [],
        "files": [],
        "findings": [],
    }
    server.answers(answered(**report), answered(**report), httpx2.Response(200, content=b"PK" * 1000))

    call.of("templates").import_(b"PK-whole", dry_run=True)
    call.of("templates").import_(iter([b"PK-", b"pieces"]))
    got = b"".join(call.of("templates").export(key="otp"))

    assert [asked.content for asked in server.heard] == [b"PK-whole", b"PK-pieces", b""]
    assert [asked.headers.get("content-type") for asked in server.heard] == ["application/zip"] * 2 + [None]
    assert got == b"PK" * 1000


def test_what_is_shown_in_a_log_has_no_address_and_no_secret(call: Caller, server: PlayedServer) -> None:
    unknown = (
        "tenant_id",
        "expires_at",
        "last_used_at",
        "revoked_at",
        "rotated_from",
        "rotated_to",
        "overlap_ends_at",
    )
    key: dict[str, object] = {
        "id": "key_1", "name": "Laila's", "role": "tenant.admin", "scopes": [], "environment": "live", "state": "active",
        "created_at": "2026-11-15T12:00:00Z", "created_by": "key_0", **dict.fromkeys(unknown),
    }  # fmt: skip
    server.answers(answered(api_key="tdk_secret", key=key))

    made = call.of("api_keys").create(name="Laila's", role="tenant.admin")

    assert made.api_key == "tdk_secret"
    assert (repr(made), repr(made.key)) == ("NewKey(…)", "KeyView(id='key_1', …)")


def test_resources_are_found_by_their_names(call: Caller) -> None:
    assert {"status_map", "templates", "platform"} <= set(dir(call.client))
    with pytest.raises(AttributeError, match="has no tenants"):
        call.of("tenants")
    assert "tenants" in dir(call.client.platform)
