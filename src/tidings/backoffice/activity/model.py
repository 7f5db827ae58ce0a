"""A row of the activity ledger, and what of a request is worth one: pure."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from urllib.parse import parse_qs

from tidings.backoffice.ids import ActivityId
from tidings.kernel.http.browsers import SAFE_METHODS
from tidings.kernel.http.operator_requests import OperatorRequest
from tidings.kernel.ids import TenantId

Outcome = Literal["success", "refused", "failure"]
#: The category of pages; operations of the API have the group that the API document puts them in.
CONSOLE: Final = "console"

_REFUSED: Final = 400
_FAILED: Final = 500
_OWN_ID: Final = re.compile(r"[a-z]+(_[a-z]+)*_[0-7][0-9A-HJKMNP-TV-Z]{25}")
#: Ids of other systems, by the names of path parameters: nothing that a person is called.
_FOREIGN: Final = frozenset({"property_id", "reservation", "device_id", "channel", "adapter", "key"})
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What an operator did."""

    id: ActivityId
    #: None: the platform's own.
    tenant_id: TenantId | None
    #: The time inside the id.
    occurred_at: datetime
    property_id: str | None
    operator_id: str
    device_id: str
    session_id: str
    category: str
    action: str
    resource_kind: str | None
    resource_id: str | None
    outcome: Outcome
    status: int
    error_code: str | None
    latency_ms: int
    context_hash: str | None


def is_worth_a_row(request: OperatorRequest) -> bool:
    """A page reads many things of the API to show itself: it has one row, and so has each change that it makes."""
    return not (request.of_own_page and request.operation.method in SAFE_METHODS)


def outcome_of(request: OperatorRequest) -> Outcome:
    """Whether it was done. A page may refuse by leading elsewhere."""
    if request.status >= _FAILED:
        return "failure"
    return "refused" if request.status >= _REFUSED or request.error_code is not None else "success"


def category_of(request: OperatorRequest) -> str:
    """Pages, or the group of the operation."""
    return CONSOLE if request.operation.path.startswith("/console") else request.operation.operation.tag


def property_of(request: OperatorRequest) -> str | None:
    """The property whose right was asked for, or else the one that the address names."""
    if request.property_id is not None:
        return request.property_id
    asked = parse_qs(request.query_string.decode("ascii", "replace")).get("property_id", [""])[-1]
    named = request.path_values.get("property_id") or asked
    return named if _PLAIN.fullmatch(named) else None


def resource_of(request: OperatorRequest) -> tuple[str | None, str | None]:
    """What it is about: the kind, as the address calls it, and an id, never a name or an address."""
    kind, id_, above = None, None, None
    for part in request.operation.path.split("/"):
        if not part.startswith("{"):
            above = part or above
            continue
        name = part.strip("{}")
        value = request.path_values.get(name, "")
        if _OWN_ID.fullmatch(value) or (name in _FOREIGN and _PLAIN.fullmatch(value)):
            kind, id_ = above, value
    if id_ is None and request.location is not None:
        made = request.location.partition("?")[0].rpartition("/")[2]
        if _OWN_ID.fullmatch(made):
            kind, id_ = above, made
    return kind, id_
