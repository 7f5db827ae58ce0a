"""A vendor's answer read by a line of the status map."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import (
    Accepted,
    DeviceRefused,
    Outcome,
    RawAnswer,
    Refused,
    TryLater,
    Unlearned,
)
from tidings.kernel.ids import time_of
from tidings.router.status_map.meanings import TenantMeanings, codes_of, read_by, translate
from tidings.router.status_map.model import StatusMeaning
from tidings.router.status_map.reapply import follower_of

NO = Refused(reason="no such number", code="30003")
LATER = TryLater(reason="come again", code="30003", after=timedelta(seconds=7))


@pytest.mark.parametrize("outcome", [NO, LATER])
@pytest.mark.parametrize(
    ("canonical", "status"),
    [
        ("failed_perm", "failed_perm"),
        ("bounced", "failed_perm"),
        ("rejected_by_recipient", "rejected_by_recipient"),
        ("complaint", "rejected_by_recipient"),
    ],
)
def test_a_line_that_says_no(outcome: Refused | TryLater, canonical: Canonical, status: Any) -> None:
    read = translate(outcome, StatusMeaning(canonical=canonical, reason="invalid_address"))

    assert read == Refused(
        reason=f"invalid_address: {outcome.reason}",
        code="30003",
        permanent=True,
        status=status,
        effect="invalid_address",
        meaning="invalid_address",
    )


def test_a_line_that_says_later() -> None:
    busy = StatusMeaning(canonical="failed_temp", reason="busy")

    assert translate(NO, busy) == TryLater(reason="busy: no such number", code="30003", meaning="busy")
    assert translate(LATER, busy) == TryLater(
        reason="busy: come again", code="30003", after=timedelta(seconds=7), meaning="busy"
    )


def test_a_reason_of_ours_that_is_no_effect_says_nothing_about_the_address() -> None:
    read = translate(NO, StatusMeaning(canonical="rejected_by_provider", reason="content_refused"))

    assert isinstance(read, Refused)
    assert read.effect is None


@pytest.mark.parametrize(
    "outcome",
    [
        Accepted(provider_message_id="m"),
        Unlearned(reason="nobody knows"),
        # Our own words about ourselves are no vendor's.
        TryLater(reason="there was no time left", code="late"),
    ],
)
def test_what_no_line_speaks_about(outcome: Outcome) -> None:
    assert translate(outcome, StatusMeaning(canonical="failed_perm", reason="invalid_address")) == outcome


@pytest.mark.parametrize("canonical", ["accepted", "delivered", "opened"])
def test_a_no_never_becomes_a_success(canonical: Canonical) -> None:
    read = translate(NO, StatusMeaning(canonical=canonical, reason="known_already"))

    assert read == Refused(reason="known_already: no such number", code="30003", meaning="known_already")


def test_without_a_line_nothing_changes_and_twice_is_once() -> None:
    line = StatusMeaning(canonical="failed_perm", reason="gone")

    assert translate(NO, None) is NO
    assert translate(translate(NO, line), line) == translate(NO, line)


def test_the_longer_name_is_before_the_shorter_and_the_tenants_own_before_everybodys() -> None:
    def meaning(reason: str) -> StatusMeaning:
        return StatusMeaning(canonical="failed_perm", reason=reason)

    known = TenantMeanings(
        own={("http", "1"): meaning("own_kind"), ("http_acme", "2"): meaning("own_name")},
        everybodys={
            ("http", "1"): meaning("kind"),
            ("http_acme", "1"): meaning("name"),
            ("http_acme", "2"): meaning("name"),
        },
    )
    found = {
        (vendor, code): one.reason if (one := known.of(vendor, code)) else None
        for vendor in ("http", "http_acme_eu", "httpx2")
        for code in ("1", "2")
    }

    assert found == {
        ("http", "1"): "own_kind",
        ("http", "2"): None,
        ("http_acme_eu", "1"): "name",
        ("http_acme_eu", "2"): "own_name",
        ("httpx2", "1"): None,
        ("httpx2", "2"): None,
    }


def test_a_receipt_has_one_follower_for_each_meaning() -> None:
    first = "whe_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"
    follower = follower_of(first, canonical="bounced", reason="hard_bounce")

    assert follower == follower_of(first, canonical="bounced", reason="hard_bounce")
    assert time_of(follower) == time_of(first)
    others = {
        first,
        follower,
        follower_of(first, canonical="bounced", reason="gone"),
        follower_of(first, canonical="failed_perm", reason="hard_bounce"),
        follower_of("whe_01JCQ8ZK6T9Y4M2V7N5B3D1F0H", canonical="bounced", reason="hard_bounce"),
    }
    assert len(others) == 5


def test_a_no_of_the_vendor() -> None:
    read = translate(NO, StatusMeaning(canonical="rejected_by_provider", reason="content_refused"))

    assert isinstance(read, Refused)
    assert (read.status, read.effect) == ("rejected_by_provider", None)


def test_not_now_stays_not_now_where_the_vendor_has_the_trouble() -> None:
    """Credentials or credit are no reason to drop a message; a line that speaks of the message or the person is."""
    later = TryLater(reason="no credit", code="131042", after=timedelta(seconds=7))

    kept = translate(later, StatusMeaning(canonical="rejected_by_provider", reason="insufficient_credit"))
    ended = translate(later, StatusMeaning(canonical="rejected_by_recipient", reason="blocked"))

    assert kept == TryLater(
        reason="insufficient_credit: no credit",
        code="131042",
        after=timedelta(seconds=7),
        meaning="insufficient_credit",
    )
    assert isinstance(ended, Refused)


def test_what_is_said_of_single_devices_is_read_too() -> None:
    """One that the lines have try again later has not been refused."""
    gone, busy = Refused(reason="gone", code="410"), Refused(reason="busy", code="406")
    others = (DeviceRefused(place=1, refused=gone), DeviceRefused(place=2, refused=busy))
    lines = {
        ("webpush", "410"): StatusMeaning(canonical="failed_perm", reason="invalid_address"),
        ("webpush", "406"): StatusMeaning(canonical="failed_temp", reason="throttled"),
    }

    read = read_by(
        TenantMeanings({}, lines), "webpush_shop", Accepted(provider_message_id="7", others=others)
    )
    refused = read_by(TenantMeanings({}, lines), "webpush_shop", replace(gone, others=others[:1]))

    assert isinstance(read, Accepted)
    assert [(one.place, one.refused.effect) for one in read.others] == [(1, "invalid_address")]
    assert isinstance(refused, Refused)
    assert (refused.effect, [one.refused.effect for one in refused.others]) == (
        "invalid_address",
        ["invalid_address"],
    )
    assert codes_of(Accepted(others=others)) == ["410", "406"]


def test_a_device_that_is_gone_does_not_speak_for_the_others() -> None:
    """Another vendor may know them: only where all are gone, the channel is. Each is told by its own place."""
    gone, another = Refused(reason="gone", code="410"), Refused(reason="not ours", code="bad_message")
    blocked = Refused(reason="no", code="403")
    lines = {
        ("fcm", "410"): StatusMeaning(canonical="failed_perm", reason="invalid_address"),
        ("fcm", "403"): StatusMeaning(canonical="rejected_by_recipient", reason="blocked"),
    }
    others = tuple(DeviceRefused(place=i, refused=one) for i, one in enumerate((blocked, another, gone), 1))

    read = read_by(TenantMeanings({}, lines), "fcm", replace(gone, others=others))
    all_gone = read_by(TenantMeanings({}, lines), "fcm", replace(gone, others=others[2:]))

    assert isinstance(read, Refused)
    assert (read.code, read.effect) == ("bad_message", None)
    assert [(one.place, one.refused.code, one.refused.effect) for one in read.others] == [
        (0, "410", "invalid_address"), (1, "403", None), (3, "410", "invalid_address"),
    ]  # fmt: skip
    assert isinstance(all_gone, Refused)
    assert (all_gone.effect, [one.place for one in all_gone.others]) == ("invalid_address", [3])


def test_a_device_that_the_lines_have_try_again_is_tried_again() -> None:
    """Though another one is gone for good; that is told when nothing more is to come."""
    gone, busy = Refused(reason="gone", code="410"), Refused(reason="busy", code="406")
    lines = {
        ("webpush", "410"): StatusMeaning(canonical="failed_perm", reason="invalid_address"),
        ("webpush", "406"): StatusMeaning(canonical="failed_temp", reason="throttled"),
    }

    for first, other in ((gone, busy), (busy, gone)):
        read = read_by(
            TenantMeanings({}, lines),
            "webpush",
            replace(first, others=(DeviceRefused(place=1, refused=other),)),
        )

        assert isinstance(read, TryLater)
        assert (read.code, read.meaning) == ("406", "throttled")


@pytest.mark.parametrize("canonical", ["failed_perm", "failed_temp", "delivered"])
@pytest.mark.parametrize("outcome", [NO, LATER])
def test_what_the_vendor_answered_stays_with_it(outcome: Refused | TryLater, canonical: Canonical) -> None:
    answer = RawAnswer(content=b"no such number", http_status=400)
    read = translate(
        replace(outcome, answer=answer), StatusMeaning(canonical=canonical, reason="invalid_address")
    )
    assert read.answer == answer
