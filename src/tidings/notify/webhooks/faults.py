"""What is wrong with the settings of a webhook, in the words of its fields. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from tidings.contracts.events import EVENTS
from tidings.kernel.bus import SubjectFilter
from tidings.kernel.errors import BadValueError
from tidings.kernel.expressions import ExpressionError, parse
from tidings.kernel.refusals import FieldError
from tidings.notify.webhooks.model import NEVER_TOLD

#: What a condition may name.
_ATTRIBUTES: Final = frozenset({"type", "time", "data"})
_CONDITION_REMEDY: Final = "name data.…, type or time"
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]{1,4096}")
#: What a call says of itself.
_OURS: Final = re.compile(
    r"host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|webhook-.*|svix-.*",
    re.IGNORECASE,
)


def wrong_events(types: Sequence[str], *, field: str = "events") -> list[FieldError]:
    """Types that are none, and those that nothing fits."""
    wrong: list[FieldError] = []
    for place, text in enumerate(types):
        where = f"{field}[{place}]"
        try:
            wanted = SubjectFilter([text])
        except BadValueError as error:
            wrong.append(FieldError(where, error.remedy))
            continue
        if text.startswith(NEVER_TOLD):
            wrong.append(
                FieldError(
                    where,
                    "is about deliveries themselves, and told by no webhook; read it from GET /api/v1/events",
                )
            )
        elif not any(wanted.takes(subject) for subject in EVENTS):
            wrong.append(
                FieldError(
                    where,
                    "fits no event that Tidings publishes; GET /asyncapi.json lists them, notification.*.v1 takes many",
                )
            )
    if len(set(types)) != len(types):
        wrong.append(FieldError(field, "must name each type once"))
    return wrong


def wrong_condition(condition: str | None) -> list[FieldError]:
    """A condition that can't be read, with the place."""
    if condition is None:
        return []
    try:
        parse(condition).refuse_unknown(lambda path: str(path.steps[0]) in _ATTRIBUTES, _CONDITION_REMEDY)
    except ExpressionError as error:
        bad = error.of("condition")
        return [FieldError(bad.field, bad.remedy)]
    return []


def wrong_api_version(api_version: date | None, *, today: date) -> list[FieldError]:
    """A day that is still to come: which versions it will have is not known."""
    if api_version is None or api_version <= today:
        return []
    return [FieldError("api_version", f"must be a day that has come: {today} at the latest")]


def wrong_headers(headers: Mapping[str, str]) -> list[FieldError]:
    """Headers that can't be sent, or that are ours to set."""
    wrong: list[FieldError] = []
    for name, value in headers.items():
        field = f"headers.{name}"
        if not _HEADER_NAME.fullmatch(name):
            wrong.append(
                FieldError("headers", "must have names such as X-Source: letters, digits and dashes")
            )
        elif _OURS.fullmatch(name):
            wrong.append(FieldError(field, "is set by each call itself; choose another name"))
        elif not _HEADER_VALUE.fullmatch(value) or value != value.strip():
            wrong.append(
                FieldError(
                    field, "must be 1 to 4096 characters of ASCII on one line, without blanks at its ends"
                )
            )
    if len({name.lower() for name in headers}) != len(headers):
        wrong.append(FieldError("headers", "must name each header once"))
    return wrong
