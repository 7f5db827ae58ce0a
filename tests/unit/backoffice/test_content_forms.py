"""Forms of the content pages: texts of two languages, times as people say them, files, differences."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tidings.backoffice.console.batches.batch_form import fields_of_batch, read_batch
from tidings.backoffice.console.batches.batch_page import pace_of
from tidings.backoffice.console.html import Html
from tidings.backoffice.console.kit.differences import marked
from tidings.backoffice.console.templates.editor_form import next_semver, read_form, sides_of
from tidings.backoffice.console.triggers.event_body import anew
from tidings.backoffice.console.triggers.trigger_form import example_event, offset_of, read_trigger
from tidings.backoffice.console.uploads import read_multipart
from tidings.kernel.http.requests import Request

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
VERSION: dict[str, Any] = {
    "locales": {
        "en": {"subject": "Hello", "body": "<p>Hello</p>", "format": "html", "direction": "ltr"},
        "fr": {"body": "Salut"},
        "fa-AF": {"body": "سلام"},
        "ps-AF": {"body": "سلام"},
    },
    "variables_schema": {"type": "object"},
    "preview_samples": {"usual": {}},
    "strings": {},
    "partials": {},
    "layout": None,
}


def test_what_is_typed_is_a_change_and_what_is_not_typed_is_none() -> None:
    as_it_is = {
        "left": "en", "left-subject": "Hello", "left-body": "<p>Hello</p>", "left-format": "html",
        "right": "fr", "right-body": "Salut",
        "variables_schema": '{"type": "object"}', "strings": "", "layout": "",
    }  # fmt: skip
    assert read_form(VERSION, "email", as_it_is).changes == {}

    typed = read_form(VERSION, "email", {**as_it_is, "left-body": "<p>Hello</p>\r\n\r\n", "layout": "letter"})
    assert typed.changes == {
        "locales": {"en": {**VERSION["locales"]["en"], "body": "<p>Hello</p>\n\n"}},
        "layout": "letter",
    }
    assert typed.version["locales"]["ps-AF"] == {"body": "سلام"}


def test_json_that_can_not_be_read_is_a_fault_with_its_line_and_changes_nothing() -> None:
    typed = read_form(VERSION, "email", {"preview_samples": '{"usual":\n  {"name": }}'})
    assert typed.changes == {}
    assert typed.unreadable == {"preview_samples": '{"usual":\n  {"name": }}'}
    (fault,) = typed.faults
    assert (fault.field, fault.line, fault.column) == ("preview_samples", 2, 12)


@pytest.mark.parametrize(
    ("query", "sides"),
    [
        ({}, ("en", "fa-AF")),
        ({"left": "fa-AF"}, ("fa-AF", "en")),
        ({"right": "fr"}, ("en", "fr")),
        ({"left": "fr", "right": "de"}, ("fr", "de")),
        ({"left": "fr", "right": "fr"}, ("fr",)),
    ],
)
def test_a_language_stands_beside_one_that_is_read_the_other_way(
    query: dict[str, str], sides: tuple[str, ...]
) -> None:
    assert sides_of(VERSION, query, "en") == sides


def test_the_next_version_is_above_the_highest() -> None:
    assert next_semver(["1.9.0", "1.10.3", "2.0.0-rc.1", "odd"]) == "2.1.0"
    assert next_semver([]) == "1.0.0"


@pytest.mark.parametrize(
    ("direction", "count", "unit", "duration"),
    [
        ("before", "2", "days", "-P2D"),
        ("after", "90", "minutes", "PT90M"),
        ("after", "1", "weeks", "P1W"),
        ("before", "3", "hours", "-PT3H"),
    ],
)
def test_times_are_said_as_people_say_them(direction: str, count: str, unit: str, duration: str) -> None:
    written = read_trigger({"direction": direction, "count": count, "unit": unit}).body
    assert written["offset"] == duration
    said = offset_of(duration)
    assert said is not None
    assert (said.count, said.unit, said.is_before) == (int(count), unit, direction == "before")


def test_times_of_several_units_are_kept_as_they_are() -> None:
    assert offset_of("-P1DT12H") is None
    assert read_trigger({"direction": "other", "duration": "-P1DT12H"}).body["offset"] == "-P1DT12H"
    assert "offset" not in read_trigger({"direction": "", "count": "2", "unit": "days"}).body


def test_an_example_has_a_place_for_every_path_that_a_trigger_reads() -> None:
    trigger = {
        "event_type": "reservation.confirmed",
        "anchor": "$.data.stay.starts_at",
        "recipient": ["$.data.guest", "tenant_admins"],
        "variables": {"place": "$.data.place", "nights": 3, "self": "$.subject"},
    }
    event = example_event(trigger, NOW)
    assert event["type"] == "reservation.confirmed"
    assert event["data"]["stay"] == {"starts_at": "2026-12-19T15:00:00Z"}
    assert set(event["data"]) == {"stay", "guest", "place"}
    assert event["data"]["guest"]["addresses"]


def test_an_event_that_is_sent_again_is_another_event_however_often() -> None:
    event: dict[str, Any] = {
        "source_event_id": "res-1", "source": "/pms", "type": "t", "time": "2026-11-01T00:00:00Z",
        "subject": None, "data": {"a": 1}, "extensions": {"region": "eu"},
    }  # fmt: skip
    first = anew(event, NOW)
    assert first["id"] == "res-1.replay-20261119T120000000000"
    assert ("time" in first, first["data"], first["region"]) == (False, {"a": 1}, "eu")
    second = anew({**event, "source_event_id": first["id"]}, datetime(2026, 11, 20, tzinfo=UTC))
    assert second["id"] == "res-1.replay-20261120T000000000000"
    assert len(anew({**event, "source_event_id": "x" * 255}, NOW)["id"]) <= 255


def test_a_batch_that_is_edited_keeps_what_the_form_has_no_room_for() -> None:
    batch: dict[str, Any] = {
        "name": "A", "template": "t", "channel": "email", "listed": False, "filter": "tag = 'vip'",
        "category": "marketing", "priority": "low", "scheduled_for": "2026-12-01T08:00:00Z", "local_time": None,
        "window": None, "pacing": {"per_minute": 5, "domains": {"gmail.com": 600}, "timezone": "tenant"},
        "variants": [{"name": name, "percent": 20, "template": None} for name in "XYZ"], "needs_approval": True,
    }  # fmt: skip
    words = [{"b": place} for place in range(3)]
    fields = fields_of_batch(batch, {"variables": {"a": 1}, "variants": words})
    body = read_batch(fields, batch).body
    assert body["pacing"] == batch["pacing"]
    assert (body["scheduled_for"], body["needs_approval"]) == ("2026-12-01T08:00:00Z", True)
    shares = [{"name": name, "percent": 20, "variables": {"b": place}} for place, name in enumerate("XYZ")]
    assert body["variants"] == shares
    assert "window" not in body


def test_a_pace_is_counted_from_the_start() -> None:
    totals = {"people": 100, "remaining": 40}
    assert pace_of({"totals": totals, "started_at": "2026-11-19T11:57:00Z"}, NOW) == 20.0
    assert (
        pace_of({"totals": {"people": 100, "remaining": 100}, "started_at": "2026-11-19T11:57:00Z"}, NOW)
        is None
    )


def test_differences_are_marked_by_words_and_escaped() -> None:
    assert marked("Hello <b>world</b>", "Hello <i>world</i>") == Html(
        "Hello &lt;<del>b</del><ins>i</ins>&gt;world&lt;/<del>b</del><ins>i</ins>&gt;"
    )
    assert "…" in marked("a" * 10 + " same" * 400, "b" * 10 + " same" * 400)


async def test_a_form_with_a_file_is_read_to_the_byte() -> None:
    content = b"\r\n--not the end\r\n\x00\xff\n--"
    body = (
        b'--XX\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nabc\r\n'
        b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a\\"b.csv"\r\n'
        b"Content-Type: text/csv\r\n\r\n" + content + b"\r\n--XX--\r\n"
    )
    fields, files = await read_multipart(_request(body, "multipart/form-data; boundary=XX"))
    assert (fields, files) == ({"csrf": "abc"}, {"file": content})
    for boundary in ("", "; boundary="):
        with pytest.raises(ValueError, match="boundary"):
            await read_multipart(_request(body, f"multipart/form-data{boundary}"))


def _request(body: bytes, media_type: str) -> Request:
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "headers": [(b"content-type", media_type.encode())]}
    return Request(scope, receive, {})
