"""The message of a step as it goes to the router: from whom, to where, with which words."""

from typing import Final

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.contracts.messages import Address, Attachment, OutboundMessage
from tidings.contracts.senders import SENDERLESS, own_sender
from tidings.contracts.tenants import Channel
from tidings.contracts.vendor_templates import VendorTemplate
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.accept.row import NotificationRow
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.senders import authorised, grants_on
from tidings.notify.decide.model import StepDecision
from tidings.notify.dispatch.compose import Composed
from tidings.notify.dispatch.sent import record_of
from tidings.notify.facts.model import Facts, TenantFacts
from tidings.notify.preference_center.links import MessageLinks
from tidings.notify.tracking.tracker import MailTracking

_read_template: Final = msgspec.json.Decoder(VendorTemplate).decode
#: They don't wait behind ordinary ones for a connection to the vendor.
_URGENT: Final = frozenset({"critical", "high"})
#: Channels on which a message can say what it comes from, where the account's settings do not.
_WITH_SENDERS: Final = frozenset({"sms", "whatsapp"})


class StepWork(msgspec.Struct, frozen=True, kw_only=True):
    """A step to be made ready."""

    pending: NotificationRow
    #: Who is written to: the recipient, or their guardian instead.
    recipient_id: RecipientId
    channel: Channel
    step: int
    #: How often a vendor has taken a message of this step already, and it did not arrive.
    taken: int = 0

    @property
    def tenant_id(self) -> TenantId:
        """Whose it is."""
        return self.pending.tenant_id


def message_of(
    work: StepWork,
    facts: Facts,
    *,
    decision: StepDecision,
    composed: Composed,
    files: tuple[Attachment, ...],
    links: MessageLinks | None,
    tracking: MailTracking | None,
    pepper: Pepper,
) -> OutboundMessage:
    """The message of a step that passed its gates and has its words; `tracking` where the tenant has mails watched."""
    config = decision.channel
    if config is None:
        raise TypeError("a step that passed has a channel")
    sender, reply_to = _sender(work, config, facts.tenant)
    rendered = composed.rendered
    address = decision.addresses[0].value if decision.addresses else None
    key = facts.people[work.recipient_id].key
    record = record_of(
        [one.value for one in decision.addresses if one.value is not None],
        sender=sender,
        digest=composed.snapshot.digest,
        key=key,
        pepper=pepper,
    )
    return OutboundMessage(
        message_id=_message_id(work),
        tenant_id=work.tenant_id,
        channel=work.channel,
        sender=sender,
        grants=grants_on(work.channel, facts.tenant.policy),
        reply_to=reply_to,
        to=address or work.recipient_id,
        also_to=tuple(other.value for other in decision.addresses[1:] if other.value is not None),
        address_ids=tuple(one.id for one in decision.addresses if one.value is not None),
        to_name=composed.name,
        subject=rendered.subject,
        html=_html(tracking, work, composed),
        text=rendered.text,
        language=rendered.locale or None,
        template=_read_template(rendered.whatsapp) if rendered.whatsapp is not None else None,
        attachments=(*composed.pictures, *files),
        list_unsubscribe=links.unsubscribe if links is not None else None,
        urgent=work.pending.priority in _URGENT,
        metadata=msgspec.json.decode(work.pending.metadata) if work.pending.metadata else {},
        record=record,
        key=key,
    )


def _html(tracking: MailTracking | None, work: StepWork, composed: Composed) -> str | None:
    """The words as they go out; the digest is of the words themselves, and so is what is shown later."""
    html, pending = composed.rendered.html, work.pending
    if tracking is None or html is None or work.channel != "email" or pending.is_test:
        return html
    return tracking.over(
        html,
        notification_id=pending.id,
        recipient_id=work.recipient_id,
        step=work.step,
        category=pending.category,
    )


def _message_id(work: StepWork) -> str:
    """What a repeat is known by. Another step is another message, also to the same vendor; so is one that was taken in vain."""
    words: list[str] = [work.pending.id]
    if work.step > 1 or work.taken:
        words.append(str(work.step))
    if work.taken:
        words.append(str(work.taken))
    return ".".join(words)


def _sender(work: StepWork, config: ChannelConfig, tenant: TenantFacts) -> tuple[Address, Address | None]:
    sender, pin = config.sender, work.pending.pin_for(work.recipient_id)
    if pin is not None and pin.sender is not None and work.channel in _WITH_SENDERS:
        # Another vendor's account does not have the number that the person wrote to; and it may be taken from the tenant.
        the_same_way = pin.vendor is not None and pin.vendor in config.vendors
        if the_same_way and authorised(
            work.channel, pin.sender, tenant.policy, vendor=pin.vendor or "", shared=tenant.shared
        ):
            return Address(value=pin.sender), None
    if work.channel == "email":
        reply_to = Address(value=sender.reply_to) if sender.reply_to is not None else None
        shown = sender.from_address or _own_of(config, tenant)
        return Address(value=shown, name=sender.from_name or tenant.name), reply_to
    if work.channel in SENDERLESS:
        return Address(value=sender.sender_id or tenant.name or ""), None
    return Address(value=sender.sender_id or _own_of(config, tenant)), None


def _own_of(config: ChannelConfig, tenant: TenantFacts) -> str:
    """The sender of the accounts themselves; empty where they differ, and each puts in its own."""
    own = {own_sender(config.channel, tenant.shared.get(vendor)) for vendor in config.vendors}
    return (own.pop() or "") if len(own) == 1 else ""
