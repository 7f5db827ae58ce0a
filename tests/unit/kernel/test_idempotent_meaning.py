"""Two requests with one key are the same when they mean the same."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Struct, UnsetType

from tidings.kernel.idempotency import canonical


class Order(Struct, kw_only=True):
    template: str
    channel: str = "auto"
    variables: dict[str, Any] = {}
    note: str | UnsetType = UNSET


def meaning(text: str) -> bytes:
    return canonical(msgspec.json.decode(text, type=Order))


FIRST = '{"template": "otp", "variables": {"a": 1, "b": [1.5, 2]}}'


@pytest.mark.parametrize(
    "same",
    [
        '{"variables":{"b":[1.5,2],"a":1},"template":"otp"}',
        '{"template": "otp", "channel": "auto", "variables": {"a": 1.0, "b": [1.50, 2e0]}}',
        '{"template": "\\u006ftp", "variables": {"a": 1, "b": [15e-1, 2.0]}}',
    ],
)
def test_key_order_blanks_defaults_and_spelling_mean_nothing(same: str) -> None:
    assert meaning(same) == meaning(FIRST)


@pytest.mark.parametrize(
    "other",
    [
        '{"template": "otp", "variables": {"a": 2, "b": [1.5, 2]}}',
        '{"template": "otp", "variables": {"a": 1, "b": [2, 1.5]}}',
        '{"template": "otp", "variables": {"a": "1", "b": [1.5, 2]}}',
        '{"template": "otp", "variables": {"a": 1, "b": [1.5, 2]}, "note": ""}',
        '{"template": "otp", "variables": {"a": 1, "b": [1.5, 2], "c": null}}',
        '{"template": "otp", "channel": "sms", "variables": {"a": 1, "b": [1.5, 2]}}',
    ],
)
def test_another_value_is_another_request(other: str) -> None:
    assert meaning(other) != meaning(FIRST)


def test_a_text_that_looks_like_a_number_stays_a_text() -> None:
    assert canonical({"a": "2.0,"}) != canonical({"a": "2,"})
