"""What a form of preferences asks for, and what it leaves as it is."""

from typing import Any

from tidings.backoffice.console.people.preference_form import change_of, channels_shown, quiet_rows

NOW = "2026-11-19T10:00:00+00:00"


def before(**more: Any) -> dict[str, Any]:
    return {"channels": {}, "quiet_hours": None, "global_unsubscribed_at": None, **more}


def test_choices_follow_the_fields_and_what_has_none_stays() -> None:
    known: dict[str, Any] = {
        "email": {"allow": True, "categories": {"social": False, "retired": True}},
        "voice": {"allow": False},
    }
    fields = {
        "c:email:": "",
        "c:email:social": "",
        "c:email:reminder": "no",
        "c:sms:": "no",
        "csrf": "x",
        "c:odd": "no",
    }

    assert change_of(fields, before(channels=known), NOW) == {
        "channels": {
            "email": {"allow": True, "categories": {"retired": True, "reminder": False}},
            "voice": {"allow": False, "categories": {}},
            "sms": {"allow": False, "categories": {}},
        },
        "quiet_hours": None,
        "global_unsubscribed_at": None,
    }
    assert known["email"]["categories"] == {"social": False, "retired": True}
    assert change_of({"c:email:social": "yes"}, before(), NOW)["channels"] == {
        "email": {"allow": True, "categories": {"social": True}}
    }
    assert change_of({"c:email:social": "", "c:email:": ""}, before(), NOW)["channels"] == {}


def test_quiet_hours_are_the_houses_none_or_their_own() -> None:
    row = {"q0-mon": "on", "q0-start": "22:00", "q0-end": "07:00", "q0-timezone": "Asia/Kabul"}

    assert change_of({"quiet": "tenant", **row}, before(), NOW)["quiet_hours"] is None
    assert change_of({"quiet": "none", **row}, before(), NOW)["quiet_hours"] == []
    assert change_of({"quiet": "own", **row, "q1-start": "", "q1-end": ""}, before(), NOW)["quiet_hours"] == [
        {"days": ["mon"], "start": "22:00", "end": "07:00", "timezone": "Asia/Kabul"}
    ]
    # Without a day it is refused by the API, and not left out in silence.
    assert change_of({"quiet": "own", "q1-start": "22:00"}, before(), NOW)["quiet_hours"] == [
        {"days": [], "start": "22:00", "end": ""}
    ]


def test_a_no_to_everything_keeps_the_time_at_which_it_was_said() -> None:
    earlier = "2026-01-01T00:00:00Z"

    assert change_of({"nothing": "on"}, before(), NOW)["global_unsubscribed_at"] == NOW
    known = before(global_unsubscribed_at=earlier)
    assert change_of({"nothing": "on"}, known, NOW)["global_unsubscribed_at"] == earlier
    assert change_of({}, known, NOW)["global_unsubscribed_at"] is None


def test_channels_are_those_of_addresses_and_of_choices() -> None:
    assert channels_shown([{"channel": "sms"}], {"email": {}}, ("email", "sms", "push")) == ["email", "sms"]
    assert len(quiet_rows(before())) == 1
    assert len(quiet_rows(before(quiet_hours=[{"days": ["mon"], "start": "1", "end": "2"}]))) == 2
