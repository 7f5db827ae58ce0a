"""`tidings webhook`: what it asks the server, and what it prints."""

from typing import Any

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types

_HOME = "/api/v1/webhooks"


def _webhook(status: str = "active", **other: Any) -> dict[str, Any]:
    return {
        "id": "whs_1",
        "name": "crm",
        "url": "https://crm.example/hook",
        "events": ["notification.*.v1"],
        "condition": None,
        "status": status,
        "disabled_reason": None,
        "disabled_at": None,
        "ordered": True,
        "max_in_flight": 10,
        "max_per_minute": None,
        "timeout_seconds": 15,
        "disable_after": 20,
        "header_names": [],
        "previous_secret_until": None,
        "credentials": {"tls": None, "oauth2": None},
        "transform": None,
        "customer": None,
        "is_test": False,
        "consecutive_failures": 0,
        "last_success_at": None,
        "last_failure_at": None,
        "resting_until": None,
        "created_at": AT,
        "updated_at": AT,
        "version": 1,
    } | other


def test_a_webhook_is_made_and_its_secret_is_shown_once(types: Types, api: PlayedApi) -> None:
    api.answers[f"POST {_HOME}"] = (201, _webhook(secret="whsec_abc"))

    said = types(
        "webhook", "create", "--webhook", "https://crm.example/hook", "--event", "notification.*.v1", "--event", "batch.>",
        "--ordered", "--header", "X-Source=tidings",
    )  # fmt: skip

    assert said.code == 0, said.err
    sent = api.body_of(f"POST {_HOME}")
    assert sent["url"] == "https://crm.example/hook"
    assert sent["events"] == ["notification.*.v1", "batch.>"]
    assert sent["headers"] == {"X-Source": "tidings"}
    assert sent["ordered"] is True
    assert "whsec_abc" in said.out
    assert "tidings webhook test whs_1" in said.out


def test_a_disabled_one_says_what_to_do(types: Types, api: PlayedApi) -> None:
    api.answers[f"GET {_HOME}/whs_1"] = (
        200,
        _webhook("disabled", disabled_reason="failures", disabled_at=AT, consecutive_failures=20),
    )

    said = types("webhook", "show", "whs_1")

    assert "disabled (failures)" in said.out
    assert f"tidings webhook recover whs_1 --since {AT}" in said.out


def test_recovering_goes_on_while_there_is_more(types: Types, api: PlayedApi) -> None:
    answers = [
        {"redelivered": 10_000, "waiting": 3, "more": True},
        {"redelivered": 5, "waiting": 3, "more": False},
    ]

    def answer(call: str) -> str:
        api.answers[f"POST {_HOME}/whs_1/recover"] = (202, answers.pop(0))
        return call

    api.read = answer

    said = types("webhook", "recover", "whs_1", "--since", "2026-11-15T12:00:00Z")

    assert said.code == 0, said.err
    assert answers == []
    assert "10005 are told once more; 3 wait anyway" in said.out


def test_counting_asks_once(types: Types, api: PlayedApi) -> None:
    api.answers[f"POST {_HOME}/whs_1/recover"] = (202, {"redelivered": 10_000, "waiting": 0, "more": True})

    said = types("webhook", "recover", "whs_1", "--since", "2026-11-15T12:00:00Z", "--dry-run")

    assert "more than 10000 would be told once more" in said.out


def test_all_that_was_ever_delivered_is_not_told_again_by_mistake(types: Types, api: PlayedApi) -> None:
    said = types("webhook", "redeliver", "whs_1", "--status", "delivered")
    assert said.code != 0
    assert "--since" in said.err


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"delivered": True, "status": 204, "reason": None}, 0, "it takes what happens"),
        ({"delivered": False, "status": 500, "reason": "answered"}, 1, "any 2xx would be a yes"),
        ({"delivered": False, "status": None, "reason": "address"}, 1, "inside our own network"),
    ],
)
def test_a_trial_says_how_it_went(
    types: Types, api: PlayedApi, answer: dict[str, Any], code: int, words: str
) -> None:
    api.answers[f"POST {_HOME}/whs_1/test"] = (200, answer)

    said = types("webhook", "test", "whs_1")

    assert said.code == code
    assert words in said.out


def test_a_portal_link_is_printed_with_what_it_is_good_for(types: Types, api: PlayedApi) -> None:
    link = {
        "id": "wpl_1",
        "url": "https://tidings.example/portal/abc",
        "expires_at": AT,
        "webhook_id": "whs_1",
        "customer": "acme",
        "may_change": False,
    }
    api.answers[f"POST {_HOME}/whs_1/portal-links"] = (201, link)

    said = types("webhook", "portal", "whs_1", "--read-only", "--event", "batch.>", "--locale", "fr")

    assert said.code == 0, said.err
    assert said.out.splitlines()[0] == "https://tidings.example/portal/abc"
    assert "shows all webhooks of acme" in said.out
    sent = api.body_of(f"POST {_HOME}/whs_1/portal-links")
    assert sent == {"may_change": False, "event_types": ["batch.>"], "locale": "fr"}


def test_portal_links_are_ended(types: Types, api: PlayedApi) -> None:
    api.answers[f"DELETE {_HOME}/whs_1/portal-links"] = (204, None)

    said = types("webhook", "close-portal", "whs_1")

    assert said.code == 0, said.err
    assert "lead nowhere" in said.out
