"""What the client sends, and what it makes of the answers."""

import base64
from datetime import UTC, date, datetime, timedelta

import httpx2
import pytest

from tests.unit.client.conftest import KEY, Caller, PlayedServer
from tidings_client import Address, Attachment, Identity, Message, Recipient

AT = "2026-11-15T12:00:00Z"
ACCEPTED = {
    "id": "ntf_01",
    "status": "queued",
    "recipient_id": "rcp_01",
    "created_at": AT,
    "links": {"self": "/api/v1/notifications/ntf_01", "explain": "/api/v1/notifications/ntf_01/explain"},
}
NOTIFICATION = {
    "id": "ntf_01",
    "status": "delivered",
    "channel": "email",
    "recipient_id": "rcp_01",
    "created_at": AT,
    "template": {"key": "otp", "version": "1.0.0"},
    "evidence": "accepted",
    "a_field_of_tomorrow": {"is": "passed over"},
}


def test_a_message_goes_out_whole_and_only_what_was_said(call: Caller, server: PlayedServer) -> None:
    """Typed parts become the API's JSON; what was left out is left to the server."""
    server.answers(httpx2.Response(202, json=ACCEPTED))
    laila = Recipient(
        identity=Identity("guest", "g-1"),
        display_name="Laila",
        locale="fa-AF",
        addresses=[Address("email", "laila@example.test")],
    )

    accepted = call.send(
        laila,
        "order_confirmation",
        channel="email",
        variables={"order_number": "A-1001"},
        scheduled_for=datetime(2026, 12, 1, 9, tzinfo=UTC),
        attachments=[Attachment(filename="a.pdf", media_type="application/pdf", content=b"%PDF")],
    )

    (request,) = server.heard
    assert (request.method, request.url.path) == ("POST", "/api/v1/notifications")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert len(request.headers["idempotency-key"]) >= 16
    assert server.bodies == [
        {
            "recipient": {
                "identity": {"type": "guest", "id": "g-1"},
                "display_name": "Laila",
                "locale": "fa-AF",
                "addresses": [{"channel": "email", "address": "laila@example.test"}],
            },
            "template": "order_confirmation",
            "channel": "email",
            "variables": {"order_number": "A-1001"},
            "scheduled_for": "2026-12-01T09:00:00Z",
            "attachments": [
                {
                    "filename": "a.pdf",
                    "media_type": "application/pdf",
                    "content": base64.b64encode(b"%PDF").decode(),
                }
            ],
        }
    ]
    assert (accepted.id, accepted.status, accepted.duplicate) == ("ntf_01", "queued", False)
    assert accepted.created_at == datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_a_recipient_by_id_or_as_plain_json(call: Caller, server: PlayedServer) -> None:
    """Whoever has an id or a dict need not build types."""
    server.answers(httpx2.Response(202, json=ACCEPTED))

    call.send("rcp_01", "otp")
    call.send({"addresses": [{"channel": "sms", "address": "+93700123456"}]}, "otp", idempotency_key="mine")

    assert server.bodies[0] == {"recipient": "rcp_01", "template": "otp"}
    assert server.bodies[1]["recipient"]["addresses"][0]["channel"] == "sms"
    assert server.heard[1].headers["idempotency-key"] == "mine"


def test_a_moment_without_a_zone_is_refused_at_home() -> None:
    """It would mean something else on every machine."""
    with pytest.raises(ValueError, match="scheduled_for needs a time zone"):
        Message(recipient="rcp_01", template="otp", scheduled_for=datetime(2026, 12, 1, 9))


def test_nobody_finds_an_address_or_a_text_in_a_log() -> None:
    """What is personal does not print."""
    somebody = Recipient(display_name="Laila", addresses=[Address("email", "laila@example.test")])
    message = Message(recipient=somebody, template="otp", variables={"code": "424242"})

    printed = f"{message!r} {somebody!r} {somebody.addresses!r}"

    assert not any(word in printed for word in ("Laila", "example.test", "424242"))


def test_each_item_of_a_bulk_has_its_own_result(call: Caller, server: PlayedServer) -> None:
    """One that is refused does not hold up the others."""
    problem = {
        "type": "/docs/problems#invalid",
        "title": "A value is not acceptable",
        "status": 400,
        "code": "invalid",
        "detail": "template is not there.",
        "errors": [{"field": "notifications[1].template", "remedy": "must be a published template"}],
    }
    results = [{"index": 0, **ACCEPTED}, {"index": 1, "problem": problem}]
    server.answers(httpx2.Response(202, json={"accepted": 1, "refused": 1, "results": results}))

    bulk = call.send_bulk([Message(recipient="rcp_01", template=key) for key in ("otp", "nothing")])

    assert server.heard[0].url.path == "/api/v1/notifications/bulk"
    assert [item["template"] for item in server.bodies[0]["notifications"]] == ["otp", "nothing"]
    assert (bulk.accepted, bulk.refused) == (1, 1)
    good, bad = bulk.results
    assert good.ok
    assert good.id == "ntf_01"
    assert not bad.ok
    assert bad.problem.errors[0].remedy == "must be a published template"


