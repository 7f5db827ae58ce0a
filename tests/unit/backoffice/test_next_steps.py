"""What a person at the support desk is told to do next, by the explanation of a notification."""

from collections.abc import Sequence
from typing import Any

import pytest

from tidings.backoffice.console.notifications.next_steps import next_steps
from tidings.backoffice.console.notifications.searches import read_search

ALL = ("notifications:write", "suppressions:write")


def told(status: str, reason: str | None = None, **more: Any) -> dict[str, Any]:
    """An explanation with what matters here."""
    one = {
        "status": status,
        "reason": reason,
        "evidence": "accepted" if status == "delivered" else None,
        "scheduled_for": None,
        "expires_at": "2026-11-22T00:00:00Z",
    }
    usual = {"decision": [], "attempts": [], "possibly_repeated": False, "next": None, "digest": None}
    return {"notification": one, **usual, **more}


def stop(reason: str, **more: Any) -> dict[str, Any]:
    return {"verdict": "stop", "reason": reason, "suppression": None, "guardian": None, **more}


def attempt(status: str, meaning: str | None = None) -> dict[str, Any]:
    return {"status": status, "meaning": meaning, "reason": "21610"}


def keys(found: dict[str, Any], scopes: Sequence[str] = ALL) -> list[str]:
    return [step.key for step in next_steps(found, scopes)]


def test_a_suppression_is_released_before_it_is_sent_again() -> None:
    held = {"id": "sup_1", "reason": "hard_bounce", "released_at": None, "until": None}
    line = stop("suppressed_by_tenant", suppression=held)
    found = next_steps(told("suppressed", "suppressed_by_tenant", decision=[line, line]), ALL)
    freed = stop("suppressed_by_tenant", suppression={**held, "released_at": "2026-11-20T00:00:00Z"})

    assert [(step.key, step.subject, step.code) for step in found] == [
        ("release_suppression", "sup_1", "hard_bounce"),
        ("resend", "", ""),
    ]
    assert keys(told("suppressed", "suppressed_by_tenant", decision=[freed])) == [
        "suppression_released",
        "resend",
    ]


@pytest.mark.parametrize(
    ("status", "reason", "first"),
    [
        ("suppressed", "suppressed_by_domain", "suppressed_by_platform"),
        ("suppressed", "address_unsubscribed", "respect_no"),
        ("suppressed", "consent_missing", "ask_consent"),
        ("failed", "no_address", "add_address"),
        ("failed", "channel_disabled", "set_up_channel"),
        ("failed", "render_variables", "fix_template"),
        ("failed", "sender_unauthorised", "fix_sender"),
        ("failed", "cost_cap", "raise_cap"),
        ("expired", "circuit_open", "vendor_trouble"),
        ("expired", "expires_before_quiet_ends", "give_more_time"),
        ("bounced", "bounced", "fix_address"),
        ("delivered", None, "ask_to_look"),
        ("dispatched", None, "watch"),
        ("scheduled", None, "wait"),
    ],
)
def test_the_cause_says_what_helps(status: str, reason: str | None, first: str) -> None:
    assert keys(told(status, reason))[0] == first


def test_a_vendors_word_says_whose_trouble_it_is() -> None:
    assert (
        keys(told("failed", attempts=[attempt("rejected_by_provider", "credentials")]))[0] == "vendor_trouble"
    )
    assert keys(told("failed", attempts=[attempt("failed_perm", "invalid_address")]))[0] == "fix_address"
    assert keys(told("failed", attempts=[attempt("rejected_by_recipient")]))[0] == "fix_address"
    assert (
        keys(told("failed", attempts=[attempt("rejected_by_provider", "template_paused")]))[0]
        == "fix_template"
    )
    assert keys(told("delivered", attempts=[attempt("failed_temp")]))[0] == "ask_to_look"


def test_who_may_not_send_is_offered_no_button() -> None:
    assert keys(told("scheduled"), ()) == ["wait"]
    assert keys(told("scheduled")) == ["wait", "send_now", "cancel"]
    assert keys(told("expired", "expired"), ()) == ["give_more_time"]


def test_what_was_typed_is_an_id_an_address_or_a_word() -> None:
    ulid = "01M7TEC23W0ZT8TT1VNG1WCDT7"

    assert read_search(f" ntf_{ulid} ").path == f"/console/notifications/ntf_{ulid}"
    assert read_search(f"dbt_{ulid}").path == f"/console/notifications?batch=dbt_{ulid}"
    assert (read_search("laila@example.test").channel, read_search("+93 700 123 456").channel) == (
        "email",
        "sms",
    )
    assert read_search("lailas-phone", "push").channel == "push"
    assert (read_search("A-77").channel, read_search("A-77").path) == (None, None)
    assert read_search("ntf_short").path is None
    assert read_search("key_" + ulid).path is None
