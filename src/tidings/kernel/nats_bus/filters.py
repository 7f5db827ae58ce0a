"""Subjects on JetStream: `<prefix>.<tenant or _>.<type of the event>`, and what a group wants of them."""

from collections.abc import Sequence

from tidings.kernel.ids import TenantId

#: In the place of the tenant, for events of the platform itself.
NO_TENANT = "_"


def subject_of(prefix: str, tenant_id: TenantId | None, event_subject: str) -> str:
    """Where an event is published."""
    return f"{prefix}.{tenant_id or NO_TENANT}.{event_subject}"


def filters_of(prefix: str, patterns: Sequence[str], *, tenant: str = "*") -> list[str]:
    """The filters of a consumer; JetStream refuses two of them that can mean the same event.

    A pattern that another one covers is left out. Where two cross (`a.*.v1` and `a.b.*`), the consumer gets more than
    it wants, and the reader leaves the rest out.
    """
    kept = [
        one
        for number, one in enumerate(patterns)
        if not any(
            covers(other, one) and (other != one or before < number)
            for before, other in enumerate(patterns)
            if before != number
        )
    ]
    if any(cross(one, other) for number, one in enumerate(kept) for other in kept[number + 1 :]):
        kept = [">"]
    return [f"{prefix}.{tenant}.{pattern}" for pattern in kept]


def covers(wide: str, narrow: str) -> bool:
    """Whether every subject that fits `narrow` fits `wide`."""
    left, right = wide.split("."), narrow.split(".")
    for place, word in enumerate(left):
        if word == ">":
            return len(right) > place
        if place >= len(right) or right[place] == ">" or word not in ("*", right[place]):
            return False
    return len(left) == len(right)


def cross(one: str, other: str) -> bool:
    """Whether some subject fits both."""
    left, right = one.split("."), other.split(".")
    for a, b in zip(left, right, strict=False):
        if ">" in (a, b):
            return True
        if a != b and "*" not in (a, b):
            return False
    return len(left) == len(right)
