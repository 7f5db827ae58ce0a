"""Operations of a tenant on the presence of its recipients: who has the in-app inbox open."""

from msgspec import Struct

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox_live.presence import InboxPresence
from tidings.notify.recipients import store as recipient_store

presence = Resource("inbox", at="/recipients", tag="inbox", scope="inbox")


class OpenStreamView(Struct, frozen=True, kw_only=True):
    """One live stream of a recipient's inbox."""

    #: `sse` or `ws`.
    transport: str
    #: Which process serves it: the same word for all of its streams.
    process: str
    since: Moment


class PresenceView(Struct, frozen=True, kw_only=True):
    """Whether a recipient has their in-app inbox open, and where."""

    online: bool
    streams: list[OpenStreamView]


@presence.get("/{recipient_id}/presence", verb="presence", test_keys=True, problems=["recipient_not_found"])
async def show_presence(
    open_tx: OpenTx[TenantTx],
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    known: InboxPresence,
) -> PresenceView:
    """Show whether a recipient has their in-app inbox open, and over what.

    It is known within a second or two; of a process that was killed, streams are forgotten within a minute. A test key sees who
    has the test inbox open.
    """
    async with open_tx() as tx:
        await recipient_store.find_recipient(tx, recipient_id)
    found = await known.find(InboxVisitor.tenant(caller, tenant_id, recipient_id).key)
    return PresenceView(online=bool(found), streams=[by_name(OpenStreamView, one) for one in found])
