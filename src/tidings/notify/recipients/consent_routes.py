"""Operations on the consent ledger."""

from msgspec import Struct

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.mapping import by_name
from tidings.notify.recipients import consent_store, store
from tidings.notify.recipients.consent_ledger import Kind

consents = Resource("recipients", at="/recipients", tag="preferences", scope="recipients")


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


@consents.get("/{recipient_id}/consents", listing="consents", problems=["recipient_not_found"])
async def list_consents(tx: TenantTx, recipient_id: RecipientId, paging: Paging) -> Page[ConsentEventView]:
    """List every yes and no of a recipient, the newest first.

    An append-only ledger: consent given and withdrawn, opt-outs and their undoing, with source, evidence and who wrote
    it down.
    """
    await store.find_recipient(tx, recipient_id)
    found = await consent_store.list_events(tx, recipient_id, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(found, lambda event: by_name(ConsentEventView, event))
