"""`tidings profile`: what it asks, what it prints."""

import json
from typing import Any

from tests.unit.cli.conftest import AT, PlayedApi, Types

WHO = "rcp_01JCQ0000000000000000000AA"
HOME = "/api/v1/router/profiles"
LAILA: dict[str, Any] = {
    "id": "profile_01JCQ0000000000000000000AA",
    "recipient_id": WHO,
    "discovery_state": "STABLE",
    "channels": [
        {"channel": "push", "score": 0.9, "confidence": 0.1, "observations": 1, "last_observed_at": AT},
        {"channel": "sms", "score": 0.8571, "confidence": 0.5, "observations": 5, "last_observed_at": AT},
        {
            "channel": "whatsapp",
            "score": 0.25,
            "confidence": 0.2857,
            "observations": 2,
            "last_observed_at": AT,
        },
    ],
    "has_whatsapp_business": "KNOWN_NO",
    "voice_otp_supported": "UNKNOWN",
    "email_verified": True,
    "telegram_known": True,
    "viber_known": False,
    "version": 7,
}


def test_list_and_show(api: PlayedApi, types: Types) -> None:
    api.answers[f"GET {HOME}?discovery_state=STABLE&limit=50"] = (
        200,
        {"items": [LAILA], "next_cursor": None},
    )
    api.answers[f"GET {HOME}/{WHO}"] = (200, LAILA)

    listed, shown = types("profile", "list", "--state", "stable"), types("profile", "show", WHO)

    assert listed.out == f"{WHO}  STABLE    push 0.90  sms 0.86  whatsapp 0.25\n"
    assert f"  sms       arrives  86%  believed  50%  observed    5 times, last at {AT}" in shown.out
    assert f"observed     1 time, last at {AT}" in shown.out
    assert "  WhatsApp: no\n  a code by voice: unknown\n  mailbox verified: yes\n" in shown.out
    assert "  ids known: telegram\n" in shown.out
    assert json.loads(types("profile", "show", WHO, "--json").out) == LAILA


def test_what_can_t_be_meant_is_not_sent(api: PlayedApi, types: Types) -> None:
    nothing, wrong = types("profile", "set", WHO), types("profile", "set", WHO, "--voice", "maybe")

    assert (nothing.code, wrong.code) == (1, 1)
    assert "--whatsapp, --voice or --email-verified" in nothing.err
    assert "--voice must be yes, no or unknown" in wrong.err
    assert api.heard == []


def test_set_sends_what_is_named_and_no_more(api: PlayedApi, types: Types) -> None:
    api.answers[f"PATCH {HOME}/{WHO}"] = (200, LAILA)

    done = types("profile", "set", WHO, "--whatsapp", "no", "--email-verified", "--at", AT)

    assert done.code == 0, done.err
    assert api.body_of(f"PATCH {HOME}/{WHO}") == {
        "has_whatsapp_business": "KNOWN_NO",
        "email_verified": True,
        "observed_at": AT,
    }


def test_an_unknown_recipient_is_not_forgotten(types: Types) -> None:
    missing = types("profile", "forget", "rcp_2", "--yes")

    assert (missing.code, "There is no such thing here" in missing.err) == (1, True)
