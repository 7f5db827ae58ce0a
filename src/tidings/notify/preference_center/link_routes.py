"""The operation that makes a recipient's own link to their preferences, to be passed on by hand."""

from typing import Final

from msgspec import Struct

from tidings.contracts.ids import RecipientId
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.resources import Resource
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.preference_center.tokens import OptOutScope
from tidings.notify.recipients.change import LoadedRecipient, load_whole
from tidings.notify.recipients.errors import ErasedRecipientError
from tidings.notify.recipients.model import StoredAddress

preference_links = Resource("recipients", at="/recipients", tag="preferences", scope="recipients")

#: Which address a link is for, where nobody says: what people read at a desk or a telephone first.
_FIRST: Final[tuple[Channel, ...]] = ("email", "sms", "whatsapp", "telegram", "viber", "push")


class MakePreferenceLink(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which of their addresses it is."""

    #: The primary address on this channel; left out: their mail address, or else a telephone's.
    channel: Channel | None = None


class PreferenceLinkView(Struct, frozen=True, kw_only=True):
    """A link that opens the recipient's preferences without a sign-in."""

    url: str
    channel: Channel
    expires_at: Moment


@preference_links.post(
    "/{recipient_id}/preference-link",
    verb="make-preference-link",
    status=201,
    problems=["recipient_not_found", "recipient_erased"],
)
async def make_preference_link(
    tx: TenantTx,
    recipient_id: RecipientId,
    caller: Caller,
    keyring: Keyring,
    links: UnsubscribeLinks,
    audit: AuditLog,
    clock: Clock,
    body: MakePreferenceLink = MakePreferenceLink(),  # noqa: B008  # frozen
) -> Answer[PreferenceLinkView]:
    """Make a link by which a recipient chooses for themselves, to be passed on by hand.

    It opens what the links in their messages open: whoever has it can say no and choose in their name. It belongs to
    one address, and is the same one within a month. Audited.
    """
    whole = await load_whole(tx, recipient_id, keyring)
    if whole.recipient.erased_at is not None:
        raise ErasedRecipientError
    address = _address(whole, body.channel)
    scope = OptOutScope(
        recipient_id=recipient_id, channel=address.channel, category=None, address_hash=address.address_hash
    )
    pepper = await keyring.pepper(tx)
    made = links.make(tx.tenant_id, scope, pepper=pepper, at=clock.now(), address_id=address.id)
    await links.store(tx, [made])
    entry = Entry(
        entity_type="recipient",
        entity_id=recipient_id,
        action="preference_link_made",
        actor=caller.actor,
        after={"channel": address.channel},
    )
    await audit.append(tx, [entry])
    view = PreferenceLinkView(url=made.preferences, channel=address.channel, expires_at=made.token.expires_at)
    return Answer(view, status=201, headers={"Cache-Control": "no-store"})


def _address(whole: LoadedRecipient, channel: Channel | None) -> StoredAddress:
    """The primary one on that channel, or on the first that they have."""
    primary = {one.channel: one for one in whole.addresses if one.is_primary}
    for wanted in _FIRST if channel is None else (channel,):
        if wanted in primary:
            return primary[wanted]
    raise BadValueError("channel", "must be one on which the recipient has an address")
