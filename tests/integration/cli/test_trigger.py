"""`tidings trigger` and `tidings scheduled`: what is typed, stored and printed."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.support.cli import Types
from tests.support.cloud_events import cloud_event
from tests.support.hotel import VARIABLES
from tests.support.pipeline import person

_CREATE = (
    "trigger",
    "create",
    "--event-type",
    "reservation.confirmed",
    "--template",
    "reservation_reminder",
    "--recipient",
    "$.data.guest",
    "--variables",
    json.dumps(VARIABLES),
    "--anchor",
    "$.data.starts_at",
    "--offset=-P2D",
    "--local-time",
    "09:00",
    "--cancelled-by",
    "reservation.cancelled",
)


def test_a_trigger_is_made_changed_switched_and_shown(types: Types) -> None:
    made = types(*_CREATE, "--json")
    id_ = json.loads(made.out)["id"]
    listed = types("trigger", "list").out
    off = types("trigger", "disable", id_)
    changed = types("trigger", "change", id_, "--local-time", "10:00")
    versions = json.loads(types("trigger", "versions", id_, "--json").out)
    gone = types("trigger", "delete", id_)

    assert made.code == 0, made.err
    assert f"{id_}  on " in listed
    assert "$.data.starts_at -P2D at 09:00" in listed
    assert f"{id_}  off" in off.out
    assert "at 10:00" in changed.out
    found = versions["items"] if isinstance(versions, dict) else versions
    assert [one["version"] for one in found] == [3, 2, 1]
    assert gone.code == 0, gone.err


def test_an_event_is_tried_out(types: Types, tmp_path: Path) -> None:
    types(*_CREATE)
    arrival = datetime.now(UTC) + timedelta(days=20)
    event = cloud_event(
        data={"guest": person("laila@example.test"), "place": "Kabul", "starts_at": arrival.isoformat()}
    )
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))

    tried = types("trigger", "test", "--file", str(file))
    other = tmp_path / "other.json"
    other.write_text(json.dumps(event | {"type": "nobody.hears"}))
    unheard = types("trigger", "test", "--file", str(other))

    assert tried.code == 0, tried.err
    # The platform's templates are not published in this house, and it says so.
    assert "reservation_reminder" in tried.out
    assert "laila@example.test" not in tried.out
    assert "no trigger hears this event" in unheard.out


def test_wrong_words_are_named_and_empty_lists_say_what_to_do(types: Types) -> None:
    wrong = types(*_CREATE, "--condition", "data.nights >")
    missing = types("trigger", "adopt", "nonsense")
    empty = types("scheduled", "list")
    none = types("scheduled", "show", "sch_01JCQ000000000000000000000")

    assert wrong.code != 0
    assert "condition" in wrong.err
    assert "no set" in missing.err.lower()
    assert "nothing is scheduled" in empty.out
    assert "no entry" in none.err.lower()
