"""Who an event is for: named resolvers, and paths. Pure, but for a tenant's admins, who are looked up.

A value that is found is a recipient as in notifications: an id (`rcp_…`), or an object with an identity or addresses.
A list stands for all who are in it.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.notify.triggers.paths import is_path, parse_path

#: An id, or a recipient as it is written in a request.
RecipientValue: TypeAlias = str | dict[str, Any]


class Circle(Enum):
    """People who are looked up. No text, so that no word inside an event can mean them."""

    #: The recipients with the tag `tenant_admin`.
    TENANT_ADMINS = 1


#: So many people of one event get a message of one trigger at most; a larger circle is a batch.
MOST_RECIPIENTS: Final = 1_000


def _primary_guest(scope: Mapping[str, Any]) -> list[RecipientValue]:
    """`$.data.primary_guest`, or `$.data.guest`, or of `$.data.guests` the one with `primary: true`, or the first."""
    data = scope.get("data")
    if not isinstance(data, Mapping):
        return []
    for name in ("primary_guest", "guest"):
        if found := _people(data.get(name)):
            return found[:1]
    guests = data.get("guests")
    if not isinstance(guests, list):
        return []
    first = [one for one in guests if isinstance(one, Mapping) and one.get("primary") is True]
    return _people([*first, *guests])[:1]


def _iam_subject(scope: Mapping[str, Any]) -> list[RecipientValue]:
    """The user with the id `$.data.user_id`, or `$.subject`."""
    data = scope.get("data")
    found = data.get("user_id") if isinstance(data, Mapping) else None
    user_id = found if found is not None else scope.get("subject")
    if isinstance(user_id, int) and not isinstance(user_id, bool):
        user_id = str(user_id)
    return [{"identity": {"type": "user", "id": user_id}}] if isinstance(user_id, str) and user_id else []


def _vendor_assignee(scope: Mapping[str, Any]) -> list[RecipientValue]:
    """`$.data.assignee`, or `$.data.vendor`."""
    data = scope.get("data")
    if not isinstance(data, Mapping):
        return []
    return _people(data.get("assignee")) or _people(data.get("vendor"))


def _tenant_admins(_: Mapping[str, Any]) -> list[RecipientValue | Circle]:
    """The tenant's recipients with the tag `tenant_admin`."""
    return [Circle.TENANT_ADMINS]


RESOLVERS: Final[dict[str, Callable[[Mapping[str, Any]], Sequence[RecipientValue | Circle]]]] = {
    "primary_guest": _primary_guest,
    "tenant_admins": _tenant_admins,
    "iam_subject": _iam_subject,
    "vendor_assignee": _vendor_assignee,
}


def recipients_of(resolvers: Sequence[str], scope: Mapping[str, Any]) -> list[RecipientValue | Circle]:
    """Whom an event is for, each once, as far as they are written alike."""
    found: list[RecipientValue | Circle] = []
    for name in resolvers:
        values: Sequence[RecipientValue | Circle]
        if is_path(name):
            values = [
                one for value in parse_path(name, field="recipient").find(scope) for one in _people(value)
            ]
        else:
            values = RESOLVERS[name](scope)
        found += values
    # By their text: a thousand objects are not compared with each other one by one.
    return list({msgspec.json.encode(value): value for value in found}.values())


def check_resolver(name: str, *, field: str) -> None:
    """A `BadValueError` that names the field where there is no such resolver, and it is no path."""
    if is_path(name):
        parse_path(name, field=field)
    elif name not in RESOLVERS:
        raise BadValueError(
            field, f"must be a path such as $.data.guest, or one of {', '.join(sorted(RESOLVERS))}"
        )


def _people(value: Any) -> list[RecipientValue]:
    if isinstance(value, list):
        return [one for item in value for one in _people(item)]
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Mapping):
        # Which of several guests is the first says nothing of the person.
        return [{name: inner for name, inner in value.items() if name != "primary"}]
    return []
