"""Statuses and bodies of vendors, and what they mean."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.router.adapters.http.adapter import HttpAdapter, HttpVendorSettings
from tidings.router.adapters.kind import AdapterContext
from tidings.router.traffic.vendor_failures import is_failure


def read(status: int, content: bytes = b"", *, retry_after: str | None = None, **how: Any) -> Outcome:
    around = AdapterContext(clock=ManualClock(datetime(2026, 11, 15, 12, 0, tzinfo=UTC)))
    adapter = HttpAdapter(HttpVendorSettings(url="https://vendor.example", **how), around)
    return adapter.read(HttpAnswer(status=status, retry_after=retry_after, content=content), MESSAGE)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Accepted), (202, Accepted), (204, Accepted), (302, TryLater), (400, Refused), (401, TryLater),
        (403, Refused), (404, Refused), (408, TryLater), (422, Refused), (425, TryLater), (429, TryLater),
        (402, TryLater), (520, Unlearned), (524, Unlearned),
        (500, TryLater), (502, Unlearned), (503, TryLater), (504, Unlearned), (100, Unlearned), (999, Unlearned),
    ],
)  # fmt: skip
def test_the_usual_meanings(status: int, kind: type[Outcome]) -> None:
    """As RFC 9110 has them; a gateway that does not know is not believed."""
    assert type(read(status)) is kind


def test_an_account_has_its_own_meanings() -> None:
    """The exact status wins over its class, the settings over the usual."""
    statuses = {"409": "accepted", "4xx": "try_later", "500": "unlearned"}

    assert type(read(409, statuses=statuses)) is Accepted
    assert type(read(404, statuses=statuses)) is TryLater
    assert type(read(500, statuses=statuses)) is Unlearned
    assert type(read(503, statuses=statuses)) is TryLater


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"messages": [{"id": "m-1"}]}', "m-1"),
        (b'{"messages": [{"id": 17}]}', "17"),
        (b'{"messages": []}', None),
        (b'{"messages": [{"id": ""}]}', None),
        (b'{"messages": [{"id": {"x": 1}}]}', None),
        (b"<html>Log in to the hotel's network</html>", None),
        (b"", None),
        (b"\xff\xfe", None),
        (b"[" * 5000, None),
    ],
)
def test_a_success_without_its_id_is_not_believed(content: bytes, found: str | None) -> None:
    """A proxy that answers 200 to everything loses no message."""
    outcome = read(200, content, message_id_path="messages.0.id")

    assert outcome == (
        Accepted(provider_message_id=found)
        if found
        else Unlearned(reason="the vendor's answer was a success without the message id it should have")
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("7", timedelta(seconds=7)),
        (" 120 ", timedelta(seconds=120)),
        ("Sun, 15 Nov 2026 12:01:00 GMT", timedelta(seconds=60)),
        ("Sun, 15 Nov 2026 11:00:00 GMT", timedelta(0)),
        ("999999999999999999999", timedelta(days=1)),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("٧", None),
    ],
)
def test_retry_after(text: str, after: timedelta | None) -> None:
    """Seconds or a date, within reason."""
    outcome = read(429, retry_after=text)

    assert isinstance(outcome, TryLater)
    assert outcome.after == after


def test_a_vendors_words_are_kept_without_the_person() -> None:
    """Code and reason by their paths, the address and the subject taken out."""
    outcome = read(
        400,
        b'{"e": {"c": "bad_to", "m": "LAILA.unmistakable@example.test: \\"your most PRIVATE order\\"\\n refused"}}',
        error_code_path="e.c",
        error_reason_path="e.m",
    )

    assert outcome == Refused(reason='…: "…" refused', code="bad_to")


def test_a_long_answer_is_cut() -> None:
    """A reason is a sentence, not a page."""
    outcome = read(400, b'{"m": "' + b"no " * 5000 + b'"}', error_reason_path="m")

    assert isinstance(outcome, Refused)
    assert len(outcome.reason) <= 300


@pytest.mark.parametrize("word", ["internal", "late", "closed", "vendor_limit"])
def test_a_vendor_can_not_speak_of_us(word: str) -> None:
    """Its own code may be one of those with which we speak of ourselves; its fault stays its own."""
    outcome = read(503, b'{"code": "%b"}' % word.encode(), error_code_path="code")

    assert isinstance(outcome, TryLater)
    assert outcome.code == "503"
    assert is_failure(outcome)
