"""`tidings conversation` and `tidings inbound-route`: what they ask the server, and what they print."""

from typing import Any

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types

_CONVERSATIONS = "/api/v1/router/conversations"
_ROUTES = "/api/v1/router/inbound-routes"


def _conversation(**more: Any) -> dict[str, Any]:
    return {
        "id": "conv_1",
        "channel": "whatsapp",
        "sender": "+15005550006",
        "recipient_id": "rcp_1",
        "status": "OPEN",
        "opened_by": "tenant",
        "messages": 2,
        "opened_at": AT,
        "last_message_at": AT,
        "expires_at": AT,
        "closed_at": None,
        "close_reason": None,
        **more,
    }


def _line(**more: Any) -> dict[str, Any]:
    return {
        "at": AT,
        "direction": "in",
        "kind": "text",
        "text": "DAKATA\x1b[31m",
        "keyword": "stop",
        "notification_id": None,
        "status": "received",
        "reason": None,
        **more,
    }


def _body(**more: Any) -> dict[str, Any]:
    return {
        "channel": "whatsapp",
        "subject": None,
        "text": "Hello",
        "html": None,
        "locale": "en",
        "direction": "ltr",
        "exact": True,
        "pictures": [],
        **more,
    }


def _route(**more: Any) -> dict[str, Any]:
    return {
        "id": "route_1",
        "inbound": "12345",
        "webhook_url": "https://hooks.example/mo",
        "secret_ref": "file://inbound",
        "platform": False,
        "active": True,
        "grace_period_ends_at": None,
        "version": 3,
        **more,
    }


def _delivery(**more: Any) -> dict[str, Any]:
    return {
        "id": "ibd_1",
        "message_id": "mo_1",
        "status": "dead",
        "attempts": 11,
        "next_attempt_at": None,
        "last_status": 503,
        "last_reason": "answered",
        **more,
    }


def test_conversations_are_listed(types: Types, api: PlayedApi) -> None:
    api.answers[f"GET {_CONVERSATIONS}?status=OPEN&limit=20"] = (
        200,
        {"items": [_conversation()], "next_cursor": None},
    )

    said = types("conversation", "list", "--status", "open")

    assert said.code == 0, said.err
    assert said.out.split() == [
        "conv_1",
        "OPEN",
        "whatsapp",
        AT,
        "2",
        "messages",
        "+15005550006",
        "rcp_1",
    ]


def test_a_transcript_shows_both_sides_and_nothing_that_a_terminal_obeys(
    types: Types, api: PlayedApi
) -> None:
    lines = [
        _line(direction="out", text=None, keyword=None, notification_id="ntf_1", status="sent"),
        _line(),
        _line(
            direction="out",
            kind="stop_confirmation",
            text="Goodbye",
            keyword=None,
            status="failed",
            reason="no_account",
        ),
    ]
    api.answers[f"GET {_CONVERSATIONS}/conv_1/messages?limit=200"] = (
        200,
        {"items": lines, "next_cursor": None},
    )

    api.answers[f"GET {_CONVERSATIONS}/conv_1"] = (200, _conversation())
    # Of a ladder that ended with a mail, WhatsApp's words are asked for.
    api.answers["GET /ntf_1/body?channel=whatsapp"] = (
        200,
        _body(text="Is ten fine?\x1b[31m\n\nWe are open.\n"),
    )

    said = types("conversation", "transcript", "conv_1")

    assert said.out.splitlines() == [
        f"{AT} > Is ten fine??[31m",
        f"{' ' * len(AT)}   We are open.  (ntf_1)",
        f"{AT} < DAKATA?[31m  [stop]",
        f"{AT} > Goodbye  [failed, no_account]",
    ]


def test_words_that_may_not_be_read_are_told_by_their_notification(types: Types, api: PlayedApi) -> None:
    lines = [_line(direction="out", text=None, keyword=None, notification_id="ntf_1", status="sent")]
    api.answers[f"GET {_CONVERSATIONS}/conv_1/messages?limit=200"] = (
        200,
        {"items": lines, "next_cursor": None},
    )
    refusal = {"status": 403, "code": "not_allowed", "detail": "The key may not read bodies."}
    api.answers[f"GET {_CONVERSATIONS}/conv_1"] = (200, _conversation())
    api.answers["GET /ntf_1/body?channel=whatsapp"] = (403, refusal)

    assert types("conversation", "transcript", "conv_1").out == f"{AT} > (ntf_1)\n"
    assert types("conversation", "transcript", "conv_1", "--json").code == 0
    assert [name for name, _, _ in api.heard].count("GET /ntf_1/body?channel=whatsapp") == 1


