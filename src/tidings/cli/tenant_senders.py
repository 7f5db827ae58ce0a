"""Senders that are granted to tenants, as `tidings tenant` shows and looks for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.cli.printing import shown

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.notify.tenants.model import Tenant


def sender_options(domains: Sequence[str], ids: Sequence[str]) -> dict[str, str]:
    """How the person at the keyboard calls each field of the lists."""
    lists = (
        ("allowed_sender_domains", "--sender-domain", domains),
        ("allowed_sender_ids", "--sender-id", ids),
    )
    return {
        f"notification_policy.{field}{place}": option
        for field, option, values in lists
        for place in ("", *(f"[{i}]" for i in range(len(values))))
    }


def lines_of_grants(domains: Sequence[str], ids: Sequence[str]) -> Iterator[str]:
    """What a tenant may appear as over the platform's accounts."""
    yield f"  mail over the platform's accounts comes from: {_granted(domains)}"
    yield f"  telephones show over the platform's accounts: {_granted(ids)}"


def _granted(senders: Sequence[str]) -> str:
    if "*" in senders:
        return "any sender"
    return ", ".join(senders) or (
        "the account's own sender only, where nobody can answer it; `tidings tenant grant` grants others"
    )


async def not_granted(system: "System", tenants: "Sequence[Tenant]") -> list[dict[str, str | None]]:
    """The channels over the platform's accounts whose sender would be refused."""
    from tidings.contracts.senders import SENDERLESS, may_show, own_sender
    from tidings.notify.channels import store
    from tidings.notify.channels.senders import grants_on, shown_on

    found: list[dict[str, str | None]] = []
    fixed: dict[str, Mapping[str, str]] = {}
    for tenant in tenants:
        async with system.db.tenant(tenant.id) as tx:
            channels = await store.find_channels(tx)
            accounts = await system.vendors.accounts.within(tx)
        for one in channels:
            for vendor in one.vendors:
                account = accounts.get(vendor)
                if account is None or not account.platform or one.channel in SENDERLESS:
                    continue
                if account.id not in fixed:
                    fixed[account.id] = await system.vendors.adapters.read_fixed_senders(account)
                sender, own = shown_on(one.channel, one.sender), fixed[account.id].get(one.channel)
                grants = grants_on(one.channel, tenant.notification_policy)
                if not may_show(one.channel, sender or "", grants, handle=account.handle, fixed=own):
                    found.append(
                        {
                            "tenant": tenant.slug or tenant.id,
                            "channel": one.channel,
                            "vendor": vendor,
                            "sender": own or sender or own_sender(one.channel, account.handle),
                        }
                    )
    return found


def lines_of_missing(found: Sequence[dict[str, str | None]]) -> Iterator[str]:
    """One for each channel, and the remedy."""
    for one in found:
        sender = shown(one["sender"] or "no sender")
        yield f"{one['tenant']}  {one['channel']} over {one['vendor']}: {sender} is not granted"
    if found:
        yield "their messages are refused; `tidings tenant grant TENANT --sender-domain … --sender-id …` grants senders"
    else:
        yield "every channel over the platform's accounts has a sender that is granted, or the account's own that nobody can answer"
