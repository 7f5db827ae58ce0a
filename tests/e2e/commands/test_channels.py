"""`tidings channel` at the keyboard of a running Tidings."""

import pytest

from tests.e2e.commands.conftest import Operator

pytestmark = pytest.mark.xdist_group("commands")


def test_channels_are_listed_changed_and_tested(operator: Operator) -> None:
    """The demo tenant's, through the sandbox."""
    listed = operator.gets("channel", "list")
    changed = operator.gets("channel", "set", "email", "--reply-to", "desk@demo.example")
    said = operator.reads("channel", "test", "email", "laila@example.test")
    shown = operator.reads("channel", "show", "email")

    assert [channel["channel"] for channel in listed] == [
        "email",
        "push",
        "sms",
        "telegram",
        "viber",
        "voice",
        "whatsapp",
    ]
    assert changed["version"] == listed[0]["version"] + 1
    assert changed["sender"] == {**listed[0]["sender"], "reply_to": "desk@demo.example"}
    assert said.startswith("smtp has taken it")
    assert "the platform's account" in shown


def test_what_is_not_possible_is_said_in_one_line(operator: Operator) -> None:
    assert "platform's account" in operator.is_refused("channel", "rotate", "email", "file://new.json")
    assert "not set up" in operator.is_refused("channel", "show", "webhook")
    assert "--vendor" in operator.is_refused("channel", "set", "webhook")
    assert "secret of yours" in operator.is_refused(
        "channel", "set", "email", "--account", "smtp=file://nowhere"
    )


def test_ones_own_account_is_set_and_rotated(operator: Operator) -> None:
    """The vendor is in a network of the house, which is nobody's to reach unless the operator opens it: the check says so."""
    (tenant,) = operator.gets("tenant", "create", "with-its-own-account")
    as_them = ("--key", operator.gets("api-key", "create", "theirs", "--tenant", tenant["id"])["key"])
    folder = operator.running.data_dir / "secrets" / tenant["id"]
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("one.json", "two.json"):
        (folder / name).write_text('{"host": "10.0.0.9", "port": 9, "security": "none"}')
        (folder / name).chmod(0o644)
    (folder / "bad.json").write_text('{"hots": "127.0.0.1"}')
    (folder / "bad.json").chmod(0o644)
    folder.chmod(0o755)
    unreadable = operator.is_refused(
        *("channel", "set", "email", "--vendor", "smtp", "--from", "them@example.test"),
        *("--account", "smtp=file://bad.json", *as_them),
    )
    operator.reads(
        *("channel", "set", "email", "--vendor", "smtp", "--from", "them@example.test"),
        *("--account", "smtp=file://one.json", *as_them),
    )

    refused = operator.is_refused("channel", "rotate", "email", "file://two.json", *as_them)
    rotated = operator.gets("channel", "rotate", "email", "file://two.json", "--no-check", *as_them)

    assert "accounts.smtp.secret_ref.host is required" in unreadable
    assert "accounts.smtp.secret_ref.hots is not a known field; did you mean host?" in unreadable
    assert "not one that we may connect to" in refused
    assert {c["secret_ref"]: c["status"] for c in rotated["channel"]["credentials"]} == {
        "file://one.json": "superseded",
        "file://two.json": "active",
    }
