"""Which adapter is meant by a vendor's name."""

import pytest

from tidings.contracts.channel_configs import adapter_of

ADAPTERS = frozenset({"http", "twilio", "twilio_voice"})


@pytest.mark.parametrize(
    ("vendor", "adapter"),
    [
        ("http", "http"),
        ("http_acme", "http"),
        ("twilio_voice", "twilio_voice"),
        ("twilio_voice_eu", "twilio_voice"),
        ("twilio_voiceless", "twilio"),
        ("twilio_eu", "twilio"),
        ("httpacme", None),
        ("acme", None),
        ("_http", None),
    ],
)
def test_the_longest_name_that_fits(vendor: str, adapter: str | None) -> None:
    assert adapter_of(vendor, ADAPTERS) == adapter
