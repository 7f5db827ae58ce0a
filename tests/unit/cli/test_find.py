"""`tidings find`, `notification`, `recipient find|show`, `suppression`: what support types, and what it reads."""

import json
from typing import Any

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types, notification

KAMRAN: dict[str, Any] = {
    "id": "rcp_1",
    "identity": {"type": "guest", "id": "g-77"},
    "display_name": "Kamran",
    "locale": "fa-AF",
    "addresses": [{"channel": "email", "address": "k…@e….test"}],
    "erased_at": None,
}
HELD: dict[str, Any] = {
    "id": "sup_1",
    "channel": "email",
    "address": "k…@e….test",
    "mail_domain": None,
    "reason": "hard_bounce",
    "notes": None,
    "expires_at": None,
    "released_at": None,
    "occurred_at": AT,
}


def page(*items: dict[str, Any]) -> dict[str, Any]:
    return {"items": list(items), "next_cursor": None}


@pytest.mark.parametrize(("typed", "channel"), [("kamran@example.test", "email"), ("+93 700 123456", "sms")])
def test_an_address_finds_its_people_and_what_they_were_sent(
    api: PlayedApi, types: Types, typed: str, channel: str
) -> None:
    api.answers["POST /api/v1/recipients/lookup"] = (200, {"items": [KAMRAN], "more": False})
    api.answers["POST /lookup"] = (200, page(notification(7, "bounced", correlation_id="A-77")))

    said = types("find", typed)

    assert said.code == 0, said.err
    assert "rcp_1  guest g-77  Kamran  fa-AF  email k…@e….test" in said.out
    assert "bounced" in said.out
    assert "ntf_007  A-77" in said.out
    assert "`tidings explain ntf_007`" in said.out
    assert api.body_of("POST /api/v1/recipients/lookup") == {"channel": channel, "address": typed}
    assert api.body_of("POST /lookup")["address"] == {"channel": channel, "address": typed}
    # An address is never a part of a URL.
    assert all("kamran" not in call and "700" not in call for call, _, _ in api.heard)


def test_an_order_number_is_looked_for_wherever_it_can_be(api: PlayedApi, types: Types) -> None:
    policy = {"notification_policy": {"searchable_metadata": ["order_number"]}}
    api.answers["GET /api/v1/tenant"] = (200, {"tenant": policy})
    api.answers["GET ?correlation_id=A-77&limit=10"] = (200, page())
    api.answers["GET ?limit=10&metadata.order_number=A-77"] = (200, page(notification(7)))

    said = types("find", "A-77")

    assert said.code == 0, said.err
    assert "ntf_007" in said.out
    assert "`tidings explain ntf_007`" in said.out


def test_nothing_found_says_what_was_looked_for(api: PlayedApi, types: Types) -> None:
    api.answers["GET /api/v1/tenant"] = (200, {"tenant": {"notification_policy": {}}})
    for query in ("?correlation_id=A-78&limit=10", "?limit=10&template=A-78", "?template=A-78&limit=10"):
        api.answers[f"GET {query}"] = (200, page())
    for kind in ("guest", "user", "vendor", "anonymous"):
        path = f"GET /api/v1/recipients?identity_type={kind}&identity_id=A-78"
        api.answers[path] = (200, page())

    said = types("find", "A-78")

    assert said.code == 1
    assert "nothing was found; looked for a correlation id, a template's key and an identity" in said.err


def test_an_id_of_either_kind_is_found(api: PlayedApi, types: Types) -> None:
    api.answers["GET /ntf_007"] = (200, notification(7))
    api.answers["GET /api/v1/recipients/rcp_1"] = (200, KAMRAN)
    api.answers["GET ?recipient=rcp_1&limit=10"] = (200, page())

    one, person, nobody = types("find", "ntf_007"), types("find", "rcp_1"), types("find", "ntf_008")
    as_json = types("find", "rcp_1", "--json")

    assert "`tidings explain ntf_007`" in one.out
    assert "nothing was sent to them yet" in person.out
    assert "`tidings recipient show rcp_1`" in person.out
    assert (nobody.code, "a notification with this id" in nobody.err) == (1, True)
    assert json.loads(as_json.out)["recipients"] == [KAMRAN]


def test_notifications_are_listed_cancelled_and_sent_again(api: PlayedApi, types: Types) -> None:
    accepted = {"id": "ntf_009", "status": "queued", "recipient_id": "rcp_1", "created_at": AT}
    api.answers["GET ?status=failed&limit=20&metadata.order_number=A-77"] = (200, page(notification(7)))
    api.answers["GET /ntf_007"] = (200, notification(7))
    api.answers["POST /ntf_007/cancel"] = (200, notification(7, "cancelled"))
    api.answers["POST /ntf_007/resend"] = (202, accepted)
    api.answers["POST /ntf_007/release"] = (200, notification(7))

    listed = types("notification", "list", "--status", "failed", "--metadata", "order_number=A-77")
    wrong = types("notification", "list", "--metadata", "A-77")
    shown = types("notification", "show", "ntf_007")
    cancelled = types("notification", "cancel", "ntf_007")
    again = types("notification", "resend", "ntf_007", "--idempotency-key", "once")
    released = types("notification", "release", "ntf_007")
    missing = types("notification", "cancel", "ntf_008")

    assert "ntf_007" in listed.out
    assert "--metadata must be NAME=VALUE" in wrong.err
    assert json.loads(shown.out)["id"] == "ntf_007"
    assert cancelled.out == "ntf_007 is cancelled\n"
    assert released.out.startswith("ntf_007 is sent now")
    assert "ntf_009  queued  for rcp_1" in again.out
    assert "`tidings explain ntf_009`" in again.out
    assert next(h for call, h, _ in api.heard if call.endswith("/resend"))["idempotency-key"] == "once"
    assert missing.code == 1


def test_a_recipient_is_found_and_shown(api: PlayedApi, types: Types) -> None:
    api.answers["POST /api/v1/recipients/lookup"] = (200, {"items": [KAMRAN], "more": False})
    api.answers["GET /api/v1/recipients/rcp_1?reveal=true"] = (200, KAMRAN)

    found = types("recipient", "find", "kamran@example.test")
    shown = types("recipient", "show", "rcp_1", "--reveal")
    unclear = types("recipient", "find", "kamran")

    assert "rcp_1  guest g-77  Kamran" in found.out
    assert "`tidings notification list --recipient rcp_1`" in found.out
    assert "email k…@e….test" in shown.out
    assert "--channel" in unclear.err


def test_one_address_is_suppressed_found_and_released(api: PlayedApi, types: Types) -> None:
    api.answers["POST /api/v1/suppressions"] = (201, HELD)
    api.answers["POST /api/v1/suppressions/lookup"] = (200, {"items": [HELD]})
    api.answers["DELETE /api/v1/suppressions/sup_1?reason=ticket+7"] = (204, None)

    added = types("suppression", "add", "kamran@example.test", "--reason", "hard_bounce")
    found = types("suppression", "find", "kamran@example.test")
    released = types("suppression", "release", "kamran@example.test", "--reason", "ticket 7")
    by_id = types("suppression", "release", "sup_1", "--reason", "ticket 7")
    api.answers["POST /api/v1/suppressions/lookup"] = (200, {"items": []})
    free = types("suppression", "release", "kamran@example.test", "--reason", "ticket 7")

    assert "sup_1  email     k…@e….test  in force  hard_bounce since" in added.out
    assert "`tidings suppression release sup_1 --reason …`" in found.out
    assert released.out == by_id.out == "sup_1 is released\n"
    assert (free.code, "nothing holds this address back on email" in free.err) == (1, True)
