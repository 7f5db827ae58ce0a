"""Senders of accounts that tenants share: which tenant may show which sender, and so gets the answers; no I/O.

The sender that really goes out is asked about: the one that the account's settings fix, else the message's, else the
account's handle. A tenant may show what the platform granted to it. The account's own sender needs no grant where people can't
answer it; where they can, the tenant that wrote last would get answers that are meant for another tenant.
"""

import re
from collections.abc import Sequence
from typing import Final

from tidings.contracts.tenants import Channel

#: Channels with messages that have no sender.
SENDERLESS: Final[frozenset[Channel]] = frozenset({"push", "inapp", "webhook"})
#: In a tenant's list of senders: any sender.
ANY_SENDER: Final = "*"
#: Channels on which every sender can be answered.
_ANSWERED: Final = frozenset({"whatsapp", "telegram", "viber"})
#: A vendor's name for a group of numbers, each of which can be answered.
_MESSAGING_SERVICE: Final = re.compile(r"MG[0-9a-fA-F]{32}")


def own_sender(channel: str, handle: str | None) -> str | None:
    """The sender that an account has for a channel: its handle, which has to be an address where the channel is mail."""
    if not handle or channel in SENDERLESS or (channel == "email" and "@" not in handle):
        return None
    return handle


def as_shown(sender: str) -> str:
    """In the spelling by which two senders are compared: with the plus or without, in capitals or not."""
    return sender.removeprefix("+").casefold()


def is_granted(channel: str, shown: str, grants: Sequence[str]) -> bool:
    """Whether a tenant's list names this sender: domains for mail, numbers and names else; `*` is any of them."""
    if ANY_SENDER in grants:
        return True
    if channel == "email":
        return domain_listed(shown, grants)
    return as_shown(shown) in map(as_shown, grants)


def domain_listed(address: str, allowed: Sequence[str]) -> bool:
    """Whether the domain of a mail address is in the list; `*.acme.test` stands for its subdomains."""
    domain = address.rpartition("@")[2].lower()
    return any(
        rule in (ANY_SENDER, domain) or (rule.startswith("*.") and domain.endswith(rule[1:]))
        for rule in allowed
    )


def receives_answers(channel: str, sender: str) -> bool:
    """Whether people can write back to this sender, and Tidings would be told: a number, a bot, and no mere name."""
    if channel in _ANSWERED:
        return True
    return channel == "sms" and (
        not any(map(str.isalpha, sender)) or _MESSAGING_SERVICE.fullmatch(sender) is not None
    )


def may_show(
    channel: str, sender: str, grants: Sequence[str], *, handle: str | None, fixed: str | None = None
) -> bool:
    """Whether a tenant with these grants may send this over an account that tenants share.

    `sender` is the message's, empty where it names none; `fixed` is the one that the account's settings put in its place.
    """
    if channel in SENDERLESS:
        return True
    own = fixed or own_sender(channel, handle)
    shown = fixed or sender or own
    if shown is None:
        return False
    if is_granted(channel, shown, grants):
        return True
    is_own = own is not None and as_shown(shown) == as_shown(own)
    return is_own and not receives_answers(channel, shown)
