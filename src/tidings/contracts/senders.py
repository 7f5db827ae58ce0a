"""Senders of accounts that tenants share: the account has one of its own, every other one is granted by the platform."""

from typing import Final

from tidings.contracts.tenants import Channel

#: Channels whose messages come from nobody in particular.
SENDERLESS: Final[frozenset[Channel]] = frozenset({"push", "inapp", "webhook"})
#: In a tenant's list of senders: any sender.
ANY_SENDER: Final = "*"


def own_sender(channel: str, handle: str | None) -> str | None:
    """The sender that an account has for a channel: its handle, which has to be an address where the channel is mail."""
    if not handle or channel in SENDERLESS or (channel == "email" and "@" not in handle):
        return None
    return handle


def as_shown(sender: str) -> str:
    """In the spelling by which two senders are compared: with the plus or without, in capitals or not."""
    return sender.removeprefix("+").casefold()


def is_own_sender(channel: str, sender: str, handle: str | None) -> bool:
    """Whether this is the account's own sender; a message that names none gets it."""
    own = own_sender(channel, handle)
    return own is not None and (not sender or as_shown(sender) == as_shown(own))
