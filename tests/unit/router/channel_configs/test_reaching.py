"""How far a check came on the way to a vendor, in words that tell nothing about our network."""

from tidings.router.channel_configs.check_steps import reached_steps
from tidings.router.channel_configs.reachability import HostPort, ReachabilityResult

PLACE = HostPort(host="db.internal", port=5432)


def test_a_name_inside_and_one_that_nobody_has_are_told_alike() -> None:
    """The attack: ask by checks of an account which names the network has."""
    unknown = reached_steps(PLACE, ReachabilityResult(found=False), guarded=True)
    inside = reached_steps(PLACE, ReachabilityResult(found=True, allowed=False), guarded=True)

    assert unknown == inside
    assert [(step.name, step.result) for step in inside] == [("name", "failed")]


def test_the_platforms_own_accounts_are_told_which_it_is() -> None:
    [unknown] = reached_steps(PLACE, ReachabilityResult(found=False))

    assert unknown.words == "nobody knows the name db.internal"


def test_a_place_outside_is_told_step_by_step() -> None:
    found = reached_steps(PLACE, ReachabilityResult(found=True, allowed=True, connected=False), guarded=True)

    assert [(step.name, step.result) for step in found] == [
        ("name", "ok"),
        ("address", "ok"),
        ("connection", "failed"),
    ]
