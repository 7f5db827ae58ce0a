"""Where a tenant's own vendor may lead."""

import pytest

from tidings.kernel.egress import public_and, public_only


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.216.34", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_the_world_outside(address: str) -> None:
    assert public_only(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
        "2002:a00:1::1", "fd00:ec2::254", "localhost", "",
    ],
)  # fmt: skip
def test_ourselves_and_our_neighbours(address: str) -> None:
    assert not public_only(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "10.20.0.7", "::ffff:10.20.255.255", "fd12::5", "127.0.0.1"])
def test_networks_that_the_operator_opened(address: str) -> None:
    assert public_and(["10.20.0.0/16", "fd12::/32", "127.0.0.1/32"])(address)


@pytest.mark.parametrize(
    "address",
    [
        "10.21.0.1",
        "127.0.0.2",
        "fd13::1",
        "169.254.169.254",
        "64:ff9b::a14:7",
        "2002:a14:7::",
        "::1",
        "",
        "x",
    ],
)
def test_their_neighbours_stay_closed(address: str) -> None:
    """Also an opened address in a wrapping that leads through somebody else's hands."""
    assert not public_and(["10.20.0.0/16", "fd12::/32", "127.0.0.1/32"])(address)


def test_nothing_is_opened_by_itself() -> None:
    assert public_and([]) is public_only
