"""`tidings event`: what is typed, stored and printed."""

import json
from pathlib import Path
from typing import Any

from tests.support.cli import ServedApi, Types
from tests.support.cloud_events import cloud_event
from tests.support.http import HttpWorld

_SEND = ("event", "send", "--type", "reservation.confirmed", "--source", "/pms", "--id", "r-1")


def test_an_event_is_sent_once_and_shown(types: Types) -> None:
    first = types(*_SEND, "--subject", "res-1", "--data", '{"nights": 2}', "--json")
    again = types(*_SEND)
    id_ = json.loads(first.out)["id"]
    shown = json.loads(types("event", "show", id_, "--json").out)

    assert first.code == 0, first.err
    assert f"{id_}  (it was received before)" in again.out
    assert (shown["type"], shown["source"], shown["subject"], shown["data"]) == (
        "reservation.confirmed",
        "/pms",
        "res-1",
        {"nights": 2},
    )
    assert f"{id_}  {shown['received_at']}  reservation.confirmed  /pms  res-1" in types("event", "list").out


def test_a_file_holds_one_event_or_many(types: Types, tmp_path: Path) -> None:
    one, many = tmp_path / "one.json", tmp_path / "many.json"
    one.write_text(json.dumps(cloud_event()))
    many.write_text(json.dumps([cloud_event(), cloud_event(id=None)]))

    alone, among = types("event", "send", "--file", str(one)), types("event", "send", "--file", str(many))

    assert alone.code == 0, alone.err
    assert alone.out.startswith("evt_")
    assert among.code == 1
    assert "1 accepted, 0 known already, 1 refused" in among.out
    assert "1: id is required" in among.out


def test_what_is_typed_wrong_is_named(types: Types) -> None:
    assert "--type" in types("event", "send").err
    assert "--data is no JSON" in types(*_SEND, "--data", "{").err
    assert "No event evt_" in types("event", "show", "evt_01JCQ000000000000000000000").err


def test_what_happened_is_shown_line_by_line(api: ServedApi, types: Types) -> None:
    id_ = json.loads(types(*_SEND, "--json").out)["id"]
    api.run(_relayed(api.http))

    lines = types("event", "tail", "--types", "event.received.v1", "--no-follow").out.splitlines()
    events = [
        json.loads(line)
        for line in types("event", "tail", "--types", "event.>", "--no-follow", "--json").out.splitlines()
    ]

    assert len(lines) == 1
    assert f"event_id={id_}" in lines[0]
    assert [event["data"]["event_id"] for event in events] == [id_]


def test_a_reader_is_moved_along(api: ServedApi, types: Types) -> None:
    made = types("event-reader", "put", "crm", "--types", "event.>", "--after", "now")
    types(*_SEND)
    api.run(_relayed(api.http))
    first = types("event", "tail", "--reader", "crm", "--no-follow").out.splitlines()
    again = types("event", "tail", "--reader", "crm", "--no-follow").out.splitlines()

    assert made.code == 0, made.err
    assert (len(first), again) == (1, [])
    assert "crm" in types("event-reader", "list").out
    assert types("event-reader", "delete", "crm").code == 0


async def _relayed(world: HttpWorld) -> None:
    jobs: Any = world.system.jobs()
    await jobs["relay_notification"].drain()
