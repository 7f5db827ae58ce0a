"""Who may appear as whom; no I/O.

Over an account that tenants share: the senders that the platform granted to the tenant, and the account's own. Over the
tenant's own account: every sender, or those of its list where it has one.
"""

from collections.abc import Mapping, Sequence

from tidings.contracts.senders import ANY_SENDER, SENDERLESS, as_shown, is_own_sender, own_sender
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.addresses import normalise
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError
from tidings.notify.channels.model import Sender


def shown_on(channel: Channel, sender: Sender) -> str | None:
    """What people see a message come from: an address on mail, a number or name on telephones."""
    return sender.from_address if channel == "email" else sender.sender_id


def granted(channel: Channel, shown: str | None, policy: NotificationPolicy) -> bool:
    """Whether the tenant's lists name this sender; an empty list grants nothing, `*` grants all."""
    if channel in SENDERLESS:
        return True
    if shown is None:
        return False
    if channel == "email":
        return domain_listed(shown, policy.allowed_sender_domains)
    allowed = policy.allowed_sender_ids
    return ANY_SENDER in allowed or as_shown(shown) in map(as_shown, allowed)


def domain_listed(address: str, allowed: Sequence[str]) -> bool:
    """Whether the domain of a mail address is in the list; `*.acme.test` stands for its subdomains."""
    domain = address.rpartition("@")[2].lower()
    return any(
        rule in (ANY_SENDER, domain) or (rule.startswith("*.") and domain.endswith(rule[1:]))
        for rule in allowed
    )


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
    if granted(channel, shown, policy):
        return True
    if vendor in shared:
        return is_own_sender(channel, shown or "", shared[vendor])
    return shown is not None and not _list_of(channel, policy)


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
        what = (
            "the address that mail comes from" if channel == "email" else "the number or name that people see"
        )
        return [FieldError(field, f"is required: {what}")]
    vendor = next((v for v in refusing if v in shared), None)
    if vendor is None:
        kind = "of an allowed domain" if channel == "email" else "an allowed one"
        return [FieldError(field, f"must be {kind}: {', '.join(_list_of(channel, policy))}")]
    own = own_sender(channel, shared[vendor])
    return [FieldError(field, _not_granted(channel, shown, policy, vendor=vendor, own=own, tenant=tenant_id))]


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
    listed = ", ".join(_list_of(channel, policy)) or "none so far"
    instead = f"; leave it out to send as {own}" if own is not None else ""
    return (
        f"must be {kind} that is granted to you, because the account with {vendor} is the platform's and tenants share it; "
        f"granted: {listed}{instead}. The platform's operator grants one: `tidings tenant grant {tenant} {option} {value}`"
    )


def _list_of(channel: Channel, policy: NotificationPolicy) -> tuple[str, ...]:
    return policy.allowed_sender_domains if channel == "email" else policy.allowed_sender_ids