def test_a_reply_is_ordered_with_its_key(types: Types, api: PlayedApi) -> None:
    call = f"POST {_CONVERSATIONS}/conv_1/messages"
    api.answers[call] = (202, {"notification_id": "ntf_2", "status": "queued", "created": False})

    said = types("conversation", "reply", "conv_1", "Good morning", "--once", "order-1")

    assert said.out == "ntf_2 queued, ordered before\n"
    [(_, headers, body)] = api.heard
    assert (headers["idempotency-key"], body) == ("order-1", {"text": "Good morning"})


def test_a_conversation_is_closed_and_shown(types: Types, api: PlayedApi) -> None:
    closed = _conversation(status="CLOSED_MANUAL", closed_at=AT, close_reason="by_hand", recipient_id=None)
    api.answers[f"POST {_CONVERSATIONS}/conv_1/close"] = (200, closed)
    api.answers[f"GET {_CONVERSATIONS}/conv_1"] = (200, closed)

    assert types("conversation", "close", "conv_1", "--reason", "dealt with").code == 0
    said = types("conversation", "show", "conv_1")

    assert api.body_of(f"POST {_CONVERSATIONS}/conv_1/close") == {"reason": "dealt with"}
    assert "a recipient that is not known" in said.out
    assert "(by hand)" in said.out


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        ({"delivered": True, "status": 204, "reason": None}, 0, "answered 204: it takes what people write"),
        (
            {"delivered": False, "status": 500, "reason": "answered"},
            1,
            "answered 500, and any 2xx would be a yes",
        ),
        (
            {"delivered": False, "status": None, "reason": "timeout"},
            1,
            "was not reached: it did not answer in time",
        ),
        ({"delivered": False, "status": None, "reason": "new_one"}, 1, "was not reached: new_one"),
    ],
)
def test_a_try_says_whether_the_webhook_takes_it(
    types: Types, api: PlayedApi, told: dict[str, Any], code: int, words: str
) -> None:
    api.answers[f"GET {_ROUTES}/route_1"] = (200, _route())
    api.answers[f"POST {_ROUTES}/route_1/test"] = (200, told)

    said = types("inbound-route", "test", "route_1")

    assert (said.code, said.out) == (code, f"the webhook {words}\n")


def test_dead_deliveries_are_listed_and_told_again(types: Types, api: PlayedApi) -> None:
    api.answers[f"GET {_ROUTES}?inbound=12345"] = (200, {"items": [_route()], "next_cursor": None})
    api.answers[f"GET {_ROUTES}/deliveries?status=dead&route=route_1&limit=20"] = (
        200,
        {"items": [_delivery()], "next_cursor": None},
    )
    api.answers[f"POST {_ROUTES}/deliveries/ibd_1/redeliver"] = (
        202,
        _delivery(status="pending", attempts=0, next_attempt_at=AT),
    )

    listed = types("inbound-route", "deliveries", "--status", "dead", "--route", "12345")
    again = types("inbound-route", "redeliver", "ibd_1")

    assert listed.out == "ibd_1  dead       11 attempts  mo_1  answered 503\n"
    assert f"again {AT}" in again.out


def test_all_dead_ones_of_a_route_are_told_again(types: Types, api: PlayedApi) -> None:
    api.answers[f"GET {_ROUTES}?inbound=12345"] = (200, {"items": [_route()], "next_cursor": None})
    api.answers[f"POST {_ROUTES}/deliveries/redeliver"] = (202, {"redelivered": 7, "more": False})

    of_route = types("inbound-route", "redeliver", "--route", "12345", "--since", "2026-11-15T12:00:00Z")
    body = api.heard[-1][2]
    of_all = types("inbound-route", "redeliver", "--all")
    heard = api.heard[-1][2]
    api.answers[f"POST {_ROUTES}/deliveries/redeliver"] = (202, {"redelivered": 0, "more": False})
    none = types("inbound-route", "redeliver", "--all")

    assert of_route.out == of_all.out == "redelivered: 7\n"
    assert body == {"route": "route_1", "since": "2026-11-15T12:00:00+00:00"}
    assert heard == {}
    assert none.out.startswith(
        "there is none to deliver again; `tidings inbound-route deliveries --status dead`"
    )
    for words in ((), ("ibd_1", "--all"), ("--all", "--route", "12345"), ("ibd_1", "--since", "x")):
        wrong = types("inbound-route", "redeliver", *words)
        assert wrong.code == 1
        assert "--route ROUTE or --all" in wrong.err
