"""Who is expected to be new."""

from tidings.kernel.ids import TenantId
from tidings.notify.recipients.newcomers import IdentityKey, Newcomers


def _who(number: int, tenant: str = "tnt_a") -> IdentityKey:
    return TenantId(tenant), "guest", str(number)


def test_who_was_seen_is_not_new() -> None:
    newcomers = Newcomers()
    newcomers.learn(_who(1), was_new=True)

    assert not newcomers.is_new(_who(1))
    assert newcomers.is_new(_who(2))
    assert newcomers.is_new(_who(1, "tnt_b"))


def test_where_most_are_known_nobody_is_expected_to_be_new_until_they_are_again() -> None:
    newcomers = Newcomers()
    for number in range(20):
        newcomers.learn(_who(number), was_new=False)
    assert not newcomers.is_new(_who(100))

    for number in range(200, 400):
        newcomers.learn(_who(number), was_new=True)
    assert newcomers.is_new(_who(100))


def test_seeing_the_same_people_again_teaches_nothing() -> None:
    newcomers = Newcomers()
    for _ in range(100):
        newcomers.learn(_who(1), was_new=False)

    assert newcomers.is_new(_who(2))


def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    newcomers = Newcomers(size=100)
    for number in range(1000):
        newcomers.learn(_who(number), was_new=True)

    assert not newcomers.is_new(_who(999))
    assert newcomers.is_new(_who(0))
    assert 50 <= sum(not newcomers.is_new(_who(number)) for number in range(1000)) <= 100