def test_a_simulation_tells_what_would_happen(call: Caller, server: PlayedServer) -> None:
    """With the message as it would look; it carries no key, for it writes nothing."""
    told = {
        "would": "defer",
        "decision": [{"gate": "quiet_hours", "verdict": "defer", "reason": "quiet_hours", "until": AT}],
        "template": {"key": "otp", "version": "1.0.0"},
        "preferences": {"version": 1},
        "message": {
            "subject": "سلام",
            "text": "…",
            "html": "<p>…</p>",
            "locale": "fa-AF",
            "direction": "rtl",
        },
    }
    server.answers(httpx2.Response(200, json=told))

    found = call.simulate("rcp_01", "otp")

    assert "idempotency-key" not in server.heard[0].headers
    assert found.would == "defer"
    assert found.decision[0].until == datetime(2026, 11, 15, 12, tzinfo=UTC)
    assert found.message.direction == "rtl"


def test_one_notification_from_every_side(call: Caller, server: PlayedServer) -> None:
    """Its state, its attempts, its body, and taking it back; words of tomorrow are passed over."""
    server.answers(
        httpx2.Response(200, json=NOTIFICATION),
        httpx2.Response(200, json={"items": [{"id": "dat_1", "status": "accepted", "vendor": "smtp"}]}),
        httpx2.Response(200, json={"subject": "Hi", "text": "Hi", "html": None, "exact": True}),
        httpx2.Response(200, json={**NOTIFICATION, "status": "cancelled"}),
    )

    found = call.get("ntf_01")
    attempts = call.attempts("ntf_01")
    body = call.body("ntf_01", channel="sms")
    cancelled = call.cancel("ntf_01")

    assert [(r.method, r.url.path.removeprefix("/api/v1/notifications/ntf_01")) for r in server.heard] == [
        ("GET", ""),
        ("GET", "/attempts"),
        ("GET", "/body"),
        ("POST", "/cancel"),
    ]
    assert found.done
    assert found.template.key == "otp"
    assert attempts[0].vendor == "smtp"
    assert body.exact is True
    assert server.heard[2].url.query == b"channel=sms"
    assert cancelled.status == "cancelled"


def test_an_explanation_keeps_everything_that_was_told(call: Caller, server: PlayedServer) -> None:
    """Known parts typed, the facts of each happening by name, and the whole as it came."""
    told = {
        "notification": NOTIFICATION,
        "decision": [{"gate": "tenant", "verdict": "pass", "reason": None}],
        "timeline": [{"at": AT, "kind": "attempt", "vendor": "smtp", "status": "accepted"}],
        "template": {"key": "otp"},
        "preferences": None,
        "policy": None,
        "attempts": [{"id": "dat_1", "status": "accepted"}],
        "more": 1,
    }
    server.answers(httpx2.Response(200, json=told))

    found = call.explain("ntf_01")

    assert found.timeline[0].kind == "attempt"
    assert found.timeline[0].facts == {"vendor": "smtp", "status": "accepted"}
    assert found.decision[0].gate == "tenant"
    assert found.raw == told


def test_a_list_goes_on_over_its_pages(call: Caller, server: PlayedServer) -> None:
    """Filters go with every page, the cursor leads to the next."""
    server.answers(
        httpx2.Response(200, json={"items": [NOTIFICATION], "next_cursor": "c2"}),
        httpx2.Response(200, json={"items": [{**NOTIFICATION, "id": "ntf_02"}], "next_cursor": None}),
    )

    found = call.list(status="delivered", since=datetime(2026, 11, 1, tzinfo=UTC), channel=None)

    assert [item.id for item in found] == ["ntf_01", "ntf_02"]
    assert [dict(r.url.params) for r in server.heard] == [
        {"status": "delivered", "since": "2026-11-01T00:00:00+00:00"},
        {"status": "delivered", "since": "2026-11-01T00:00:00+00:00", "cursor": "c2"},
    ]


def test_counters_by_day(call: Caller, server: PlayedServer) -> None:
    """From and to are days."""
    day = {"day": "2026-11-15", "counts": [{"name": "delivered", "channel": "email", "n": 3}]}
    server.answers(httpx2.Response(200, json={"days": [day], "totals": {"delivered": 3}}))

    found = call.counters(date(2026, 11, 14), date(2026, 11, 15))

    assert dict(server.heard[0].url.params) == {"from": "2026-11-14", "to": "2026-11-15"}
    assert found.totals == {"delivered": 3}
    assert found.days[0].day + timedelta(days=1) == date(2026, 11, 16)
    assert found.days[0].counts[0].n == 3


def test_an_id_cannot_lead_elsewhere(call: Caller, server: PlayedServer) -> None:
    """Whatever is typed as an id stays one step of the path."""
    server.answers(httpx2.Response(200, json=NOTIFICATION))

    call.get("../tenant?x=1")

    assert server.heard[0].url.raw_path == b"/api/v1/notifications/..%2Ftenant%3Fx%3D1"
