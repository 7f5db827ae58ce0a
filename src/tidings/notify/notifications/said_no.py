"""When and how the recipient said the no that a gate met: from the ledger of consent, or from their address' refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.contracts.enums import AUTO
from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.notify.accept.row import AnyChannel
from tidings.notify.decide.model import TraceLine
from tidings.notify.decide.reasons import GateReason
from tidings.notify.ids import AddressRefusalId
from tidings.notify.recipients import consent_store
from tidings.notify.recipients.consent_ledger import ConsentEvent
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import Refusal

#: Reasons that are the recipient's own word, kept in the ledger of consent.
_OWN_WORDS: Final = frozenset(
    {
        GateReason.CATEGORY_DECLINED,
        GateReason.CHANNEL_DECLINED,
        GateReason.UNSUBSCRIBED_FROM_ALL,
        GateReason.CONSENT_MISSING,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidNo:
    """One no, as it is told of."""

    at: datetime
    #: `one_click`, `unsubscribe_page`, `preference_page`, `api`, or what the caller named.
    source: str
    #: None: on all channels.
    channel: str | None
    #: None: everything that can be unsubscribed from; of consent, all that needs it.
    category: str | None
    #: Whether consent was withdrawn.
    consent: bool = False
    #: Whether it came from the address: it holds for all recipients who have that, and another one of them may have said it.
    by_address: bool = False


async def load_nos(
    tx: TenantTx,
    lines: Sequence[TraceLine],
    *,
    recipient_id: RecipientId,
    channel: AnyChannel,
    category: str,
    until: datetime,
) -> dict[TraceLine, SaidNo]:
    """The no behind each line that met one, where it is known; at most two statements, none where no line met one."""
    stops = [line for line in lines if line.verdict == "stop"]
    refused = [
        AddressRefusalId(line.by)
        for line in stops
        if line.reason == GateReason.ADDRESS_UNSUBSCRIBED and line.by
    ]
    refusals = await refusal_store.find_refusals(tx, refused)
    own = [line for line in stops if line.reason in _OWN_WORDS]
    told = await consent_store.last_nos(tx, recipient_id, until=until) if own else []
    found = {line: _of_ledger(line, told, channel=channel, category=category) for line in own}
    found |= {
        line: _of_refusal(refusals, line) for line in stops if line.reason == GateReason.ADDRESS_UNSUBSCRIBED
    }
    return {line: said for line, said in found.items() if said is not None}


def _of_refusal(refusals: Mapping[AddressRefusalId, Refusal], line: TraceLine) -> SaidNo | None:
    refusal = refusals.get(AddressRefusalId(line.by or ""))
    if refusal is None:
        return None
    return SaidNo(
        at=refusal.refused_at,
        source=refusal.source,
        channel=refusal.channel,
        category=refusal.category,
        by_address=True,
    )


def _of_ledger(
    line: TraceLine, told: Sequence[ConsentEvent], *, channel: AnyChannel, category: str
) -> SaidNo | None:
    """The last word that led to such a line; the newest come first."""
    for event in told:
        on_channel = event.channel is not None and channel in {event.channel, AUTO}
        meets = {
            GateReason.CATEGORY_DECLINED: event.kind == "opted_out"
            and on_channel
            and event.category == category,
            GateReason.CHANNEL_DECLINED: event.kind == "opted_out" and on_channel and event.category is None,
            GateReason.UNSUBSCRIBED_FROM_ALL: event.kind == "opted_out" and event.channel is None,
            GateReason.CONSENT_MISSING: event.kind == "consent_withdrawn",
        }[GateReason(line.reason or "")]
        if meets:
            return SaidNo(
                at=event.occurred_at,
                source=event.source,
                channel=event.channel,
                category=event.category,
                consent=event.kind == "consent_withdrawn",
            )
    return None
