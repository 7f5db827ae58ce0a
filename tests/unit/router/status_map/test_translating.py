"""A vendor's answer read by a line of the status map."""

from datetime import timedelta
from typing import Any

import pytest

from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.ids import time_of
from tidings.router.status_map.meanings import Known, translate
from tidings.router.status_map.model import Meaning
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
    read = translate(outcome, Meaning(canonical=canonical, reason="invalid_address"))

    assert read == Refused(
        reason=f"invalid_address: {outcome.reason}",
        code="30003",
        permanent=True,
        status=status,
        effect="invalid_address",
    )


def test_a_line_that_says_later() -> None:
    busy = Meaning(canonical="failed_temp", reason="busy")

    assert translate(NO, busy) == TryLater(reason="busy: no such number", code="30003")
    assert translate(LATER, busy) == TryLater(
        reason="busy: come again", code="30003", after=timedelta(seconds=7)
    )


def test_a_reason_of_ours_that_is_no_effect_says_nothing_about_the_address() -> None:
    read = translate(NO, Meaning(canonical="rejected_by_provider", reason="content_refused"))

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
    assert translate(outcome, Meaning(canonical="failed_perm", reason="invalid_address")) == outcome


@pytest.mark.parametrize("canonical", ["accepted", "delivered", "opened"])
def test_a_no_never_becomes_a_success(canonical: Canonical) -> None:
    read = translate(NO, Meaning(canonical=canonical, reason="known_already"))

    assert read == Refused(reason="known_already: no such number", code="30003")


def test_without_a_line_nothing_changes_and_twice_is_once() -> None:
    line = Meaning(canonical="failed_perm", reason="gone")

    assert translate(NO, None) is NO
    assert translate(translate(NO, line), line) == translate(NO, line)


def test_the_longer_name_is_before_the_shorter_and_the_tenants_own_before_everybodys() -> None:
    def meaning(reason: str) -> Meaning:
        return Meaning(canonical="failed_perm", reason=reason)

    known = Known(
        own={("http", "1"): meaning("own_kind"), ("http_acme", "2"): meaning("own_name")},
        everybodys={
            ("http", "1"): meaning("kind"),
            ("http_acme", "1"): meaning("name"),
            ("http_acme", "2"): meaning("name"),
        },
    )
    found = {
        (vendor, code): one.reason if (one := known.of(vendor, code)) else None
        for vendor in ("http", "http_acme_eu", "httpx")
        for code in ("1", "2")
    }

    assert found == {
        ("http", "1"): "own_kind",
        ("http", "2"): None,
        ("http_acme_eu", "1"): "name",
        ("http_acme_eu", "2"): "own_name",
        ("httpx", "1"): None,
        ("httpx", "2"): None,
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
    read = translate(NO, Meaning(canonical="rejected_by_provider", reason="content_refused"))

    assert isinstance(read, Refused)
    assert (read.status, read.effect) == ("rejected_by_provider", None)


def test_not_now_stays_not_now_where_the_vendor_has_the_trouble() -> None:
    """Credentials or credit are no reason to drop a message; a line that speaks of the message or the person is."""
    later = TryLater(reason="no credit", code="131042", after=timedelta(seconds=7))

    kept = translate(later, Meaning(canonical="rejected_by_provider", reason="insufficient_credit"))
    ended = translate(later, Meaning(canonical="rejected_by_recipient", reason="blocked"))

    assert kept == TryLater(
        reason="insufficient_credit: no credit", code="131042", after=timedelta(seconds=7)
    )
    assert isinstance(ended, Refused)
