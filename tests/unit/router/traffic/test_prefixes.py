"""Countries by calling code."""

import pytest

from tidings.router.traffic.prefixes import prefix_of


@pytest.mark.parametrize(
    ("address", "prefix"),
    [
        ("+93700000001", "+93"),
        ("+15005550001", "+1"),
        ("+79161234567", "+7"),
        ("+4915100000001", "+49"),
        ("+992900000001", "+992"),
        ("+2348000000001", "+234"),
        ("laila@example.test", ""),
        ("", ""),
        ("+", "+"),
        ("123456", ""),
    ],
)
def test_the_country_of_an_address(address: str, prefix: str) -> None:
    assert prefix_of(address) == prefix
