"""What requests bring is read strictly; what rows hold is read with forgiveness."""

from typing import Any

import msgspec
import pytest

from tidings.kernel.http.bodies import decode
from tidings.kernel.refusals import InvalidError
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.policies.wire import CreatePolicy

SMS: dict[str, Any] = {"channel": "sms", "deadline_seconds": 30}


def body(**more: Any) -> bytes:
    return msgspec.json.encode({"use_case": "otp", "ladder": [SMS], **more})


def refused(**more: Any) -> dict[str, str]:
    with pytest.raises(InvalidError) as caught:
        decode(body(**more), CreatePolicy)
    return {error.field: error.remedy for error in caught.value.errors}


def test_what_is_left_out_has_its_default() -> None:
    found = decode(body(), CreatePolicy).terms()

    assert found == PolicyTerms(ladder=(PolicyStep(channel="sms", deadline_seconds=30),))
    assert (found.strategy, found.order, found.cost_cap_micros) == ("SEQUENTIAL", "fixed", None)
    assert (found.ladder[0].retry_budget, found.ladder[0].success) == (2, "delivered")


def test_conditions_that_ask_for_nothing_are_none() -> None:
    assert decode(body(ladder=[{**SMS, "conditions": {}}]), CreatePolicy).terms().ladder[0].conditions is None


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"ladder": []}, "ladder"),
        ({"ladder": [SMS] * 21}, "ladder"),
        ({"use_case": "spam"}, "use_case"),
        ({"lader": []}, "lader"),
        ({"ladder": [{**SMS, "deadline_seconds": 0}]}, "ladder[0].deadline_seconds"),
        ({"ladder": [{**SMS, "retry_budget": 21}]}, "ladder[0].retry_budget"),
        ({"ladder": [{**SMS, "retries": 2}]}, "ladder[0].retries"),
        ({"ladder": [{**SMS, "conditions": {"prefix": ["+93"]}}]}, "ladder[0].conditions.prefix"),
        ({"ladder": [{**SMS, "conditions": {"prefixes": ["0093"]}}]}, "ladder[0].conditions.prefixes[0]"),
        ({"ladder": [{**SMS, "conditions": {"min_score": 1.1}}]}, "ladder[0].conditions.min_score"),
        ({"cost_cap_micros": -1}, "cost_cap_micros"),
        ({"cost_cap_currency": "usd"}, "cost_cap_currency"),
        ({"stop_keywords": ["two  spaces"]}, "stop_keywords[0]"),
        ({"session_ttl_seconds": 59}, "session_ttl_seconds"),
    ],
)
def test_a_wrong_field_is_named(more: dict[str, Any], field: str) -> None:
    assert field in refused(**more)


def test_a_row_of_newer_code_can_be_read() -> None:
    newer = {"ladder": [{**SMS, "tone": "kind", "conditions": {"moon": "full"}}], "colour": "blue"}

    assert msgspec.convert(newer, PolicyTerms).ladder[0].channel == "sms"
