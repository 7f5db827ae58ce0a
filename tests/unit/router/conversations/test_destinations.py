"""What people write to has one spelling, whoever tells of it."""

import pytest

from tidings.router.conversations.destinations import canonical, spellings


@pytest.mark.parametrize(
    ("channel", "text", "expected"),
    [
        ("sms", "+44 7700 900-000", "+447700900000"),
        ("sms", "447700900000", "+447700900000"),
        ("sms", "07700900000", "07700900000"),
        ("sms", "12345", "12345"),
        ("sms", "Clinic", "Clinic"),
        ("whatsapp", "whatsapp:+447700900000", "+447700900000"),
        ("whatsapp", "106540352242922", "106540352242922"),
        ("telegram", " the_clinic_bot ", "the_clinic_bot"),
        ("sms", "Cli\x00nic" + "c" * 4000, "Clinic" + "c" * 194),
    ],
)
def test_one_spelling(channel: str, text: str, expected: str) -> None:
    assert canonical(channel, text) == expected
    assert canonical(channel, expected) == expected


def test_a_route_may_leave_out_the_plus() -> None:
    assert spellings("+447700900000") == ("+447700900000", "447700900000")
    assert spellings("12345") == ("12345",)
