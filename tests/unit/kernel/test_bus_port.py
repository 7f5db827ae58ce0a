"""What a subscription and a retry policy say."""

import re
from typing import Any

import pytest

from tidings.kernel.bus import Subscription
from tidings.kernel.errors import BadValueError


async def _handle(_: Any, __: Any) -> None: ...


def _subscription(**changes: Any) -> Subscription:
    values: dict[str, Any] = {
        "group": "group",
        "subjects": (">",),
        "ledger": "notification",
        "on_tenant_events": _handle,
    }
    return Subscription(**(values | changes))


@pytest.mark.parametrize(
    ("patterns", "taken", "left"),
    [
        (("tenant.created.v1",), ["tenant.created.v1"], ["tenantXcreated.v1", "tenant.created.v10"]),
        (("tenant.*.v1",), ["tenant.created.v1"], ["tenant.v1", "tenant.a.b.v1", "xtenant.a.v1"]),
        (("tenant.>",), ["tenant.v1", "tenant.a.b.v1"], ["tenant", "tenants.v1"]),
        (("*.v1", "a.>"), ["x.v1", "a.b.c"], ["b.c.v1"]),
        (("b.v1", "a.>"), ["b.v1", "a.b.c"], ["b.v2", "bxv1"]),
        ((">",), ["a.v1", "a.b.c.v2"], []),
    ],
)
def test_patterns_are_those_of_nats(patterns: tuple[str, ...], taken: list[str], left: list[str]) -> None:
    """A star is one word, an arrow one or more at the end, a dot is a dot."""
    subscription = _subscription(subjects=patterns)
    expression = re.compile(subscription.expression())

    def in_parts(subject: str) -> bool:
        return subject in subscription.plain or bool(
            subscription.wild and re.search(subscription.wild, subject)
        )

    assert all(expression.search(subject) and in_parts(subject) for subject in taken)
    assert not any(expression.search(subject) or in_parts(subject) for subject in left)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"group": "Group"}, "group"),
        ({"group": ""}, "group"),
        ({"subjects": ()}, "subjects"),
        ({"subjects": ("a", "b..c")}, "subjects"),
        ({"on_tenant_events": None}, "on_tenant_events"),
    ],
)
def test_a_bad_subscription_names_the_field(changes: dict[str, Any], field: str) -> None:
    """When it is made, not when the first event comes."""
    with pytest.raises(BadValueError) as caught:
        _subscription(**changes)

    assert caught.value.field == field
