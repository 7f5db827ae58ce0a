"""Which sender a tenant may appear as; no I/O.

Over an account that tenants share: the senders that the platform granted to the tenant, and the account's own where nobody
can answer it. Over the tenant's own account: every sender, or those of its list where it has one.
"""

from collections.abc import Mapping, Sequence

from tidings.contracts.addresses import normalise
from tidings.contracts.senders import SENDERLESS, is_granted, may_show, own_sender, receives_answers
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError
from tidings.notify.channels.model import Sender


def shown_on(channel: Channel, sender: Sender) -> str | None:
    """What people see a message come from: an address on mail, a number or name on telephones."""
    return sender.from_address if channel == "email" else sender.sender_id


def grants_on(channel: Channel, policy: NotificationPolicy) -> tuple[str, ...]:
    """The senders that the platform granted to the tenant on this channel."""
    return policy.allowed_sender_domains if channel == "email" else policy.allowed_sender_ids


def authorised(
    channel: Channel,
    shown: str | None,
    policy: NotificationPolicy,
    *,
    vendor: str,
    shared: Mapping[str, str | None],
) -> bool:
    """Whether a tenant may appear as this sender over this vendor.

    `shared` are the vendors over which it sends through the platform's account, each with that account's handle.
    """
    grants = grants_on(channel, policy)
    if vendor in shared:
        return may_show(channel, shown or "", grants, handle=shared[vendor])
    return channel in SENDERLESS or (shown is not None and (not grants or is_granted(channel, shown, grants)))


def sender_wrong(
    channel: Channel,
    sender: Sender,
    policy: NotificationPolicy,
    *,
    vendors: Sequence[str],
    shared: Mapping[str, str | None],
    tenant_id: TenantId,
) -> list[FieldError]:
    """What is wrong with a sender; empty exactly where it is well formed and authorised over all of these vendors."""
    wrong: list[FieldError] = []
    for name in ("from_address", "reply_to"):
        value = getattr(sender, name)
        if value is not None:
            try:
                normalise("email", value, field=f"sender.{name}")
            except BadValueError as error:
                wrong.append(FieldError(error.field, error.remedy))
    if wrong:
        return wrong
    shown = shown_on(channel, sender)
    refusing = [v for v in vendors if not authorised(channel, shown, policy, vendor=v, shared=shared)]
    if not refusing:
        return []
    field = "sender.from_address" if channel == "email" else "sender.sender_id"
    if shown is None:
        # The account has a sender of its own, people can answer it, and it is not granted.
        named = next(((v, own) for v in refusing if (own := own_sender(channel, shared.get(v)))), None)
        if named is not None:
            vendor, own = named
            words = _not_granted(channel, own, policy, vendor=vendor, own=None, tenant=tenant_id)
            return [FieldError(field, words)]
        what = (
            "the address that mail comes from" if channel == "email" else "the number or name that people see"
        )
        return [FieldError(field, f"is required: {what}")]
    sharing = next((v for v in refusing if v in shared), None)
    if sharing is None:
        kind = "of an allowed domain" if channel == "email" else "an allowed one"
        return [FieldError(field, f"must be {kind}: {', '.join(grants_on(channel, policy))}")]
    own = own_sender(channel, shared[sharing])
    if own is not None and receives_answers(channel, own):
        own = None
    words = _not_granted(channel, shown, policy, vendor=sharing, own=own, tenant=tenant_id)
    return [FieldError(field, words)]


def _not_granted(
    channel: Channel,
    shown: str,
    policy: NotificationPolicy,
    *,
    vendor: str,
    own: str | None,
    tenant: TenantId,
) -> str:
    """Which senders there are, who grants one and how."""
    kind, option, value = (
        ("of a domain", "--sender-domain", shown.rpartition("@")[2].lower())
        if channel == "email"
        else ("one", "--sender-id", f"'{shown}'" if " " in shown else shown)
    )
    listed = ", ".join(grants_on(channel, policy)) or "none so far"
    instead = f"; leave it out to send as {own}" if own is not None else ""
    return (
        f"must be {kind} that is granted to you, because the account with {vendor} is the platform's and tenants share it; "
        f"granted: {listed}{instead}. The platform's operator grants one: `tidings tenant grant {tenant} {option} {value}`"
    )
