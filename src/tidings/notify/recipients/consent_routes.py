"""What HTTP calls about the consent ledger."""

from typing import Any

from litestar import Request, get
from msgspec import Struct

from tidings.contracts.ids import RECIPIENT
from tidings.contracts.moments import Moment
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, operation, path_id
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.notify.recipients import consent_store, store
from tidings.notify.recipients.consent_ledger import ConsentEvent, Kind
from tidings.notify.recipients.deps import Deps
from tidings.notify.recipients.errors import UnknownRecipientError

_ID = "recipient_id"
_LISTING = "consents"


class ConsentEventView(Struct, frozen=True, kw_only=True):
    """A yes or a no, as it was told."""

    id: str
    kind: Kind
    #: Null: on all channels.
    channel: str | None
    #: Null: all that can be said no to; of consent, all that needs it.
    category: str | None
    #: When it was told.
    occurred_at: Moment
    #: When it was written down.
    recorded_at: Moment
    source: str
    evidence: str | None
    actor: str
    #: The version of the preferences that it led to.
    preferences_version: int

    @classmethod
    def of(cls, event: ConsentEvent) -> "ConsentEventView":
        """The line as it is shown."""
        return cls(**{name: getattr(event, name) for name in cls.__struct_fields__})


@get(
    "/{recipient_id:str}/consents",
    **operation(
        summary="List every yes and no of a recipient, the newest first.",
        tag="preferences",
        scope="recipients:read",
        path={_ID: RECIPIENT},
        query=PageQuery,
        answer=Page[ConsentEventView],
        problems=["recipient_not_found"],
        description="An append-only ledger: consent given and withdrawn, opt-outs and their undoing, with source, evidence and who wrote it down.",
    ),
)
async def list_consents(request: Request[Any, Any, Any]) -> Page[ConsentEventView]:
    """List every yes and no of a recipient."""
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with deps.db.tenant(tenant_of(request), caller_role=caller_of(request).role) as tx:
        if not await store.find_recipients(tx, ids=[recipient_id]):
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        found = await consent_store.list_events(
            tx, recipient_id, after_id=after.id if after else None, limit=query.limit + 1
        )
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda event: event.id,
        render=ConsentEventView.of,
    )


HANDLERS = [list_consents]
