"""Operations on the activity ledger: who did what, and what they were refused."""

from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.backoffice.activity import store
from tidings.backoffice.activity.model import Activity, Outcome
from tidings.backoffice.ids import ACTIVITY, OPERATOR
from tidings.backoffice.properties.access import ALL_PROPERTIES, check_property
from tidings.contracts.moments import Moment
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name

activity = Resource("activity", at="/activity", tag="activity", scope="audit", owner=Owner.OPERATOR)

#: As long as a row is kept at most, before its month is dropped.
LONGEST: Final = timedelta(days=125)
_Word = Annotated[str, Meta(min_length=1, max_length=100)]


class ListActivity(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    #: What this operator did.
    operator_id: str | None = None
    #: What was about this property; you need a right to it.
    property_id: _Word | None = None
    #: One operation, as this document calls it: `invite_operator`.
    action: _Word | None = None
    #: A group of operations: `operators`, `locks`; `console`: pages.
    category: _Word | None = None
    outcome: Outcome | None = None
    #: What was about this thing, by its id.
    resource_id: _Word | None = None
    #: From this moment on.
    since: Moment | None = None
    #: Until this moment.
    until: Moment | None = None


class ActivityView(Struct, frozen=True, kw_only=True):
    """A request of an operator."""

    id: str
    occurred_at: Moment
    operator_id: str
    device_id: str
    session_id: str
    #: Null: about none.
    property_id: str | None
    #: The group of operations; `console`: a page.
    category: str
    #: The operation, as this document calls it.
    action: str
    resource_kind: str | None
    resource_id: str | None
    #: `refused`: answered with 4xx; `failure`: with 5xx.
    outcome: Outcome
    status: int
    #: The code of the problem; null where there was none.
    error_code: str | None
    #: Until the answer stood.
    latency_ms: int
    #: Of address and browser: two rows with the same one came from the same.
    context_hash: str | None

    @classmethod
    def of(cls, row: Activity) -> "ActivityView":
        """The row."""
        return by_name(cls, row)


@activity.get(problems=["property_not_found", "missing_scope"])
async def list_activity(
    tx: OwnerTx, query: ListActivity, caller: Caller, paging: Paging, clock: Clock
) -> Page[ActivityView]:
    """List what operators did, the newest first: every request, those that were refused too.

    A row is there before its answer is. A page of the console has one row, and one more for each change that it makes. Of properties that you
    have no right to, your own rows alone are shown. Where few rows fit, a page may hold fewer than there are, or none: go on while there is a
    `next_cursor`. Rows are kept for 90 to 120 days, and exported.
    """
    now = clock.now()
    if query.property_id is not None:
        check_property(caller, query.property_id)
    since, until = query.since or now - LONGEST, query.until or now
    if since > until:
        raise BadValueError("since", "must not be later than until")
    wanted = store.ActivityFilter(
        reader=caller.id,
        properties=None if ALL_PROPERTIES in caller.properties else sorted(caller.properties),
        since=since,
        until=until,
        operator_id=OPERATOR.parse(query.operator_id, field="operator_id") if query.operator_id else None,
        property_id=query.property_id,
        action=query.action,
        category=query.category,
        outcome=query.outcome,
        resource_id=query.resource_id,
    )
    after_id = None if paging.after_id is None else ACTIVITY.parse(paging.after_id, field="cursor")
    found = await store.list_activity(tx, wanted, after_id=after_id, limit=query.limit)
    return paging.page_until(found.next_id, [ActivityView.of(row) for row in found.items])
