"""`tidings send`: what it sends, what it shows, what it refuses."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.cli.conftest import AT, PlayedApi, Types, notification

ACCEPTED = {"id": "ntf_001", "status": "queued", "recipient_id": "rcp_1", "created_at": AT, "links": {}}
STORY = {
    "notification": notification(),
    "decision": [{"gate": "tenant", "verdict": "pass", "reason": None}],
    "timeline": [{"at": AT, "kind": "accepted"}],
}


def test_a_first_message(types: Types, api: PlayedApi) -> None:
    """An address, a template, variables of both kinds; the answer says how to go on."""
    api.answers["POST "] = (202, ACCEPTED)

    said = types(
        "send", "laila@example.test", "-t", "otp", "--var", "code=0424", "--var", "minutes:=5", "--name", "Laila"
    )  # fmt: skip

    assert said.code == 0, said.err
    assert said.out.splitlines() == [
        "ntf_001  queued  for rcp_1",
        "`tidings explain ntf_001` tells what becomes of it",
    ]
    assert api.body_of("POST ") == {
        "recipient": {
            "display_name": "Laila",
            "addresses": [{"channel": "email", "address": "laila@example.test"}],
        },
        "template": "otp",
        "variables": {"code": "0424", "minutes": 5},
    }
    assert api.heard[0][1]["authorization"] == "Bearer tdk_demo_key"


def test_everything_that_can_be_said(types: Types, api: PlayedApi, tmp_path: Path) -> None:
    """Each option arrives under its name in the API."""
    api.answers["POST "] = (202, ACCEPTED)
    variables, file = tmp_path / "vars.json", tmp_path / "terms.pdf"
    variables.write_text('{"code": "1", "kept": true}')
    file.write_bytes(b"%PDF")

    said = types(
        *("send", "rcp_1", "--template", "otp", "--variables", str(variables), "--var", "code=2"),
        *("--channel", "email", "--locale", "fa-AF", "--category", "security", "--priority", "high"),
        *("--schedule", "2026-12-01T09:00+04:30", "--expires", "2026-12-02T09:00Z"),
        *("--attach", str(file), "--correlation-id", "c-1", "--idempotency-key", "mine", "--json"),
    )

    assert json.loads(said.out)["id"] == "ntf_001"
    assert api.heard[0][1]["idempotency-key"] == "mine"
    assert api.body_of("POST ") == {
        "recipient": "rcp_1",
        "template": "otp",
        "variables": {"code": "2", "kept": True},
        "channel": "email",
        "locale": "fa-AF",
        "category": "security",
        "priority": "high",
        "scheduled_for": "2026-12-01T09:00:00+04:30",
        "expires_at": "2026-12-02T09:00:00Z",
        "attachments": [{"filename": "terms.pdf", "media_type": "application/pdf", "content": "JVBERg=="}],
        "correlation_id": "c-1",
    }


def test_in_how_long(types: Types, api: PlayedApi) -> None:
    """A time from now."""
    api.answers["POST "] = (202, ACCEPTED)

    types("send", "+93 700 123 456", "-t", "otp", "--schedule", "2h")

    sent = api.body_of("POST ")
    assert sent["recipient"]["addresses"][0]["channel"] == "sms"
    ahead = datetime.fromisoformat(sent["scheduled_for"]) - datetime.now(UTC)
    assert 7000 < ahead.total_seconds() <= 7200


def test_a_rehearsal_shows_what_would_happen(types: Types, api: PlayedApi) -> None:
    """The gates in words, the message as it would read, and nothing is sent."""
    api.answers["POST /simulate"] = (
        200,
        {
            "would": "stop",
            "decision": [
                {"gate": "tenant", "verdict": "pass"},
                {"gate": "suppression", "verdict": "stop", "reason": "suppressed", "explanation": "They said no"},
            ],
            "message": {"subject": "Your code", "text": "0424\nuntil noon", "locale": "en", "direction": "ltr"},
        },
    )  # fmt: skip

    said = types("send", "rcp_1", "-t", "otp", "--simulate")

    assert said.code == 0
    assert said.out.startswith("It would not be sent.")
    assert "✗ suppression" in said.out
    assert "They said no" in said.out
    assert "  0424\n  until noon" in said.out
    assert [call for call, _, _ in api.heard] == ["POST /simulate"]


@pytest.mark.parametrize(("status", "code"), [("delivered", 0), ("failed", 1), ("suppressed", 1)])
def test_waiting_shows_what_became_of_it(types: Types, api: PlayedApi, status: str, code: int) -> None:
    """The story; the exit code says whether it was delivered."""
    one = notification(status=status)
    api.answers = {
        "POST ": (202, ACCEPTED),
        "GET /ntf_001": (200, one),
        "GET /ntf_001/explain": (200, {**STORY, "notification": one}),
    }

    said = types("send", "rcp_1", "-t", "otp", "--wait")

    assert said.code == code
    assert f"ntf_001  {status}" in said.out
    assert "Timeline" in said.out


def test_waiting_too_long_is_told(types: Types, api: PlayedApi) -> None:
    """With the state it is in; it goes on without us."""
    api.answers = {"POST ": (202, ACCEPTED), "GET /ntf_001": (200, notification(status="queued"))}

    said = types("send", "rcp_1", "-t", "otp", "--wait", "--timeout", "0.1")

    assert said.code == 1
    assert said.err.startswith("tidings: ntf_001 is queued after 0.1 s")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("nobody", "-t", "otp"), "say with --channel what kind of address it is"),
        (("rcp_1", "-t", "otp", "--name", "Laila"), "--name is for addresses"),
        (("rcp_1", "-t", "otp", "--var", "code"), "--var must be NAME=TEXT or NAME:=JSON, not 'code'"),
        (("rcp_1", "-t", "otp", "--var", "n:=x"), "--var n is no JSON"),
        (("rcp_1", "-t", "otp", "--variables", "/nowhere.json"), "can't be read: No such file"),
        (("rcp_1", "-t", "otp", "--attach", "/nowhere.pdf"), "can't be read: No such file"),
        (("rcp_1", "-t", "otp", "--schedule", "tomorrow"), "--schedule must be a moment with its offset"),
        (("rcp_1", "-t", "otp", "--schedule", "2026-12-01T09:00"), "--schedule must be a moment with its offset"),
        (("rcp_1", "-t", "otp", "--url", "http://other.example"), "say with which key to call"),
        (("rcp_1", "-t", "otp", "--url", "other", "--key", "k"), "--url must be an address such as"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_said_in_one_line(
    types: Types, api: PlayedApi, words: tuple[str, ...], complaint: str
) -> None:
    """Before anything goes out."""
    said = types("send", *words)

    assert said.code == 1
    assert complaint in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert api.heard == []


def test_refusals_name_the_fields(types: Types, api: PlayedApi) -> None:
    """As the server names them, in one line."""
    told = {
        "status": 400,
        "code": "invalid",
        "detail": "…",
        "errors": [{"field": "variables.code", "remedy": "is required"}],
    }
    api.answers["POST "] = (400, told)

    said = types("send", "rcp_1", "-t", "otp")

    assert (said.code, said.err) == (1, "tidings: variables.code is required\n")


def test_a_key_that_does_not_work_says_what_to_do(types: Types, api: PlayedApi) -> None:
    """And a server that is not there does, too."""
    api.answers["POST "] = (401, {"status": 401, "code": "unauthenticated", "detail": "Who is calling?"})

    refused = types("send", "rcp_1", "-t", "otp", "--key", "tdk_wrong")
    silent = types("send", "rcp_1", "-t", "otp", "--url", "http://127.0.0.1:1", "--key", "tdk_wrong")

    assert "--key or TIDINGS_API_KEY" in refused.err
    assert "nothing answers at http://127.0.0.1:1" in silent.err
    assert "`tidings up`" in silent.err
    assert "tdk_wrong" not in refused.err + silent.err


def test_no_tidings_here(types: Types, house: Path) -> None:
    """What to do first."""
    (house / "demo.json").unlink()

    said = types("send", "rcp_1", "-t", "otp")

    assert said.code == 1
    assert "run `tidings up` first" in said.err


def test_a_number_that_was_typed_as_a_text_is_answered_with_how_to_type_it(
    types: Types, api: PlayedApi
) -> None:
    errors = [{"field": "variables.nights", "remedy": "must be a whole number"}]
    problem = {
        "status": 400,
        "code": "invalid_variables",
        "detail": "variables.nights must be a whole number.",
        "errors": errors,
    }
    api.answers["POST "] = (400, problem)

    said = types("send", "laila@example.test", "-t", "stay", "--var", "nights=2", "--var", "name=Laila")

    assert said.code == 1
    assert said.err.endswith("NAME=VALUE is text, so type it as --var nights:=2\n"), said.err
    assert "name:=" not in said.err
