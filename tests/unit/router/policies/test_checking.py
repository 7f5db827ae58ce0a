"""What is wrong with a policy is said by field, with a remedy."""

import tomllib
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from tests.unit.router.profiles.profiling import NOON, nobody
from tidings.contracts.addresses import CHANNELS
from tidings.contracts.tenants import Channel
from tidings.kernel.http.bodies import decode
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.policies.check import AvailableAdapters, wrong_with
from tidings.router.policies.model import PolicyTerms
from tidings.router.policies.wire import CreatePolicy
from tidings.router.profiles.facts import FactName, SealedId, TriState, Value
from tidings.router.profiles.observe import told

ADAPTERS_HERE = AvailableAdapters(kinds=ADAPTERS, find=kind_of)


def step(channel: str = "sms", **more: Any) -> dict[str, Any]:
    return {"channel": channel, "deadline_seconds": 30, **more}


def terms(*ladder: dict[str, Any], **more: Any) -> PolicyTerms:
    return msgspec.convert({"ladder": list(ladder), **more}, PolicyTerms)


def wrong(*ladder: dict[str, Any], **more: Any) -> dict[str, str]:
    return {error.field: error.remedy for error in wrong_with(terms(*ladder, **more), ADAPTERS_HERE)}


def test_an_ordinary_ladder_is_fine() -> None:
    ladder = step("whatsapp"), step("sms", vendor="http_acme", call_seconds=5.0), step("email", vendor="smtp")

    assert wrong(*ladder) == {}


def test_parallel_needs_two() -> None:
    assert "at least 2 steps" in wrong(step(), strategy="PARALLEL")["ladder"]
    assert wrong(step(), step("email"), strategy="PARALLEL") == {}


@pytest.mark.parametrize(
    ("ladder", "field", "remedy"),
    [
        ([step("sms"), step("email")], "ladder", "must stay on one channel for FAILOVER, not email, sms"),
        ([step(vendor="http")], "ladder[0].vendor", "leaves nobody to fail over to"),
        ([step(vendor="http"), step()], "ladder[1].vendor", "is required for FAILOVER with several steps"),
        (
            [step(vendor="http"), step(vendor="http")],
            "ladder[1]",
            "is sms through http again, as ladder[0] is",
        ),
    ],
)
def test_failover_goes_from_vendor_to_vendor(ladder: list[dict[str, Any]], field: str, remedy: str) -> None:
    assert wrong(*ladder, strategy="FAILOVER")[field].startswith(remedy)


def test_failover_over_all_vendors_of_a_channel_or_those_named() -> None:
    assert wrong(step(), strategy="FAILOVER") == {}
    assert wrong(step(vendor="http"), step(vendor="http_acme"), strategy="FAILOVER") == {}


def test_the_same_way_twice_is_refused_unless_the_conditions_differ() -> None:
    night = {"hours": {"start": "22:00", "end": "06:00", "timezone": "Asia/Kabul"}}

    assert "is sms again, as ladder[0] is" in wrong(step(), step("email"), step())["ladder[2]"]
    assert wrong(step(), step("email"), step(conditions=night)) == {}


@pytest.mark.parametrize("vendor", ["smtp", "carrier_pigeon"])
def test_a_vendor_has_to_serve_the_channel(vendor: str) -> None:
    found = wrong(step("sms", vendor=vendor))

    assert found["ladder[0].vendor"].startswith("must be an adapter that serves sms: http")


def test_a_channel_without_any_adapter() -> None:
    assert "nothing can be sent over inapp" in wrong(step("inapp"))["ladder[0].channel"]


def test_a_call_ends_before_its_step() -> None:
    assert "at most deadline_seconds (30)" in wrong(step(call_seconds=31.0))["ladder[0].call_seconds"]


@pytest.mark.parametrize(
    ("channel", "conditions", "field"),
    [
        ("email", {"prefixes": ["+93"]}, "prefixes"),
        ("sms", {"reachable": "known_yes"}, "reachable"),
        ("sms", {"hours": {"start": "08:00", "end": "08:00", "timezone": "UTC"}}, "hours.end"),
        ("sms", {"hours": {"start": "08:00", "end": "20:00", "timezone": "Mars/Base"}}, "hours.timezone"),
    ],
)
def test_conditions_that_can_never_or_always_hold(
    channel: str, conditions: dict[str, Any], field: str
) -> None:
    assert list(wrong(step(channel, conditions=conditions))) == [f"ladder[0].conditions.{field}"]


@pytest.mark.parametrize("channel", CHANNELS)
def test_reachable_is_taken_where_somebody_can_be_known_to_be(channel: str) -> None:
    """With all that can be known of a person: a condition that would still not hold is refused."""
    everything: dict[FactName, Value] = {
        "has_whatsapp_business": TriState.KNOWN_YES,
        "voice_otp_supported": TriState.KNOWN_YES,
        "email_verified": True,
        "telegram_chat_id": SealedId("sha256:a", b"a"),
        "viber_id": SealedId("sha256:b", b"b"),
        "last_successful_channel": "sms",
    }
    known = told(nobody(), everything, at=NOON).reachable(cast("Channel", channel)) is TriState.KNOWN_YES

    refused = "ladder[0].conditions.reachable" in wrong(step(channel, conditions={"reachable": "known_yes"}))

    assert refused != known


def test_a_step_that_no_message_lives_to_see() -> None:
    week = 604_800
    ladder = [step(channel, deadline_seconds=week) for channel in ("sms", "email", "viber", "voice", "push")]

    assert wrong(*ladder) == {}
    assert (
        "is never reached: the steps before it may take 35 d"
        in (wrong(*ladder, step("whatsapp"))["ladder[5].deadline_seconds"])
    )
    assert wrong(*ladder, step("whatsapp"), strategy="PARALLEL") == {}


def test_stop_words_are_told_apart_without_case() -> None:
    found = wrong(step(), stop_keywords=["STOP", "ende", "stop"])

    assert list(found) == ["stop_keywords[2]"]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = wrong(
        step("sms", vendor="smtp"), step("email", conditions={"prefixes": ["+1"]}), strategy="FAILOVER"
    )

    assert set(found) == {"ladder", "ladder[0].vendor", "ladder[1].conditions.prefixes"}


def test_the_example_of_the_docs_is_a_policy() -> None:
    page = (Path(__file__).parents[4] / "docs" / "ladders.md").read_text(encoding="utf-8")
    example = tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])

    read = decode(msgspec.json.encode(example), CreatePolicy)

    assert (read.use_case, [step.channel for step in read.ladder]) == ("otp", ["whatsapp", "sms", "email"])
    assert wrong_with(read.terms(), ADAPTERS_HERE) == []
